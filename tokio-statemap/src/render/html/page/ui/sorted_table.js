import { make } from "./dom.js";

// A table that is sorted by a click on a heading. Each entry takes two rows: its name over the whole width, and its numbers
// below.

/** The most entries that are listed. */
const MOST_SORTED = 500;

/**
 * @typedef {[string, string, (row: object) => number, (row: object) => string]} Column heading, title, sort key, text
 */

export class SortedTable {
  /**
   * `nameOf(row)` builds the button of a row; `isChosen(row)` returns whether it is marked; `redraw` draws the pane with
   * the table. `sort` is the column by which it is sorted at first, in descending order.
   */
  constructor({ columns, sort, nameOf, isChosen = () => false, redraw }) {
    Object.assign(this, { columns, sort, nameOf, isChosen, redraw });
    this.descending = true;
  }

  /** Builds the table of these rows, and a note on those that aren't listed. */
  draw(rows) {
    const [, , key] = this.columns[this.sort];
    const sorted = [...rows].sort((a, b) => (this.descending ? key(b) - key(a) : key(a) - key(b)));
    this.table = make("table", { class: "places" }, this.head(), make("tbody", {}, ...sorted.slice(0, MOST_SORTED).flatMap((row) => this.row(row))));
    const more = sorted.length - MOST_SORTED;
    return [
      make("div", { class: "table-wrap" }, this.table),
      more > 0 ? make("p", { class: "hint" }, `${more} more are not listed.`) : null,
    ].filter(Boolean);
  }

  head() {
    const heading = (label, title, index) => {
      const isSorted = this.sort === index;
      const arrow = isSorted ? (this.descending ? " ▾" : " ▴") : "";
      return make("th", { scope: "col", "aria-sort": isSorted ? (this.descending ? "descending" : "ascending") : null },
        make("button", { type: "button", title, "data-sort": label, onclick: () => this.sortBy(index) }, `${label}${arrow}`));
    };
    return make("thead", {}, make("tr", {}, ...this.columns.map(([label, title], index) => heading(label, title, index))));
  }

  sortBy(index) {
    if (this.sort === index) this.descending = !this.descending;
    else [this.sort, this.descending] = [index, true];
    this.redraw();
    this.table.querySelector(`[data-sort="${this.columns[index][0]}"]`)?.focus();
  }

  row(row) {
    const chosen = this.isChosen(row) ? "chosen" : "";
    return [
      make("tr", { class: `${chosen} place-row` }, make("th", { class: "place-cell", scope: "rowgroup", colspan: this.columns.length }, this.nameOf(row))),
      make("tr", { class: chosen }, ...this.columns.map(([, , , text]) => make("td", {}, text(row)))),
    ];
  }
}
