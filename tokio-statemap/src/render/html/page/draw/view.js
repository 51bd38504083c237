import { splitWaiting } from "../model/by_line.js";
import { openingOf } from "../model/opening.js";
import { longPolls } from "../model/polls.js";
import { homeTimes } from "../model/sums.js";
import { workerOfPoll } from "../model/worker_polls.js";
import { chartsOf, initialHidden } from "./charts/charts.js";
import { paintColours } from "./colours.js";
import { chartEdges, foldKey, initialPeeks, isLarge, itemIndexAt, itemOfGroup, layOut, placeOfLane, stuckAt } from "./layout.js";
import { longOnWorkers } from "./worker_lane.js";

// The view: what is shown, and how times and lanes map to the screen. All parts of the page read it, and change it only
// through its methods. Changes are painted in the next frame.

/** The greatest share of the height for which the workers stay in place while the tasks scroll. */
const PINNED_SHARE = 0.42;
/** The shortest time that fills the view, in ns. */
const SHORTEST_VIEW = 50;
/** Changes of the view within this time (ms) are one step back. */
const GESTURE_PAUSE = 500;
/** Moves within this time (ms) are a motion: frames are quick, and exact once it rests. */
const MOTION_MS = 120;

export class View {
  constructor(model) {
    this.model = model;
    this.width = 1;
    this.height = 1;
    this.gutter = 220;
    this.ratio = 1;
    /** Whether the page is painted for paper. */
    this.isPrinted = false;
    this.scroll = 0;
    this.pinned = 0;
    this.folded = new Set();
    /** The lanes around which folded groups are open, by `foldKey`. */
    this.peeks = new Map();
    this.filter = null;
    /** The keys of the charts that have data, and of those that only show their name. */
    this.charts = chartsOf(model);
    this.hiddenCharts = new Set();
    /** The values of the charts. Set by what paints frames. @type {import("./charts/data.js").ChartData|null} */
    this.chartData = null;
    this.threshold = model.meta.long;
    this.palette = "page";
    this.theme = "light";
    this.tab = "issues";
    this.selection = null;
    this.hover = null;
    this.range = null;
    /** The initial selection; null if there is none. */
    this.opening = openingOf(model);
    this.hiddenCharts = initialHidden(model, this.opening);
    /** The initial view. */
    this.home = homeTimes(model, this.opening);
    [this.t0, this.t1] = this.home;
    this.chosenRows = [];
    this.long = model.sections.map(() => null);
    this.longOnWorkers = model.sections.map(() => null);
    this.issues = null;
    this.colours = null;
    this.layout = layOut(model, this, this.height);
    this.stuck = null;
    this.past = [];
    this.lastMove = -Infinity;
    this.movedAt = -Infinity;
    this.isMoving = false;
    this.restTimer = 0;
    this.dirty = { layout: true, lanes: true, overlay: true };
    this.frame = 0;
    this.listeners = new Map();
    this.paint = () => {};
  }

  /**
   * Calls `listener` whenever `what` happens: "moved", "stepped" (a step that can be gone back, or a step back),
   * "selected", "filtered", "threshold", "colours", "folds", "charts" (others are hidden), "tab", "states" (a section has
   * others), "picked" (selected on the lanes or their labels), or "counted" (the legend has new totals).
   */
  on(what, listener) {
    if (!this.listeners.has(what)) this.listeners.set(what, []);
    this.listeners.get(what).push(listener);
  }

  notify(what) {
    for (const listener of this.listeners.get(what) ?? []) listener();
  }

