import { make } from "./dom.js";

// A table of any number of rows, of which only those in view exist as elements. It is an ARIA grid or tree grid: the grid
// has the focus, and the arrow keys move the active row.

/** The height of a row in px, as in the style sheet. */
const GRID_ROW_PX = 26;
/** The number of rows beyond each edge of the view. */
const BEYOND = 6;
/** Browsers limit the height of elements to some millions of px: longer tables are scrolled through faster. */
const HIGHEST_PX = 8_000_000;

/**
 * @typedef {{key: string, label: string, title: string, isText?: boolean}} GridColumn
 * @typedef {{isSelected?: boolean, level?: number, isOpen?: boolean|null, place?: number, of?: number}} GridRow
 */

export class VirtualGrid {
  /**
   * `fill(index, cells)` writes a row into its cells and returns its properties (`GridRow`). `choose(index)` is called for
   * a click and Enter, `act(index, name)` for a click on an element with `data-act`, `key(event, index)` for other keys,
   * and `sort(column)` for a click on a heading.
   */
  constructor({ id, role = "grid", label, columns, fill, choose, sort, act = () => {}, key = () => false }) {
    Object.assign(this, { id, columns, fill, choose, act, key });
    this.n = 0;
    this.active = -1;
    this.frame = 0;
    /** The rows in view, by index. */
    this.rows = new Map();
    this.body = make("div", { class: "grid-body", role: "rowgroup" });
    const headings = columns.map((column, index) =>
      make("div", { role: "columnheader", class: cellClass(column), "aria-colindex": index + 1 },
        make("button", { type: "button", title: column.title, "data-sort": column.key, onclick: () => sort(column.key) }, column.label)));
    this.head = make("div", { class: "grid-head", role: "rowgroup" }, make("div", { class: "grid-row", role: "row", "aria-rowindex": 1 }, ...headings));
    this.element = make("div", {
      id, class: "grid", role, tabindex: 0, "aria-label": label, "aria-colcount": columns.length, "aria-rowcount": 1,
    }, this.head, this.body);
    this.element.addEventListener("scroll", () => this.later());
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.element.addEventListener("focus", () => this.activate(this.active < 0 ? 0 : this.active, false));
    this.body.addEventListener("click", (event) => this.onClick(event));
    new ResizeObserver(() => this.later()).observe(this.element);
  }

  /** Shows which column the rows are sorted by. */
  setSort(key, isDescending) {
    this.columns.forEach((column, index) => {
      const isIt = column.key === key;
      const heading = this.head.firstChild.children[index];
      if (isIt) heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
      heading.firstChild.textContent = `${column.label}${isIt ? (isDescending ? " ▾" : " ▴") : ""}`;
    });
  }

  /**
   * Replaces the rows: there are `n` now, and keys start from `active`. Scrolls to the top unless it is to stay `inPlace`.
   */
  setRows(n, active = -1, inPlace = false) {
    this.n = n;
    this.active = Math.min(active, n - 1);
    this.element.setAttribute("aria-rowcount", String(n + 1));
    this.body.style.height = `${Math.min(n * GRID_ROW_PX, HIGHEST_PX)}px`;
    if (!inPlace) this.element.scrollTop = 0;
    this.redraw();
  }

  /** Rewrites all rows in view. */
  redraw() {
    for (const row of this.rows.values()) row.isWritten = false;
    this.draw();
  }

  later() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  /** Returns the height of the part with rows, in px. */
  height() {
    return Math.max(0, this.element.clientHeight - this.head.offsetHeight);
  }

