import { formatCount } from "../format/numbers.js";
import { plural, titleText, visible } from "../format/text.js";
import { countRows, groupLabel } from "../model/names.js";
import { fitText } from "../draw/fit.js";
import { firstRowAfter } from "../draw/torn.js";
import { byId, make } from "./dom.js";

// The labels on the left: headings and groups are buttons that fold and open, lanes are named where
// there is room. Only what is on the screen exists as an element.

const BOLD_LABEL = '600 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
const LABEL_FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
/** The least height of a lane that is named, in px. */
const NAMED_HEIGHT = 14;

/** A gutter narrower than this has no room for counts, in px. */
const NARROW = 120;

export class Gutter {
  constructor(view) {
    this.view = view;
    this.pinned = byId("gutter-pinned");
    this.scrolled = byId("gutter");
    this.rows = new Map();
    this.refocus = null;
    for (const element of [this.pinned, this.scrolled]) {
      element.addEventListener("keydown", (event) => this.onKey(event));
    }
  }

  draw() {
    const { view } = this;
    this.pinned.hidden = view.pinned === 0;
    this.pinned.style.height = `${view.pinned}px`;
    this.pinned.style.top = "0";
    this.scrolled.style.top = `${view.pinned}px`;
    this.scrolled.style.height = `${Math.max(0, view.height - view.pinned)}px`;
    const seen = new Set();
    view.eachItem((item, top) => {
      const fixed = item.y < view.pinned;
      const parent = fixed ? this.pinned : this.scrolled;
      const at = fixed ? top : top - view.pinned;
      if (item.kind === "lanes") this.drawLanes(item, at, parent, seen);
      else this.drawHeading(item, at, parent, seen);
    });
    for (const [key, row] of this.rows) {
      if (seen.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
    if (this.refocus === null) return;
    const row = this.rows.get(`f${this.refocus}`) ?? this.rows.get(`g${this.refocus}`) ?? this.rows.get(`s${this.refocus.split(".")[0]}`);
    row?.element.focus();
    this.refocus = null;
  }

  /** The row's element, made by `build` unless it is there; moved to its place. */
  place(key, parent, top, height, seen, build) {
    seen.add(key);
    let row = this.rows.get(key);
    if (row === undefined) {
      row = { element: build(), text: "" };
      this.rows.set(key, row);
    }
    if (row.element.parentNode !== parent) parent.append(row.element);
    row.element.style.top = `${top}px`;
    row.element.style.height = `${height}px`;
    return row;
  }

  drawHeading(item, top, parent, seen) {
    const { section, group } = item;
    const isSection = item.kind === "section";
    const key = isSection ? `s${section.index}` : `${item.kind === "stack" ? "f" : "g"}${section.index}.${group.index}`;
    const row = this.place(key, parent, top, item.h, seen, () => this.heading(item));
    if (!isSection) return;
    const open = this.isOpen(section);
    row.element.setAttribute("aria-expanded", String(open));
    row.element.firstChild.textContent = open ? "▼" : "▶";
  }

  heading(item) {
    const { section, group } = item;
    const isSection = item.kind === "section";
    const standsForSection = isSection || item.titled === true;
    const width = this.view.gutter - 36;
    const font = standsForSection ? BOLD_LABEL : LABEL_FONT;
    const lanes = isSection ? section.nLanes : group.endLane - group.firstLane;
    const rows = countRows(section, isSection ? section.nRows : group.rows);
    const label = standsForSection ? visible(section.title) : groupLabel(group);
    const inLanes = `${rows} in ${plural(lanes, "lane", formatCount(lanes))}`;
    const element = make("button", {
      type: "button",
      class: `row ${isSection ? "section" : item.titled ? "group folded titled" : item.kind === "stack" ? "group folded" : "group open"}`,
      title: titleText(`${label}: ${inLanes}`),
      "aria-expanded": item.kind !== "stack",
      "data-section": section.index,
      "data-group": group && !standsForSection ? group.index : null,
      "data-kind": standsForSection ? "section" : "group",
      onclick: () => this.toggle(item),
    });
    element.append(make("span", { class: "fold", "aria-hidden": "true" }, item.kind === "stack" ? "▶" : "▼"));
    if (item.kind === "stack") {
      element.append(make("span", { class: "text" },
        make("span", { class: "name" }, fitText(label, width, font)),
        make("span", { class: "more" }, this.view.gutter < NARROW ? rows : inLanes)));
    } else {
      const more = this.view.gutter < NARROW ? "" : isSection ? rows : formatCount(group.rows);
      element.append(
        make("span", { class: "name" }, fitText(label, width - (more === "" ? 0 : 12) - more.length * 7.4, font)),
        make("span", { class: "more" }, more));
    }
    return element;
  }

  isOpen(section) {
    return section.groups.some((group) => !this.view.folded.has(`${section.index}.${group.index}`));
  }

  toggle({ kind, section, group }) {
    if (kind === "section") {
      this.toggleSection(section);
      return;
    }
    // The other heading takes this one's place, and the focus with it.
    this.refocus = `${section.index}.${group.index}`;
    this.view.toggleFold(section, group);
  }

  toggleSection(section) {
    this.view.foldSection(section, this.isOpen(section));
  }

  drawLanes(item, top, parent, seen) {
    if (item.each < NAMED_HEIGHT) return;
    const { view } = this;
    const { section, group } = item;
    const limit = parent === this.pinned ? view.pinned : view.height - view.pinned;
    const first = Math.max(item.firstLane, item.firstLane + Math.floor(-top / item.each));
    for (let lane = first; lane < item.endLane; lane++) {
      const y = top + (lane - item.firstLane) * item.each;
      if (y >= limit) break;
      const text = item.solo ? groupLabel(group) : this.laneLabel(section, lane);
      if (text === "") continue;
      const key = `l${section.index}.${lane}`;
      const row = this.place(key, parent, y, item.each, seen, () =>
        make("button", { type: "button", class: `row lane${item.solo ? " solo" : ""}`, tabindex: item.solo || section.kind === "workers" ? 0 : -1, "data-section": section.index, "data-lane": lane,
          onclick: () => this.selectLane(section, lane) },
          make("span", { class: "name" })));
      row.element.classList.toggle("chosen", this.chosenRow(section, lane) >= 0);
      if (row.text !== text) {
        row.text = text;
        const shown = fitText(text, view.gutter - 36, BOLD_LABEL);
        row.element.firstChild.textContent = shown;
        row.element.title = titleText(text);
        // What is read aloud begins with what is seen.
        row.element.setAttribute("aria-label", shown === text ? titleText(text) : `${shown}: ${titleText(text)}`);
      }
    }
  }

  /** A lane is named after the only row that it has in the view, or after the selected one. */
  laneLabel(section, lane) {
    const chosen = this.chosenRow(section, lane);
    if (chosen >= 0) return visible(section.name(chosen));
    const rows = this.rowsInView(section, lane);
    return rows.n === 1 ? visible(section.name(rows.first)) : "";
  }

  /** The row of this lane that the selection is about; −1 if it is none. */
  chosenRow(section, lane) {
    const lit = this.view.chosenRows.find((row) => row.section === section && section.rowLane[row.row] === lane);
    return lit === undefined ? -1 : lit.row;
  }

  /** How many rows of a lane have a part in the view (two at most), and the first of them. */
  rowsInView(section, lane) {
    const { t0, t1 } = this.view;
    const end = section.laneFirstRow[lane + 1];
    if (end - section.laneFirstRow[lane] === 1) return { n: 1, first: end - 1 };
    const first = firstRowAfter(section, lane, t0);
    let n = 0;
    // Two are as many as any more: the lane isn't named after any of them.
    while (n < 2 && first + n < end && section.rowBegin(first + n) < t1) n++;
    return { n, first: Math.min(first, end - 1) };
  }

  selectLane(section, lane) {
    const chosen = this.chosenRow(section, lane);
    const row = chosen >= 0 ? chosen : this.rowsInView(section, lane).first;
    this.view.pick({ kind: "row", section: section.index, row });
  }

  onKey(event) {
    const row = event.target.closest?.(".row");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const open = row.getAttribute("aria-expanded");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.step(row, event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "ArrowLeft" && open === "true") row.click();
    else if (event.key === "ArrowRight" && open === "false") row.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Moves the focus to the next heading or group up or down, scrolling to it. */
  step(from, by) {
    const { view } = this;
    const { items } = view.layout;
    const isHere = (item) => (from.dataset.kind === "section"
      ? (item.kind === "section" || item.titled) && String(item.section.index) === from.dataset.section
      : item.kind !== "section" && String(item.section.index) === from.dataset.section &&
        (from.dataset.group !== undefined ? String(item.group.index) === from.dataset.group
          : item.kind === "lanes" && Number(from.dataset.lane) >= item.firstLane && Number(from.dataset.lane) < item.endLane));
    let index = items.findIndex(isHere);
    if (index < 0) return;
    do index += by; while (index >= 0 && index < items.length && items[index].kind === "lanes" && !items[index].solo);
    const item = items[index];
    if (item === undefined) return;
    if (item.y >= view.pinned) {
      const top = item.y - view.scroll;
      if (top < view.pinned) view.scrollTo(item.y - view.pinned);
      else if (top + item.h > view.height) view.scrollTo(item.y + item.h - view.height);
    }
    this.draw();
    const key = item.kind === "section" ? `s${item.section.index}`
      : item.kind === "lanes" ? `l${item.section.index}.${item.firstLane}`
        : `${item.kind === "stack" ? "f" : "g"}${item.section.index}.${item.group.index}`;
    this.rows.get(key)?.element.focus();
  }

  /** Forgets what was drawn: the width or the labels have changed. */
  reset() {
    for (const { element } of this.rows.values()) element.remove();
    this.rows.clear();
  }
}