  /** Requests a frame in which `part` ("layout", "lanes" or "overlay") is painted anew. */
  touch(part) {
    this.dirty[part] = true;
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paintFrame());
  }

  paintFrame() {
    this.frame = 0;
    const dirty = this.dirty;
    this.dirty = { layout: false, lanes: false, overlay: false };
    if (dirty.layout) this.relayout();
    this.paint(dirty.lanes || dirty.layout);
  }

  /** Sets the function that paints frames: `paint(lanes)`; `lanes` is whether more than the overlay has changed. */
  paintWith(paint) {
    this.paint = paint;
  }

  /** Paints a frame at once. */
  paintNow() {
    cancelAnimationFrame(this.frame);
    this.paintFrame();
  }

  /** Sets the size of the plot and the width of the labels beside it, in CSS px; `ratio` is the screen's. */
  resize({ gutter, width, height, ratio }) {
    Object.assign(this, { gutter, width, height, ratio });
    this.touch("layout");
  }

  /** Applies the parts of a view that an address names, before anything is painted. */
  restore({ folded, threshold = this.threshold, palette = this.palette, filter = null, hiddenCharts = this.hiddenCharts, t0, t1 }) {
    Object.assign(this, { folded, threshold, palette, filter, hiddenCharts });
    this.peeks = this.initialPeeks();
    if (t1 > t0) [this.t0, this.t1] = [t0, t1];
    this.splitWaiting();
    this.recolour();
    this.findLong();
    this.relayout();
  }

  relayout() {
    this.layout = layOut(this.model, this, this.height);
    const end = this.layout.workersEnd;
    this.pinned = end > 0 && end <= this.height * PINNED_SHARE && this.layout.height > end ? end : 0;
    this.scroll = Math.min(this.scroll, this.maxScroll());
    this.stick();
  }

  /** The selection before the user or the address selects anything. */
  get firstSelection() {
    return this.opening?.target ?? null;
  }

  /** Returns the lanes around which large groups are open before anything is selected. */
  initialPeeks() {
    const { model, opening } = this;
    const worker = opening?.target.kind === "span" ? workerOfPoll(model.sections[opening.section], opening.target.transition) : null;
    return initialPeeks(model, opening, worker && { section: worker.section, lane: worker.section.rowLane[worker.row] });
  }

  /** Finds the heading that sticks: `{item, y}` as in `stuckAt`; null if there is none. */
  stick() {
    this.stuck = stuckAt(this.layout, this.scroll + this.pinned);
  }

  /** The height down to which the scrolling lanes are covered by what stays in place, in px of the screen. */
  get covered() {
    if (this.stuck === null) return this.pinned;
    return Math.max(this.pinned, this.stuck.y - this.scroll + this.stuck.item.h);
  }

  maxScroll() {
    return Math.max(0, this.layout.height - this.height);
  }

  // Conversions from times and heights to the screen and back. Positions are in CSS px from the plot's corner.

  x(t) {
    return ((t - this.t0) / (this.t1 - this.t0)) * this.width;
  }

  time(x) {
    return this.t0 + (x / this.width) * (this.t1 - this.t0);
  }

  screenY(y) {
    return y < this.pinned ? y : y - this.scroll;
  }

  contentY(screenY) {
    return screenY < this.pinned ? screenY : screenY + this.scroll;
  }

  /**
   * Calls `found(item, top, clipTop, clipBottom)` for each item on the screen, in px of the screen. The sticking heading
   * comes last, as it covers what scrolls below it.
   */
  eachItem(found) {
    const stuck = this.stuck?.item ?? null;
    for (const item of this.layout.items) {
      const fixed = item.y < this.pinned;
      const top = fixed ? item.y : item.y - this.scroll;
      if (top >= this.height) break;
      const clipTop = fixed ? 0 : this.pinned;
      if (item !== stuck && top + item.h > clipTop) found(item, top, clipTop, this.height);
    }
    if (stuck !== null) found(stuck, this.stuck.y - this.scroll, this.pinned, this.height);
  }

  /** Returns the item at a height of the screen, and its top there; null if there is none. */
  itemAt(screenY) {
    if (this.stuck !== null && screenY >= this.pinned && screenY < this.covered) {
      return { item: this.stuck.item, top: this.stuck.y - this.scroll };
    }
    const y = this.contentY(screenY);
    const item = this.layout.items[itemIndexAt(this.layout, y)];
    if (item === undefined || y < item.y || y >= item.y + item.h) return null;
    return { item, top: this.screenY(item.y) };
  }

  /** Returns the place of a lane on the screen: `{top, h, folded, fixed, visible}`; null if it is filtered out. */
  placeOf(section, lane) {
    const place = placeOfLane(this.layout, section, lane);
    if (place === null) return null;
    const fixed = place.y < this.pinned;
    const top = this.screenY(place.y);
    const clipTop = fixed ? 0 : place.folded ? this.pinned : this.covered;
    return { top, h: place.h, folded: place.folded, fixed, visible: top + place.h > clipTop && top < this.height };
  }

  // Moving in time.

  /** Shows `t0` to `t1`, within the picture. */
  setTimes(t0, t1) {
    const length = this.model.lengthNs;
    const span = Math.min(Math.max(t1 - t0, Math.min(SHORTEST_VIEW, length)), length);
    const middle = (t0 + t1) / 2;
    const from = Math.min(Math.max(t1 - t0 === span ? t0 : middle - span / 2, 0), length - span);
    const to = from + span;
    if (from === this.t0 && to === this.t1) return;
    const now = performance.now();
    const isStep = now - this.lastMove > GESTURE_PAUSE;
    if (isStep) {
      this.past.push([this.t0, this.t1]);
      if (this.past.length > 100) this.past.shift();
    }
    this.lastMove = now;
    this.noteMotion(now);
    this.t0 = from;
    this.t1 = to;
    this.touch("lanes");
    if (isStep) this.notify("stepped");
    this.notify("moved");
  }

  /** From its second move on, a motion is painted quickly; when it rests, exactly. */
  noteMotion(now) {
    this.isMoving = now - this.movedAt < MOTION_MS;
    this.movedAt = now;
    clearTimeout(this.restTimer);
    if (!this.isMoving) return;
    this.restTimer = setTimeout(() => {
      this.isMoving = false;
      this.touch("lanes");
    }, MOTION_MS);
  }

  /** Does the same as `setTimes`, as a step of its own for `back`. */
  jumpTo(t0, t1) {
    this.lastMove = -Infinity;
    this.setTimes(t0, t1);
    this.lastMove = -Infinity;
  }

  zoom(factor, x) {
    const at = this.time(x);
    // A shortest view that is zoomed further must not move.
    const span = Math.max((this.t1 - this.t0) * factor, Math.min(SHORTEST_VIEW, this.model.lengthNs));
    const share = x / this.width;
    this.setTimes(at - span * share, at - span * share + span);
  }

  pan(px) {
    const ns = (px / this.width) * (this.t1 - this.t0);
    const by = Math.min(Math.max(ns, -this.t0), this.model.lengthNs - this.t1);
    this.setTimes(this.t0 + by, this.t1 + by);
  }

  /** Makes this view the first, so that there is none to go back to. */
  forgetPast() {
    this.past.length = 0;
  }

  /** Shows a time that was in view before. If it was the previous view, that is one step back. */
  returnTo(t0, t1) {
    const before = this.past.at(-1);
    // Addresses have whole ns.
    if (before !== undefined && Math.round(before[0]) === t0 && Math.round(before[1]) === t1) this.back();
    else this.jumpTo(t0, t1);
  }

  fit() {
    this.jumpTo(0, this.model.lengthNs);
  }

  back() {
    const before = this.past.pop();
    if (before === undefined) return;
    this.lastMove = performance.now();
    [this.t0, this.t1] = before;
    this.touch("lanes");
    this.lastMove = -Infinity;
    this.notify("stepped");
    this.notify("moved");
  }

  /** Limits a scroll position to those that are possible. */
  withinScroll(scroll) {
    return Math.min(Math.max(scroll, 0), this.maxScroll());
  }

  scrollTo(scroll) {
    const to = Math.round(this.withinScroll(scroll));
    if (to === this.scroll) return;
    this.scroll = to;
    this.stick();
    this.touch("lanes");
  }

  // Changing what is shown.

  /** Folds a group, or opens all of it. */
  toggleFold(section, group) {
    const key = foldKey(section.index, group.index);
    if (!this.folded.delete(key)) this.folded.add(key);
    this.peeks.delete(key);
    this.refold();
  }

  /** Folds or opens all groups of a section. */
  foldSection(section, isFolded) {
    for (const group of section.groups) {
      const key = foldKey(section.index, group.index);
      if (isFolded) this.folded.add(key);
      else this.folded.delete(key);
      this.peeks.delete(key);
    }
    this.refold();
  }

  /** Hides a chart except for its name, or shows it. */
  toggleChart(key) {
    if (!this.hiddenCharts.delete(key)) this.hiddenCharts.add(key);
    this.setHiddenCharts(this.hiddenCharts);
  }

  /** Hides these charts, or shows them all if none is shown. */
  toggleCharts(charts) {
    const isNoneShown = charts.every((key) => this.hiddenCharts.has(key));
    for (const key of charts) {
      if (isNoneShown) this.hiddenCharts.delete(key);
      else this.hiddenCharts.add(key);
    }
    this.setHiddenCharts(this.hiddenCharts);
  }

  setHiddenCharts(hidden) {
    this.hiddenCharts = hidden;
    this.touch("layout");
    this.notify("charts");
  }

  /** Replaces the folded groups and the filter. */
  setShown(folded, filter) {
    this.folded = folded;
    this.peeks = this.initialPeeks();
    this.filter = filter;
    this.relayout();
    this.refold();
    this.notify("filtered");
  }

  refold() {
    this.touch("layout");
    this.notify("folds");
  }

  /** Shows only this group of its section; null shows all. */
  setFilter(filter) {
    const same = this.filter !== null && filter !== null && this.filter.section === filter.section && this.filter.group === filter.group;
    this.filter = same ? null : filter;
    if (this.filter !== null) this.folded.delete(foldKey(filter.section, filter.group));
    this.scroll = 0;
    this.stick();
    this.touch("layout");
    this.notify("filtered");
  }

  setThreshold(ns) {
    this.threshold = ns;
    this.findLong();
    this.touch("lanes");
    this.notify("threshold");
  }

  /**
   * Returns the length from which a poll of this section counts as long. Unless the user sets a threshold, each run has its
   * own.
   */
  thresholdOf(section) {
    const { threshold, model } = this;
    return threshold === model.meta.long ? (model.runs[section.run].long ?? threshold) : threshold;
  }

  /** Finds what depends on the threshold and is drawn. */
  findLong() {
    const { model } = this;
    this.long = model.sections.map((section) => (section.isRunning.includes(1) ? longPolls(section, this.thresholdOf(section)) : null));
    this.longOnWorkers = model.sections.map(() => null);
    for (const all of model.workerPolls) this.longOnWorkers[all.workers.index] = longOnWorkers(all, this.long[all.tasks.index]);
  }

  /** Sets what `findIssues` found. */
  setIssues(issues) {
    this.issues = issues;
    this.touch("lanes");
  }

  setPalette(palette) {
    this.palette = palette;
    this.splitWaiting();
    this.recolour();
    this.notify("colours");
  }

  splitWaiting() {
    const changed = this.model.sections.filter((section) => splitWaiting(section, this.palette === "lines"));
    if (changed.length > 0) this.notify("states");
  }

  setTheme(theme) {
    this.theme = theme;
    this.recolour();
    this.notify("colours");
  }

  recolour() {
    this.colours = paintColours(this.model, this.palette);
    this.touch("lanes");
  }

  setTab(tab) {
    this.tab = tab;
    this.notify("tab");
  }

  /**
   * Selects `{kind: "span", section, transition}`, `{kind: "row", section, row}`, `{kind: "group", section, group}`,
   * `{kind: "range", t0, t1}`, `{kind: "stretch", stretch}` or null; `section` and `stretch` are indices.
   */
  select(selection) {
    this.selection = selection;
    this.range = selection?.kind === "range" ? selection : null;
    this.touch("overlay");
    this.notify("selected");
  }

  /** Selects what the user picked on the lanes or their labels, and notifies "picked", so that its details are shown. */
  pick(selection) {
    this.select(selection);
    if (selection !== null) this.notify("picked");
  }

  /** Shows a range of time that is being measured. */
  measureRange(range) {
    this.range = range;
    this.touch("overlay");
  }

  /** Highlights the labels of these rows: `{section, row}`. */
  setChosenRows(rows) {
    this.chosenRows = rows;
  }

  setHover(hover) {
    this.hover = hover;
    this.touch("overlay");
  }

  /** Opens what hides this lane (of a large group only the lanes around it) and scrolls to it. The times in view stay. */
  showLane(section, lane) {
    const group = section.laneGroup[lane];
    if (this.filter !== null && itemOfGroup(this.layout, section, group) === null) this.setFilter(null);
    this.openAround(section, lane);
    this.relayout();
    const place = this.placeOf(section, lane);
    if (place === null || place.fixed) return;
    const margin = Math.min(60, (this.height - this.pinned) / 4);
    if (place.top < this.covered + margin || place.top + place.h > this.height - margin) {
      const middle = (this.pinned + this.height) / 2;
      const to = this.withinScroll(this.scroll + place.top + place.h / 2 - middle);
      const edges = chartEdges(this.layout, to + this.pinned).map((edge) => edge - this.pinned);
      // Prefers to show a chart entirely or not at all, if the lane and one below it stay in view.
      const at = this.scroll + place.top;
      const isSeen = (edge) => at - edge >= this.pinned + margin && at + 2 * place.h - edge <= this.height;
      this.scrollTo(edges.find((edge) => edge <= this.maxScroll() && isSeen(edge)) ?? to);
    }
  }

  openAround(section, lane) {
    const group = section.groups[section.laneGroup[lane]];
    const key = foldKey(section.index, group.index);
    if (!this.folded.has(key)) return;
    if (isLarge(group)) {
      // The visible part of the group stays if the lane is within it.
      const peek = itemOfGroup(this.layout, section, group.index)?.peek ?? null;
      if (peek !== null && this.peeks.has(key) && lane >= peek.firstLane && lane < peek.endLane) return;
      this.peeks.set(key, lane);
    } else this.folded.delete(key);
    this.refold();
  }
}
