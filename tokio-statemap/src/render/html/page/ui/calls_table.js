import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { plural, shorten, titleText, visible } from "../format/text.js";
import { make } from "./dom.js";
import { SortedTable } from "./sorted_table.js";

// The table of calls of instrumented async functions.

/** Returns a time of single calls, if any ended. */
const ofEnded = (of) => ({ ended }) => (ended === null ? -1 : of(ended));
const endedText = (of) => ({ ended }) => (ended === null ? "–" : formatNs(of(ended)));
const ninetyNinth = ([total]) => total[3];
const meanWait = ([, , waiting]) => waiting[0];

/** The columns, see `SortedTable`. */
const FUNCTION_COLUMNS = [
  ["Calls", "Calls that were polled", ({ calls }) => calls, ({ calls }) => formatCount(calls)],
  ["Own", "Time in polls of its calls, without the functions that they called", ({ own }) => own, ({ own }) => formatNs(own)],
  ["Share", "Its own time as a share of all workers' time", ({ own }) => own, ({ share }) => (share === null ? "–" : formatShare(share))],
  ["Total", "Time in polls of its calls, with the functions that they called", ({ total }) => total, ({ total }) => formatNs(total)],
  ["p99", "99th percentile of the total time of a call", ofEnded(ninetyNinth), endedText(ninetyNinth)],
  ["Waits", "Mean time that a call waited", ofEnded(meanWait), endedText(meanWait)],
];

/** The part of the profile tab on async functions; empty if none was instrumented. */
export class CallsTable {
  /** `redraw` draws the pane that contains it. */
  constructor(model, redraw) {
    this.profiles = model.sections.map(({ profile }) => profile).filter(Boolean);
    this.rows = this.profiles.flatMap(({ functions, recorded, workers }) =>
      functions.map((of) => ({ ...of, share: recorded * workers > 0 ? of.own / (recorded * workers) : null })));
    this.table = new SortedTable({ columns: FUNCTION_COLUMNS, sort: 1, nameOf: functionName, redraw });
  }

  draw() {
    if (this.rows.length === 0) return [];
    const uncounted = this.profiles.reduce((sum, profile) => sum + profile.uncounted, 0);
    return [
      make("h2", {}, "Async functions", make("span", { class: "count" }, "whole run")),
      ...this.table.draw(this.rows),
      uncounted === 0 ? null : make("p", { class: "hint" }, `Not counted: ${plural(uncounted, "call", formatCount(uncounted))} of functions beyond the first 4096.`),
    ].filter(Boolean);
  }
}

const functionName = ({ name, file, line, cancelled }) =>
  make("span", { title: titleText(`${name} at ${file}:${line}`) }, shorten(visible(name), 60),
    make("span", { class: "source" }, shorten(visible(`${file}:${line}`), 60)),
    cancelled === 0 ? null : make("span", { class: "source" }, `${plural(cancelled, "call", formatCount(cancelled))} dropped before the end`));
