import { formatCount } from "../format/numbers.js";
import { plural, titleText, visible } from "../format/text.js";
import { countRows, groupName, groupText } from "../model/names.js";
import { fits, fitText, fontOf } from "../draw/fit.js";
import { foldKey } from "../draw/layout.js";
import { ChartLabels } from "./chart_labels.js";
import { byId, make } from "./dom.js";
import { laneLabel, rowsInView } from "./lane_label.js";
import { stateCounts } from "./state_counts.js";

// The labels on the left: headings and groups are buttons that fold and open; lanes and charts have names. Only those on
// the screen exist as elements.

const BOLD_LABEL = fontOf(600, 12);
const LABEL_FONT = fontOf(400, 12);
const LANE_FONT = fontOf(400, 11);
const CHOSEN_FONT = `600 ${LANE_FONT}`;
/** The space beside the text of a label, in px. */
const AROUND_TEXT = 36;

/** A narrower gutter has no room for counts, in px. */
const NARROW = 140;

export class Gutter {
  /** `stacks` counts the lanes of folded groups. */
  constructor(view, stacks) {
    this.view = view;
    this.stacks = stacks;
    this.chartLabels = new ChartLabels(view);
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
      else if (item.kind === "chart" || item.kind === "charts") this.drawChart(item, at, parent, seen);
      else this.drawHeading(item, at, parent, seen);
    });
    for (const [key, row] of this.rows) {
      if (seen.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
    if (this.refocus === null) return;
    const row = ["f", "g", ""].map((kind) => this.rows.get(`${kind}${this.refocus}`)).find(Boolean) ?? this.rows.get(`s${this.refocus.split(".")[0]}`);
    row?.element.focus();
    this.refocus = null;
  }

  drawChart(item, top, parent, seen) {
    const key = keyOfItem(item);
    const row = this.place(key, parent, top, item.h, seen, () => {
      const element = this.chartLabels.make(item);
      element.dataset.key = key;
      // The element that replaces it gets the focus.
      element.addEventListener("click", () => { this.refocus = keyOfItem({ ...item, isHidden: !item.isHidden }); });
      return element;
    });
    this.chartLabels.update(row.element, item);
  }

  /** Returns a row's element at its place; `build` makes it if necessary. */
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
    row.element.classList.remove("stuck");
    return row;
  }

  drawHeading(item, top, parent, seen) {
    const { section, group } = item;
    const isSection = item.kind === "section";
    const key = keyOfItem(item);
    const row = this.place(key, parent, top, item.h, seen, () => this.heading(item));
    row.element.dataset.key = key;
    row.element.classList.toggle("stuck", this.view.stuck?.item === item);
    if (item.kind === "stack") this.drawCounts(row, section, group);
    if (!isSection) return;
    const open = this.isOpen(section);
    row.element.setAttribute("aria-expanded", String(open));
    row.element.firstChild.textContent = open ? "▼" : "▶";
  }

  heading(item) {
    const { section, group } = item;
    const isSection = item.kind === "section";
    const standsForSection = isSection || item.titled === true;
    const width = this.view.gutter - AROUND_TEXT;
    const font = standsForSection ? BOLD_LABEL : LABEL_FONT;
    const lanes = isSection ? section.nLanes : group.endLane - group.firstLane;
    const rows = countRows(section, isSection ? section.nRows : group.rows);
    const label = standsForSection ? visible(section.title) : groupName(group);
    const whole = standsForSection ? label : groupText(group);
    const inLanes = `${rows} in ${plural(lanes, "lane", formatCount(lanes))}`;
    const element = make("button", {
      type: "button",
      class: `row ${isSection ? "section" : item.titled ? "group folded titled" : item.kind === "stack" ? "group folded" : "group open"}`,
      title: titleText(`${whole}: ${inLanes}`),
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
        make("span", { class: "more" }, this.view.gutter < NARROW ? rows : inLanes),
        make("span", { class: "more counts" })));
    } else {
      const more = this.view.gutter < NARROW ? "" : isSection ? rows : formatCount(group.rows);
      const room = width - (more === "" ? 0 : 12) - more.length * 7.4;
      const run = visible(this.view.model.runs[section.run].name);
      // If there are several runs, the name says more than the number of rows.
      const isNamed = standsForSection && run !== "" && !fits(label, room, font);
      element.append(
        make("span", { class: "name" }, isNamed ? fittingText([label, run], width, font) : fitText(label, room, font)),
        make("span", { class: "more" }, isNamed ? "" : more));
    }
    return element;
  }

  /** Shows how many lanes of a folded group were in each state in the view, on average. */
  drawCounts({ element }, section, group) {
    const { view } = this;
    // They would flicker.
    if (view.isMoving) return;
    const data = this.stacks.window(section, group, Math.max(1, Math.round(view.width / 2)));
    const texts = stateCounts(view, section, data);
    const counts = element.querySelector(".counts");
    if (counts.dataset.said === texts[0]) return;
    counts.dataset.said = texts[0];
    counts.textContent = fittingText(texts, view.gutter - AROUND_TEXT, LANE_FONT);
    counts.title = `On average over the view: ${texts[0]}`;
  }

  isOpen(section) {
    return section.groups.some((group) => !this.view.folded.has(`${section.index}.${group.index}`));
  }

  toggle({ kind, section, group }) {
    if (kind === "section") {
      this.toggleSection(section);
      return;
    }
    // The other heading replaces this one, and gets the focus.
    this.refocus = foldKey(section.index, group.index);
    this.view.toggleFold(section, group);
  }

  toggleSection(section) {
    this.view.foldSection(section, this.isOpen(section));
  }

  drawLanes(item, top, parent, seen) {
    const { view } = this;
    const { section, group } = item;
    const limit = parent === this.pinned ? view.pinned : view.height - view.pinned;
    const first = Math.max(item.firstLane, item.firstLane + Math.floor(-top / item.each));
    for (let lane = first; lane < item.endLane; lane++) {
      const y = top + (lane - item.firstLane) * item.each;
      if (y >= limit) break;
      const chosen = this.chosenRow(section, lane);
      const texts = item.solo ? [groupName(group)] : laneLabel(view, section, lane, chosen);
      const [text] = texts;
      const key = `l${section.index}.${lane}`;
      const row = this.place(key, parent, y, item.each, seen, () =>
        make("button", { type: "button", class: `row lane${item.solo ? " solo" : ""}`, tabindex: item.solo || section.kind === "workers" ? 0 : -1, "data-section": section.index, "data-lane": lane,
          onclick: () => this.selectLane(section, lane) },
          make("span", { class: "name" })));
      row.element.dataset.key = key;
      row.element.classList.toggle("chosen", chosen >= 0);
      if (row.text !== text) {
        row.text = text;
        const font = item.solo ? BOLD_LABEL : chosen >= 0 ? CHOSEN_FONT : LANE_FONT;
        const shown = fittingText(texts, view.gutter - AROUND_TEXT, font);
        row.element.firstChild.textContent = shown;
        row.element.title = titleText(text);
        // The accessible name begins with the visible text.
        row.element.setAttribute("aria-label", shown === text ? titleText(text) : `${shown}: ${titleText(text)}`);
      }
    }
  }

  /** Returns the row of this lane that is selected; −1 if none is. */
  chosenRow(section, lane) {
    const lit = this.view.chosenRows.find((row) => row.section === section && section.rowLane[row.row] === lane);
    return lit === undefined ? -1 : lit.row;
  }

  selectLane(section, lane) {
    const chosen = this.chosenRow(section, lane);
    const row = chosen >= 0 ? chosen : rowsInView(this.view, section, lane).first;
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

  /** Moves the focus to the next heading or group up or down, and scrolls to it. */
  step(from, by) {
    const { view } = this;
    const { items } = view.layout;
    const lane = from.dataset.lane === undefined ? null : { section: Number(from.dataset.section), lane: Number(from.dataset.lane) };
    const isHere = (item) => (lane === null ? keyOfItem(item) === from.dataset.key
      : item.kind === "lanes" && item.section.index === lane.section && lane.lane >= item.firstLane && lane.lane < item.endLane);
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
    const key = keyOfItem(item);
    this.rows.get(key)?.element.focus();
  }

  /** Removes all labels, because the width or the labels have changed. */
  reset() {
    for (const { element } of this.rows.values()) element.remove();
    this.rows.clear();
  }
}

/** Returns the key of an item's label; for lanes, that of the first one. */
const keyOfItem = ({ kind, section, group, firstLane, run, chart, isHidden }) => {
  switch (kind) {
    case "charts": return `charts ${run}`;
    case "chart": return `chart ${chart}${isHidden ? " hidden" : ""}`;
    case "section": return `s${section.index}`;
    case "lanes": return `l${section.index}.${firstLane}`;
    default: return `${kind === "stack" ? "f" : "g"}${foldKey(section.index, group.index)}`;
  }
};

/** Returns the first text that fits, or else the last one, shortened. */
const fittingText = (texts, width, font) => texts.find((text) => fits(text, width, font)) ?? fitText(texts.at(-1), width, font);
