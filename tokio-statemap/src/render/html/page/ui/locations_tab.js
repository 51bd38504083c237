import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { shorten, titleText, visible } from "../format/text.js";
import { countRows, groupLabel } from "../model/names.js";
import { detailHint } from "./detail_hint.js";
import { Distributions } from "./distributions.js";
import { byId, make } from "./dom.js";
import { labelInPanel } from "./label.js";
import { SortedTable } from "./sorted_table.js";
import { WholeLocations } from "./whole_locations.js";

// The tab of spawn locations. A click on one shows only its lanes, and its histograms.

/** Formats a length of its polls, if it has any. */
const ofPolls = (row, ns) => (row.polls === 0 ? "–" : formatNs(ns));

/** The columns, see `SortedTable`. */
const LOCATION_COLUMNS = [
  ["Tasks", "Tasks spawned there", (row) => row.tasks, (row) => formatCount(row.tasks)],
  ["Polls", "Polls of these tasks", (row) => row.polls, (row) => formatCount(row.polls)],
  ["Held", "Share of all workers' time for which their polls held workers (wall time)", (row) => row.heldNs,
    (row) => (row.shareOfWorkers === null ? formatNs(row.heldNs) : formatShare(row.shareOfWorkers))],
  ["Longest", "The longest poll, without what the machine took", (row) => row.longestNs, (row) => ofPolls(row, row.longestNs)],
  ["p99", "99th percentile of the polls, without what the machine took", (row) => row.p99Ns, (row) => ofPolls(row, row.p99Ns)],
  ["Ready", "Longest time from ready to polled", (row) => (row.longestReady < 0 ? -1 : row.longestReadyNs),
    (row) => (row.longestReadyNs === null ? "?" : row.longestReady < 0 ? "–" : formatNs(row.longestReadyNs))],
  ["Long", "Polls that held a worker for longer than the threshold (wall time)", (row) => row.longPolls, (row) => formatCount(row.longPolls)],
];
const MOST_PLACES = 500;

export class LocationsTab {
  /** `actions`: `show(target)`. */
  constructor(view, actions) {
    this.view = view;
    this.distributions = new Distributions(view.model, actions.show);
    this.rows = null;
    this.whole = new WholeLocations(view.model, () => this.draw());
    this.table = new SortedTable({
      columns: LOCATION_COLUMNS, sort: 2, nameOf: (row) => this.nameOf(row), isChosen: (row) => this.isChosen(row), redraw: () => this.draw(),
    });
    view.on("filtered", () => this.draw());
  }

  /** Shows the table of `rows`, as `locationTable` returns them. */
  setRows(rows) {
    this.rows = rows;
    this.draw();
  }

  draw() {
    const pane = byId("pane-locations");
    if (this.rows === null) {
      pane.replaceChildren(make("p", { class: "hint" }, "Counting …"));
      return;
    }
    if (this.rows.length === 0) {
      pane.replaceChildren(...this.plainGroups());
      return;
    }
    const { filter } = this.view;
    const clear = filter === null ? null
      : make("button", { id: "filter-clear", type: "button", onclick: () => this.view.setFilter(null) }, "Show all locations");
    const hint = detailHint(this.view.model);
    pane.replaceChildren(
      ...this.whole.draw(),
      ...(hint === null ? [] : [hint]),
      make("p", { class: "hint" }, filter === null ? "Click a location to show only its tasks." : "Only the tasks of the chosen location are shown. ", clear),
      ...(filter === null ? [] : this.chosen(filter)),
      ...this.table.draw(this.rows));
  }

  /** Returns the histograms of the chosen location. */
  chosen({ section, group }) {
    const of = this.rows.some((row) => row.section === section && row.group === group);
    return of ? [this.distributions.draw({ kind: "group", section, group })] : [];
  }

  isChosen(row) {
    const { filter } = this.view;
    return filter !== null && filter.section === row.section && filter.group === row.group;
  }

  nameOf(row) {
    const group = this.view.model.sections[row.section].groups[row.group];
    const label = groupLabel(group);
    const button = make("button", {
      type: "button", title: titleText(label), "aria-pressed": this.isChosen(row), "data-section": row.section, "data-group": row.group,
      onclick: () => {
        this.view.setFilter({ section: row.section, group: row.group });
        document.querySelector(`#pane-locations [data-section="${row.section}"][data-group="${row.group}"]`)?.focus();
      },
    }, labelInPanel(label));
    if (group.runs === null) return button;
    return make("div", {}, button, make("div", { class: "source" }, shorten(`ran ${visible(group.runs[1])}`, 200)));
  }

  /** Lists the groups of data without polls. */
  plainGroups() {
    const { model, filter } = this.view;
    const parts = [make("p", { class: "hint" }, "This data has no polls. Click a group to show only its rows.")];
    if (filter !== null) parts.push(make("button", { id: "filter-clear", type: "button", onclick: () => this.view.setFilter(null) }, "Show all"));
    for (const section of model.sections) {
      for (const group of section.groups.slice(0, MOST_PLACES)) {
        parts.push(make("button", {
          type: "button", class: "issue", "data-section": section.index, "data-group": group.index,
          "aria-pressed": filter?.section === section.index && filter?.group === group.index,
          onclick: () => this.view.setFilter({ section: section.index, group: group.index }),
        }, make("span", { class: "place" }, shorten(groupLabel(group), 50)), make("span", { class: "length" }, countRows(section, group.rows))));
      }
    }
    return parts;
  }
}