  /** Returns the number of px that the rows move for each px of scrolling. */
  scale() {
    const whole = this.n * GRID_ROW_PX, height = this.height();
    return whole <= HIGHEST_PX ? 1 : (whole - height) / (HIGHEST_PX - height);
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { scrollTop } = this.element;
    const top = scrollTop * this.scale();
    const from = Math.max(0, Math.floor(top / GRID_ROW_PX) - BEYOND);
    const to = Math.min(this.n, Math.ceil((top + this.height()) / GRID_ROW_PX) + BEYOND);
    const spare = this.spare(from, to);
    for (let index = from; index < to; index++) {
      const row = this.rows.get(index) ?? this.take(index, spare.shift());
      if (!row.isWritten) this.write(index, row);
      row.element.style.top = `${scrollTop + (index * GRID_ROW_PX - top)}px`;
      // In their order, for screen readers.
      const there = this.body.children[index - from];
      if (there !== row.element) this.body.insertBefore(row.element, there ?? null);
    }
    for (const { element } of spare) element.remove();
    const active = this.rows.get(this.active);
    if (active === undefined) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", active.element.id);
  }

  /**
   * Returns the rows that are out of view now, whose elements are reused. If all are, they stay in the document, which
   * costs least.
   * @private
   */
  spare(from, to) {
    const gone = [...this.rows].filter(([index]) => index < from || index >= to).sort(([a], [b]) => a - b);
    const areAll = gone.length === this.rows.size;
    for (const [index, { element }] of gone) {
      this.rows.delete(index);
      if (!areAll) element.remove();
    }
    return gone.map(([, row]) => row);
  }

  /** Returns an element for a row. @private */
  take(index, spare) {
    const row = spare ?? this.build();
    row.isWritten = false;
    this.rows.set(index, row);
    return row;
  }

  /** @private */
  build() {
    const cells = this.columns.map((column, index) => make("div", { role: "gridcell", class: cellClass(column), "aria-colindex": index + 1 }));
    return { element: make("div", { class: "grid-row", role: "row" }, ...cells), cells, isWritten: false };
  }

  /** @private */
  write(index, row) {
    const { element, cells } = row;
    const { isSelected = false, level = null, isOpen = null, place = null, of = null } = this.fill(index, cells);
    const attributes = {
      id: `${this.id}-${index}`, "data-index": index, "aria-rowindex": index + 2, "aria-selected": isSelected,
      "aria-level": level, "aria-expanded": isOpen, "aria-posinset": place, "aria-setsize": of,
    };
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null) element.removeAttribute(name);
      else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
    }
    element.classList.toggle("active", index === this.active);
    row.isWritten = true;
  }

  /** Makes a row the active one, and scrolls to it if necessary. */
  activate(index, isScrolled = true) {
    if (this.n === 0) return;
    const to = Math.min(Math.max(index, 0), this.n - 1);
    for (const each of [this.active, to]) {
      const row = this.rows.get(each);
      if (row !== undefined) row.element.classList.toggle("active", each === to);
    }
    this.active = to;
    if (isScrolled) this.scrollTo(to);
    this.draw();
  }

  /** Scrolls until a row is in view. */
  scrollTo(index) {
    const scale = this.scale(), height = this.height();
    const top = this.element.scrollTop * scale, at = index * GRID_ROW_PX;
    if (at < top) this.element.scrollTop = at / scale;
    else if (at + GRID_ROW_PX > top + height) this.element.scrollTop = (at + GRID_ROW_PX - height) / scale;
  }

  onClick(event) {
    const row = event.target.closest("[data-index]");
    if (row === null) return;
    const index = Number(row.dataset.index);
    this.activate(index);
    const act = event.target.closest("[data-act]");
    if (act !== null) this.act(index, act.dataset.act);
    else this.choose(index);
  }

  onKey(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey || this.n === 0) return;
    const page = Math.max(1, Math.floor(this.height() / GRID_ROW_PX) - 1);
    const { active } = this;
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: this.n - 1 }[event.key];
    if (to !== undefined) this.activate(to);
    else if (event.key === "Enter" && active >= 0) this.choose(active);
    else if (!this.key(event, active)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Writes text into a cell, and reuses its text node. */
export const putText = (cell, text) => {
  const { firstChild } = cell;
  if (firstChild === null || firstChild.nodeType !== Node.TEXT_NODE) cell.textContent = text;
  else if (firstChild.data !== text) firstChild.data = text;
};

const cellClass = ({ key, isText = false }) => `cell of-${key}${isText ? " text" : ""}`;
