import { formatNs, formatShare } from "../format/numbers.js";
import { shorten, titleText, visible } from "../format/text.js";
import { make, swatchOf } from "./dom.js";

// Shows what the length of a task or of a wait depended on.

/** The most parts that are listed. */
const MOST_PARTS = 12;

/** The words for what was found. */
const PATH_WORDS = {
  task: () => "this task depended on",
  wait: () => "this wait depended on",
  period: ({ section, row }) => `${shorten(visible(section.name(row)), 40)} depended on in this time`,
};

/**
 * Builds the part of the panel; empty if nothing was found. `show(target)` selects the longest stretch of a part.
 * @param {import("../model/critical_path.js").PathFound|null} found
 */
export const pathParts = (view, found, show) => {
  if (found === null) return [];
  const { section, path } = found, heading = `What the length of ${PATH_WORDS[found.of](found)}`;
  const colours = view.colours.sections[section.index];
  const rows = path.parts.slice(0, MOST_PARTS).map(({ kind, place, times, total, transition }) => {
    const cells = [make("td", {}, formatNs(total)), make("td", { class: "share" }, formatShare(total / path.length))];
    const data = { "data-kind": kind, "data-ns": total };
    if (kind === "unknown") return make("tr", data, make("td", {}, "not known"), ...cells);
    const task = visible(section.name(section.rowOf(transition)));
    const title = titleText(`${visible(place)}: ${times === 1 ? "once" : `${times} times, the longest of them`} in ${task}`);
    return make("tr", data,
      make("td", {}, swatchOf(colours[section.state[transition]]), make("button", { type: "button", class: "step", title, onclick: () => show({ kind: "span", section: section.index, transition }) },
        shorten(`${kind}: ${visible(place)}`, 60), make("span", { class: "source" }, shorten(times === 1 ? task : `${task}, and ${times - 1} more`, 40)))),
      ...cells);
  });
  const more = path.parts.length > MOST_PARTS ? make("p", { class: "hint" }, `${path.parts.length - MOST_PARTS} more parts are not listed.`) : null;
  return [
    make("h2", {}, heading, make("span", { class: "count" }, path.tasks === 1 ? "1 task" : `${path.tasks} tasks`)),
    make("table", { class: "totals path" }, make("caption", { class: "unseen" }, heading), make("tbody", {}, ...rows)),
    more,
  ];
};
