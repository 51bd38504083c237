import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { titleText } from "../format/text.js";
import { recordedInAll } from "../model/sums.js";
import { distributionOfSums } from "../model/histogram.js";
import { make } from "./dom.js";
import { histogram } from "./histogram.js";
import { labelInPanel } from "./label.js";
import { SortedTable } from "./sorted_table.js";

// The spawn locations of the whole run, if not all of it is kept in detail.

const orNone = (ns) => (ns === null ? "–" : formatNs(ns));

/** The columns, see `SortedTable`: those of the table of what is kept in detail, as far as they are known. */
const wholeColumns = (model) => {
  const all = recordedInAll(model) * model.meta.sums.workers;
  return [
    ["Tasks", "Tasks spawned there", (row) => row.tasks, (row) => formatCount(row.tasks)],
    ["Polls", "Polls of these tasks", (row) => row.polls, (row) => formatCount(row.polls)],
    ["Held", "Share of all workers' time for which their polls held workers (wall time)", (row) => row.held, (row) => formatShare(all > 0 ? row.held / all : 0)],
    ["Longest", "The longest poll (wall time, with what the machine took)", (row) => row.longest, (row) => (row.polls === 0 ? "–" : formatNs(row.longest))],
    ["p99", "99th percentile of the polls (wall time, with what the machine took)", (row) => row.p99 ?? -1, (row) => orNone(row.p99)],
    ["Ready", "Longest time from ready to polled", (row) => row.ready ?? -1, (row) => orNone(row.ready)],
  ];
};

export class WholeLocations {
  /** `redraw` is called when the table is sorted again. */
  constructor(model, redraw) {
    this.rows = model.meta.sums?.places ?? null;
    /** The location whose histograms are shown. */
    this.chosen = null;
    this.redraw = redraw;
    this.table = this.rows === null ? null : new SortedTable({
      columns: wholeColumns(model), sort: 2, nameOf: (row) => this.nameOf(row), isChosen: (row) => row === this.chosen, redraw,
    });
  }

  nameOf(row) {
    return make("button", {
      type: "button", title: titleText(row.label), "aria-pressed": row === this.chosen, "data-whole": this.rows.indexOf(row),
      onclick: () => {
        this.chosen = row === this.chosen ? null : row;
        this.redraw();
        document.querySelector(`#pane-locations [data-whole="${this.rows.indexOf(row)}"]`)?.focus();
      },
    }, labelInPanel(row.label));
  }

  /** Builds the histograms of the chosen location from its sums. */
  histograms() {
    if (this.chosen === null) return [];
    const { lengths, longest, waits, ready } = this.chosen;
    const [polls, readies] = [distributionOfSums(lengths, longest), distributionOfSums(waits, ready ?? 0)];
    const note = "Counts the whole run, from its sums: wall time, with what the machine took, exact to 1 %.";
    const parts = [
      polls === null ? null : histogram(polls, { title: "Poll length, wall time", word: "poll", kind: "polls", note }),
      readies === null ? null : histogram(readies, { title: "Time ready before a poll", word: "time", kind: "ready" }),
    ].filter(Boolean);
    return parts.length === 0 ? [] : [make("div", { class: "distributions", "data-scope": "whole" }, ...parts)];
  }

  /** Builds the table with its heading; empty if everything is kept in detail. */
  draw() {
    if (this.rows === null) return [];
    return [make("h2", {}, "The whole run, by wall time"), ...this.histograms(), ...this.table.draw(this.rows), make("h2", {}, "Kept in detail")];
  }
}
