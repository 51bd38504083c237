import { byId, make } from "./dom.js";
import { sourceSetting } from "./source_link.js";

// The help dialog: the words that the page uses, and all keys and gestures.

const HELP = [
  ["Move", [
    ["wheel", "zoom at the pointer"], ["w s", "zoom in, out"], ["+ -", "zoom in, out"], ["drag", "pan"], ["a d", "pan left, right"],
    ["shift wheel", "scroll the lanes (also: wheel over the labels)"], ["double click", "zoom to the span under the pointer; open a folded group"],
    ["f", "fit: the whole run"], ["z", "previous view"], ["two fingers", "pinch to zoom; one finger pans, or scrolls"],
  ]],
  ["Look", [
    ["click", "select a poll, task or worker"], ["shift drag", "measure a range of time"], ["n p", "next, previous issue"],
    [". ,", "follow the wakes: on to a poll that the selected one woke, back to the one that woke it"],
    ["/", "search for a function, line, task, location, worker, or time such as 1.25 s; Enter goes on"], ["Esc", "clear the selection, then the filter"], ["?", "this help"],
  ]],
  ["By keyboard", [
    ["Tab", "next part of the page"], ["← →", "previous, next span"], ["↑ ↓", "lane above, below; on labels: group above, below; in the table of tasks: row above, below"],
    ["Enter", "zoom to the selection; fold or open a group; show the task of a row"], ["PgUp PgDn", "scroll the lanes"],
    ["t", "select the whole task or worker of the selected span; in the spawn tree: list the tasks of a node"], ["Shift ← →", "measure a range of time from the selection"],
    ["Home End", "on the strip of the whole run: beginning, end; there ← → pan and ↑ ↓ zoom"],
  ]],
];

const MEANINGS = [
  ["Poll", "One run of a task on a thread: from when a worker takes it up until it waits for something, or ends. Nothing else runs on that worker meanwhile."],
  ["Held", "The time for which a poll kept its worker from other tasks."],
  ["Ready", "The task was woken or spawned, and no worker polled it yet."],
  ["Parked", "The worker slept, as it found no task to poll."],
  ["Spawn location", "The line that spawned a task, such as a call of tokio::spawn. Tasks are grouped by it."],
  ["Own time", "The time of a poll without what the machine took from it, as when another program ran."],
];

const READING = [
  "Each lane shows a worker or tasks. When a task ends, its lane is reused; the label then names the first and the last task in view. Blank parts lie before or after a task's life.",
  "If a pixel has several states, their colours are blended by share. A state that would be invisible in the blend is drawn anyway: as high as the lane if it stands alone, otherwise along the lower edge.",
  "A long poll is always visible: it is outlined, and at least one pixel wide. Where long polls are dense, they are marked along the upper edge of the lane. A striped one isn't attributed to a function: the machine took the processor, no stack was sampled, or the poll is shorter than the report's threshold.",
  "A torn edge means that the task existed before it was first seen, or still existed when the recording ended. Nothing is kept of hatched times.",
  "The colours “Waiting by line” show at which line of code tasks wait, for the lines with the longest waits.",
  "Of a long run, detail is kept for the last events and around the longest polls. For the rest only sums are kept, for each stretch of time: there, the lanes are covered, and bars show the share of the workers' time spent in polls. The strip at the top covers the whole run: the longest poll of each stretch, the time in polls, and a line where detail is kept.",
  "A folded group shows how many of its tasks were in each state, stacked. Below a large group, the lanes around the selection are shown; a click on its name opens the whole group.",
  "Charts cover the same time as the lanes, and show their values beside the pointer. A click on a chart's name hides it. Where only sums are kept, the charts are drawn from these, and say so.",
  "The address contains the view: copy it to share what you see. The browser's Back button undoes the last zoom, selection or filter.",
];

const keysOf = (keys) => (/^([a-z?/+.,]|[←→↑↓])( |$)/.test(keys) ? keys.split(" ") : [keys]);

/** Fills the dialog, and listens to its buttons. `redraw()` is called when sources are to be opened elsewhere. */
export const prepareHelp = (redraw) => {
  const dialog = byId("help");
  byId("help-body").replaceChildren(
    make("section", {}, make("h3", {}, "Words"), make("dl", { class: "words" }, ...MEANINGS.flatMap(([word, meaning]) => [make("dt", {}, word), make("dd", {}, meaning)]))),
    ...HELP.map(([title, rows]) => make("section", {}, make("h3", {}, title),
      make("dl", {}, ...rows.flatMap(([keys, what]) => [
        make("dt", {}, ...keysOf(keys).flatMap((key, i) => (i > 0 ? [" ", make("kbd", {}, key)] : [make("kbd", {}, key)]))),
        make("dd", {}, what),
      ])))),
    make("section", {}, make("h3", {}, "Reading it"), ...READING.map((text) => make("p", {}, text))),
    sourceSetting(redraw));
  byId("help-open").addEventListener("click", () => openHelp());
  byId("help-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
};

/** Opens the help. */
export const openHelp = () => {
  const dialog = byId("help");
  if (dialog.open) return;
  dialog.showModal();
  // The button that has the focus is at the end.
  dialog.scrollTop = 0;
};
