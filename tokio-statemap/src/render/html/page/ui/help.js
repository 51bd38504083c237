import { byId, make } from "./dom.js";

// The help: every key and gesture, in a dialog.

const HELP = [
  ["Move", [
    ["wheel", "zoom at the pointer"], ["w s", "zoom in, out"], ["+ -", "the same"], ["drag", "pan"], ["a d", "pan left, right"],
    ["shift wheel", "scroll the lanes; so does the wheel over the labels"], ["double click", "zoom to the state under the pointer; open a folded group"],
    ["f", "fit: the whole run"], ["z", "back to the view before"], ["two fingers", "pinch zooms, one finger pans"],
  ]],
  ["Look", [
    ["click", "select a poll, a task, a worker"], ["shift drag", "measure a time"], ["n p", "next, previous issue"],
    ["/", "search task id, location, worker"], ["Esc", "clear selection, then filter"], ["?", "this help"],
  ]],
  ["By keyboard", [
    ["Tab", "from part to part"], ["← →", "the span before, after the selected one"], ["↑ ↓", "the lane above, below; on a label: the group above, below; in the table of tasks: the row above, below"],
    ["Enter", "zoom to the selection; fold or open a group; go to the task of a row"], ["PgUp PgDn", "scroll the lanes"],
    ["t", "the whole task, or worker, of the selected span; in the tree of tasks: list those of a place"], ["Shift ← →", "measure a time, from the selection on"],
    ["Home End", "on the strip of the whole run: its beginning, its end; there ← → pan, ↑ ↓ zoom"],
  ]],
];

const READING = [
  "Each row is a worker or a lane of tasks; a lane is used again when its task has ended, and then named after the first and the last in view. What is blank has ended or had not begun.",
  "Where several states fall into one pixel, their colours are blended by their shares. What took too little of it to be seen so is drawn all the same: alone as high as the lane, among others along its lower edge.",
  "A long poll is never blended away: it is at least one pixel, outlined; where many stand together, marked along the lane's upper edge. It is barred if nobody is blamed for it: the machine took the processor, nothing was seen of it, or it is shorter than what the report looks at.",
  "A torn edge: the task was there before it was first seen, or when the recording ended. Hatched: nothing is kept of that time.",
  "“Waiting by line” colours what waits by the line that it waits at, for the lines with the longest waits.",
  "Of a long run all is kept of the last events and around the longest polls; of the rest there are sums, for each stretch of time: there the lanes are covered, and bars show how much of the workers' time was in polls. The strip above is of the whole run: the longest poll of each stretch, the time in polls, and a line where there is detail.",
  "A folded group shows how many of its tasks were in which state, stacked. A group of many lanes shows those around what is selected below that; a click on its name opens it all.",
  "Charts show the same time as the lanes; their values stand beside the pointer. A click on a chart's name hides it. Where there are sums only they are of these, and say so.",
  "The address holds the view: copy it to show somebody the same thing. The browser's Back undoes the last zoom, selection or filter.",
];

const keysOf = (keys) => (/^([a-z?/+]|[←→↑↓])( |$)/.test(keys) ? keys.split(" ") : [keys]);

/** Fills the dialog and listens for its buttons. */
export const prepareHelp = () => {
  const dialog = byId("help");
  byId("help-body").replaceChildren(
    ...HELP.map(([title, rows]) => make("section", {}, make("h3", {}, title),
      make("dl", {}, ...rows.flatMap(([keys, what]) => [
        make("dt", {}, ...keysOf(keys).flatMap((key, i) => (i > 0 ? [" ", make("kbd", {}, key)] : [make("kbd", {}, key)]))),
        make("dd", {}, what),
      ])))),
    make("section", {}, make("h3", {}, "Reading it"), ...READING.map((text) => make("p", {}, text))));
  byId("help-open").addEventListener("click", () => openHelp());
  byId("help-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
};

/** Opens the help. */
export const openHelp = () => {
  const dialog = byId("help");
  if (!dialog.open) dialog.showModal();
};
