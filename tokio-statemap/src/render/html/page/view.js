import { isRoomy, itemOfGroup, layOut, placeOfLane, foldKey } from "./layout.js";

// What is shown, and the way from there to the screen. All parts of the page look here, and change it
// only through its methods; what has changed is painted in the next frame.

/** How much of the height the workers may take to stay in place while the tasks scroll. */
const PINNED_SHARE = 0.42;
/** The shortest time that fills the view, in ns. */
const SHORTEST_VIEW = 50;
/** Changes of the view closer together than this (ms) are one step back. */
const GESTURE_PAUSE = 500;
/** Moves closer together than this (ms) are a motion: frames are quick, and exact once it rests. */
const MOTION_MS = 120;

export class View {
  constructor(model) {
    this.model = model;
    this.t0 = 0;
    this.t1 = model.lengthNs;
    this.width = 1;
    this.height = 1;
    this.gutter = 220;
    this.ratio = 1;
    this.scroll = 0;
    this.pinned = 0;
    this.folded = new Set();
    this.filter = null;
    this.threshold = model.meta.long;
    this.palette = "page";
    this.theme = "light";
    this.tab = "issues";
    this.selection = null;
    this.hover = null;
    this.range = null;
    this.worst = null;
    this.chosenRows = [];
    this.long = model.sections.map(() => null);
    this.longOnWorkers = null;
    this.issues = null;
    this.colours = null;
    this.layout = layOut(model, this.folded, null);
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

  /** Calls `listener` whenever `what` happens: "moved", "selected", "filtered", "threshold", "colours", "folds". */
  on(what, listener) {
    if (!this.listeners.has(what)) this.listeners.set(what, []);
    this.listeners.get(what).push(listener);
  }

  tell(what) {
    for (const listener of this.listeners.get(what) ?? []) listener();
  }

  /** Asks for a new frame in which `part` ("layout", "lanes" or "overlay") is painted anew. */
  touch(part) {
    this.dirty[part] = true;
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paintFrame());
  }

  paintFrame() {
    this.frame = 0;
    const dirty = this.dirty;
    this.dirty = { layout: false, lanes: false, overlay: false };
    if (dirty.layout) this.relayout();
    this.paint({ lanes: dirty.lanes || dirty.layout, overlay: true });
  }

  relayout() {
    this.layout = layOut(this.model, this.folded, this.filter, isRoomy(this.model, this.height));
    const end = this.layout.workersEnd;
    this.pinned = end > 0 && end <= this.height * PINNED_SHARE && this.layout.height > end ? end : 0;
    this.scroll = Math.min(this.scroll, this.maxScroll());
  }

  maxScroll() {
    return Math.max(0, this.layout.height - this.height);
  }

  // From times and heights to the screen and back. Positions are in CSS px from the plot's corner.

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

  /** Calls `found(item, top, clipTop, clipBottom)` for each item on screen, in px of the screen. */
  eachItem(found) {
    for (const item of this.layout.items) {
      const fixed = item.y < this.pinned;
      const top = fixed ? item.y : item.y - this.scroll;
      if (top >= this.height) break;
      const clipTop = fixed ? 0 : this.pinned;
      if (top + item.h > clipTop) found(item, top, clipTop, this.height);
    }
  }

  /** The lane's place on the screen: `{top, h, folded, visible}`; null if it is filtered out. */
  placeOf(section, lane) {
    const place = placeOfLane(this.layout, section, lane);
    if (place === null) return null;
    const fixed = place.y < this.pinned;
    const top = this.screenY(place.y);
    const clipTop = fixed ? 0 : this.pinned;
    return { top, h: place.h, folded: place.folded, fixed, visible: top + place.h > clipTop && top < this.height };
  }

  // Moving in time.

