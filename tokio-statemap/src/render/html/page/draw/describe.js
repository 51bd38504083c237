import { formatLength, formatMoment, formatNs } from "../format/numbers.js";
import { visible } from "../format/text.js";
import { awaitOf } from "../model/awaits.js";
import { keptNs } from "../model/lanes.js";
import { groupLabel, groupName, rowWord, workerName } from "../model/names.js";
import { heldNs, isPoll, pollInfo } from "../model/polls.js";
import { stretchSentence } from "./sums.js";

// Describes what is in the picture, for tooltips, the panel, callouts and screen readers.

/** Formats a moment as precisely as the zoom level needs. */
export const momentText = (view, t) => {
  const pixel = Math.max(1, (view.t1 - view.t0) / view.width);
  const decimals = Math.min(9, Math.max(3, Math.ceil(-Math.log10(pixel / 1e9))));
  return formatMoment(t, decimals);
};

/** Formats the length of a span: "51.2 ms", "at least 51.2 ms". A poll's own time comes first. */
export const lengthText = (view, section, transition) => {
  if (!isPoll(section, transition)) return stateLength(view, section.time[transition], section.endOf(transition));
  const info = pollInfo(section, transition, view.model.meta.gaps);
  const isCut = info.cutLeft || (info.cutRight && !info.handed);
  // The span is drawn to its end, so its whole length is given, too.
  const handed = info.handed ? ` (${formatNs(info.length)} with block_in_place)` : "";
  return `${isCut ? "at least " : ""}${formatLength(info.own, info.held)}${handed}`;
};

/** Within a time of which nothing is kept, the state may have changed. */
const stateLength = (view, from, to) => {
  return `${keptNs(view.model, from, to) < to - from ? "at most " : ""}${formatNs(to - from)}`;
};

/** Returns where the task waits during a span; null if it doesn't wait, or that isn't known. */
const waitsAt = (section, transition) => {
  const place = awaitOf(section, transition);
  return place === null ? null : visible(place.label);
};

/**
 * Describes a span: `{name, state, length, place, waitsAt, worker, start}`; all are texts except `worker` and `start`.
 * `place` is the spawn location of its task; `waitsAt` is where the task waits.
 */
export const describeSpan = (view, section, transition) => {
  const row = section.rowOf(transition);
  const state = section.states[section.state[transition]];
  const poll = isPoll(section, transition);
  const worker = poll && section.worker && section.worker[transition] > 0 ? section.worker[transition] - 1 : null;
  return {
    row,
    name: visible(section.name(row)) || `unnamed ${rowWord(section)}`,
    // The line is given separately.
    state: state.line === undefined ? visible(state.name) : "waiting",
    length: lengthText(view, section, transition),
    isLong: poll && heldNs(section, transition) > view.thresholdOf(section),
    place: section.kind === "tasks" ? groupLabel(section.groups[section.groupOfRow(row)]) : null,
    worker,
    offWorkers: poll && section.worker !== null && worker === null,
    start: section.time[transition],
    waitsAt: waitsAt(section, transition),
  };
};

/** Describes the selection in a sentence, for the live region. */
export const selectionSentence = (view) => {
  const { selection, model } = view;
  if (selection === null) return "Nothing selected.";
  if (selection.kind === "range") {
    return `Time range from ${formatMoment(selection.t0, 6)} to ${formatMoment(selection.t1, 6)}, ${formatNs(selection.t1 - selection.t0)}.`;
  }
  if (selection.kind === "stretch") return stretchSentence(view, selection.stretch);
  const section = model.sections[selection.section];
  if (selection.kind === "group") return `Group ${groupName(section.groups[selection.group])}.`;
  if (selection.kind === "row") return `${visible(section.name(selection.row))} of ${visible(section.title)}.`;
  const span = describeSpan(view, section, selection.transition);
  const on = span.worker === null ? "" : ` on ${workerName(model, section, span.worker)}`;
  return `${span.name} ${span.state}${on} for ${span.length} at ${momentText(view, span.start)}${span.waitsAt ? `, at ${span.waitsAt}` : ""}${span.place ? `, spawned at ${span.place}` : ""}.`;
};

/** Formats a range of time: "0.213 s to 0.518 s, 305 ms". */
export const spanText = (t0, t1) => {
  const decimals = Math.min(9, Math.max(3, Math.ceil(-Math.log10(Math.max(1, t1 - t0) / 1e9)) + 2));
  return `${formatMoment(t0, decimals)} to ${formatMoment(t1, decimals)}, ${formatNs(t1 - t0)}`;
};
