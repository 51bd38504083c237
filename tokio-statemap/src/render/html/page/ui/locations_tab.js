import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { shorten, titleText } from "../format/text.js";
import { isHeldKnown } from "../model/locations.js";
import { countRows, groupLabel } from "../model/names.js";
import { byId, make } from "./dom.js";

// The spawn locations: what the tasks of each did. A click shows only that group's lanes.

/** A length of its polls, if it has any. */
const ofPolls = (row, ns) => (row.polls === 0 ? "–" : formatNs(ns));

/** The columns: heading, title, what to sort by, what to show. */
const COLUMNS = [
  ["Tasks", "Tasks spawned there", (row) => row.tasks, (row) => formatCount(row.tasks)],
  ["Polls", "Polls of these tasks", (row) => row.polls, (row) => formatCount(row.polls)],
  ["Held", "How long their polls held workers, and the share of all workers' time", (row) => row.heldNs,
    (row, model) => (!isHeldKnown(model, row) ? "?" : row.shareOfWorkers === null ? formatNs(row.heldNs) : formatShare(row.shareOfWorkers))],
  ["Longest", "The longest poll", (row) => row.longestNs, (row) => ofPolls(row, row.longestNs)],
  ["p99", "What 99 % of the polls did not exceed", (row) => row.p99Ns, (row) => ofPolls(row, row.p99Ns)],
  ["Ready", "The longest that a task was ready before it was polled", (row) => (row.longestReady < 0 ? -1 : row.longestReadyNs),
    (row) => (row.longestReadyNs === null ? "?" : row.longestReady < 0 ? "–" : formatNs(row.longestReadyNs))],
  ["Long", "Polls over the threshold", (row) => row.longPolls, (row) => formatCount(row.longPolls)],
];
const MOST_PLACES = 500;

export class LocationsTab {
  constructor(view) {
    this.view = view;
    this.rows = null;
    this.sort = 2;
    this.descending = true;
    view.on("filtered", () => this.draw());
  }

  /** Shows the table; `rows` as `locationTable` gives them. */
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
    const rows = this.rows.length > 0 ? this.rows : null;
    if (rows === null) {
      pane.replaceChildren(...this.plainGroups());
      return;
    }
    const [, , key] = COLUMNS[this.sort] ?? [];
    const sorted = [...rows].sort((a, b) => {
      const order = this.sort < 0 ? (a.label < b.label ? -1 : a.label > b.label ? 1 : 0) : key(a) - key(b);
      return this.descending ? -order : order;
    });
    const { filter } = this.view;
    const clear = filter === null ? null
      : make("button", { id: "filter-clear", type: "button", onclick: () => this.view.setFilter(null) }, "Show all locations");
    pane.replaceChildren(
      make("p", { class: "hint" }, filter === null ? "A location shows only its tasks." : "Only the chosen location's tasks are shown. ", clear),
      make("div", { class: "table-wrap" }, make("table", { class: "places" }, this.tableHead(), make("tbody", {}, ...sorted.slice(0, MOST_PLACES).flatMap((row) => this.tableRow(row))))));
    if (sorted.length > MOST_PLACES) pane.append(make("p", { class: "hint" }, `${sorted.length - MOST_PLACES} more are not listed.`));
  }

  tableHead() {
    const heading = (label, title, index) => {
      const isSorted = this.sort === index;
      const arrow = isSorted ? (this.descending ? " ▾" : " ▴") : "";
      return make("th", { scope: "col", "aria-sort": isSorted ? (this.descending ? "descending" : "ascending") : null },
        make("button", { type: "button", title, "data-sort": label, onclick: () => this.sortBy(index) }, `${label}${arrow}`));
    };
    return make("thead", {}, make("tr", {}, ...COLUMNS.map(([label, title], index) => heading(label, title, index))));
  }

  sortBy(index) {
    if (this.sort === index) this.descending = !this.descending;
    else [this.sort, this.descending] = [index, index >= 0];
    this.draw();
    const label = COLUMNS[index]?.[0] ?? "Location";
    document.querySelector(`#pane-locations [data-sort="${label}"]`)?.focus();
  }

  /** A location is two rows: its name over the whole width, and its numbers. */
  tableRow(row) {
    const section = this.view.model.sections[row.section];
    const label = groupLabel(section.groups[row.group]);
    const { filter } = this.view;
    const isChosen = filter !== null && filter.section === row.section && filter.group === row.group;
    const chosen = isChosen ? "chosen" : "";
    const button = make("button", {
      type: "button", title: titleText(label), "aria-pressed": isChosen, "data-section": row.section, "data-group": row.group,
      onclick: () => {
        this.view.setFilter({ section: row.section, group: row.group });
        document.querySelector(`#pane-locations [data-section="${row.section}"][data-group="${row.group}"]`)?.focus();
      },
    }, shorten(label, 60));
    return [
      make("tr", { class: `${chosen} place-row` }, make("th", { class: "place-cell", scope: "rowgroup", colspan: COLUMNS.length }, button)),
      make("tr", { class: chosen }, ...COLUMNS.map(([, , , text]) => make("td", {}, text(row, this.view.model)))),
    ];
  }

  /** Foreign data has no polls: its groups, to show one alone. */
  plainGroups() {
    const { model, filter } = this.view;
    const parts = [make("p", { class: "hint" }, "This data has no polls. A group shows only its rows.")];
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