  /** Shows `t0` to `t1`, as near to it as there is a picture. */
  setTimes(t0, t1) {
    const length = this.model.lengthNs;
    const span = Math.min(Math.max(t1 - t0, Math.min(SHORTEST_VIEW, length)), length);
    const middle = (t0 + t1) / 2;
    const from = Math.min(Math.max(t1 - t0 === span ? t0 : middle - span / 2, 0), length - span);
    const to = from + span;
    if (from === this.t0 && to === this.t1) return;
    const now = performance.now();
    if (now - this.lastMove > GESTURE_PAUSE) {
      this.past.push([this.t0, this.t1]);
      if (this.past.length > 100) this.past.shift();
    }
    this.lastMove = now;
    this.noteMotion(now);
    this.t0 = from;
    this.t1 = to;
    this.touch("lanes");
    this.tell("moved");
  }

  /** The second move of a motion on is painted quickly; when nothing moves any more, exactly. */
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

  /** Like `setTimes`, as a step of its own for `back`. */
  jumpTo(t0, t1) {
    this.lastMove = -Infinity;
    this.setTimes(t0, t1);
    this.lastMove = -Infinity;
  }

  zoom(factor, x) {
    const at = this.time(x);
    // Whole ns where it matters: a shortest view that goes on being zoomed must not creep.
    const span = Math.max((this.t1 - this.t0) * factor, Math.min(SHORTEST_VIEW, this.model.lengthNs));
    const share = x / this.width;
    this.setTimes(at - span * share, at - span * share + span);
  }

  pan(px) {
    const ns = (px / this.width) * (this.t1 - this.t0);
    const by = Math.min(Math.max(ns, -this.t0), this.model.lengthNs - this.t1);
    this.setTimes(this.t0 + by, this.t1 + by);
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
    this.tell("moved");
  }

  scrollTo(scroll) {
    const to = Math.round(Math.min(Math.max(scroll, 0), this.maxScroll()));
    if (to === this.scroll) return;
    this.scroll = to;
    this.touch("lanes");
    this.tell("scrolled");
  }

  // What is shown.

  toggleFold(section, group) {
    const key = foldKey(section.index, group.index);
    if (!this.folded.delete(key)) this.folded.add(key);
    this.refold();
  }

  refold() {
    this.touch("layout");
    this.tell("folds");
  }

  /** Shows only this group of its section; null shows all. */
  setFilter(filter) {
    const same = this.filter !== null && filter !== null && this.filter.section === filter.section && this.filter.group === filter.group;
    this.filter = same ? null : filter;
    if (this.filter !== null) this.folded.delete(foldKey(filter.section, filter.group));
    this.scroll = 0;
    this.touch("layout");
    this.tell("filtered");
  }

  setThreshold(ns) {
    this.threshold = ns;
    this.touch("lanes");
    this.tell("threshold");
  }

  setPalette(palette) {
    this.palette = palette;
    this.tell("colours");
  }

  /**
   * Selects `{kind: "span", section, transition}`, `{kind: "row", section, row}`,
   * `{kind: "group", section, group}`, `{kind: "range", t0, t1}` or null; `section` is an index.
   */
  select(selection) {
    this.selection = selection;
    this.range = selection?.kind === "range" ? selection : null;
    this.touch("overlay");
    this.tell("selected");
  }

  setHover(hover) {
    this.hover = hover;
    this.touch("overlay");
  }

  /** Opens what hides this lane and scrolls to it; the view in time stays. */
  showLane(section, lane) {
    const group = section.laneGroup[lane];
    if (this.filter !== null && itemOfGroup(this.layout, section, group) === null) this.setFilter(null);
    if (this.folded.delete(foldKey(section.index, group))) this.refold();
    this.relayout();
    const place = this.placeOf(section, lane);
    if (place === null || place.fixed) return;
    const margin = Math.min(60, (this.height - this.pinned) / 4);
    if (place.top < this.pinned + margin || place.top + place.h > this.height - margin) {
      const middle = (this.pinned + this.height) / 2;
      this.scrollTo(this.scroll + place.top + place.h / 2 - middle);
    }
  }
}
