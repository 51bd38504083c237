import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { titleText } from "../format/text.js";
import { recordedInAll } from "../model/sums.js";
import { make } from "./dom.js";
import { labelInPanel } from "./label.js";
import { SortedTable } from "./sorted_table.js";

// The spawn locations of the whole run, where not all of it is kept in detail.

const orNone = (ns) => (ns === null ? "–" : formatNs(ns));

/** The columns, see `SortedTable`: as far as they are known, those of the table of what is kept in detail. */
const wholeColumns = (model) => {
  const all = recordedInAll(model) * model.meta.sums.workers;
  return [
    ["Tasks", "Tasks spawned there", (row) => row.tasks, (row) => formatCount(row.tasks)],
    ["Polls", "Polls of these tasks", (row) => row.polls, (row) => formatCount(row.polls)],
    ["Held", "How long their polls held workers, as a share of all workers' time", (row) => row.held, (row) => formatShare(all > 0 ? row.held / all : 0)],
    ["Longest", "The longest poll", (row) => row.longest, (row) => (row.polls === 0 ? "–" : formatNs(row.longest))],
    ["p99", "What 99 % of the polls did not exceed", (row) => row.p99 ?? -1, (row) => orNone(row.p99)],
    ["Ready", "The longest that a task was ready before it was polled", (row) => row.ready ?? -1, (row) => orNone(row.ready)],
  ];
};

export class WholeLocations {
  /** `redraw` is called when the table is sorted anew. */
  constructor(model, redraw) {
    this.rows = model.meta.sums?.places ?? null;
    this.table = this.rows === null ? null : new SortedTable({
      columns: wholeColumns(model), sort: 2, nameOf: ({ label }) => make("span", { title: titleText(label) }, labelInPanel(label)), redraw,
    });
  }

  /** The table under its heading; nothing if all is kept in detail. */
  draw() {
    if (this.rows === null) return [];
    return [make("h2", {}, "The whole run"), ...this.table.draw(this.rows), make("h2", {}, "Kept in detail")];
  }
}
