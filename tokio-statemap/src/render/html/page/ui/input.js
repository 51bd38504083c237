import { findTransition } from "../model/lanes.js";
import { isDropped, stretchAt } from "../model/sums.js";
import { byId } from "./dom.js";
import { hitAt, targetOf } from "./hits.js";
import { KeyRange } from "./measure.js";
import { swipeBy, swipeFrom } from "./swipe.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

// Handles mouse, touch and keys on the lanes.

/** The distance from which a press becomes a drag, in px. */
const DRAG_FROM = 4;
/** The zoom factor of a key, and the share of the width that a key pans. */
const KEY_ZOOM = 0.7;
const KEY_PAN = 0.15;

/** Listens on the lanes. `actions`: `clear`, `search`, `help`, `step(by)`, `follow(by)`, `show(target)`, `zoomTo(target)`. */
export class Input {
  constructor(view, actions) {
    this.view = view;
    this.actions = actions;
    this.canvas = byId("overlay");
    this.lanes = byId("lanes");
    this.pointers = new Map();
    this.drag = null;
    this.pinch = null;
    this.range = new KeyRange(view);
    this.listenPointer();
    this.listenWheel();
    // The tooltip, or its colours, would be out of date.
    for (const what of ["moved", "colours", "threshold", "folds", "charts", "filtered"]) view.on(what, hideTooltip);
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  listenPointer() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("pointercancel", (event) => this.onCancel(event));
    // A finger that is lifted leaves, too, but its hover stays.
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") this.leave(); });
    canvas.addEventListener("dblclick", (event) => {
      const { x, y } = this.place(event);
      const hit = hitAt(this.view, x, y);
      if (hit?.kind === "stack") this.view.toggleFold(hit.section, hit.group);
      else this.actions.zoomTo(targetOf(hit));
    });
  }

  onDown(event) {
    if (event.button !== 0 && event.button !== 1) return;
    event.preventDefault();
    this.lanes.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.place(event);
    this.pointers.set(event.pointerId, at);
    hideTooltip();
    if (this.pointers.size === 2) {
      this.drag = null;
      this.startPinch();
      return;
    }
    const { view } = this;
    this.drag = { ...at, moved: false, measuring: event.shiftKey, t: view.time(at.x), t0: view.t0, t1: view.t1, scroll: view.scroll };
    if (event.pointerType === "touch") this.drag.swipe = swipeFrom(view, event);
  }

  onMove(event) {
    const at = this.place(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, at);
    if (this.pinch !== null) {
      this.movePinch();
      return;
    }
    if (this.drag === null) {
      if (event.pointerType !== "touch") this.hover(event, at);
      return;
    }
    const { drag, view } = this;
    if (!drag.moved && Math.hypot(at.x - drag.x, at.y - drag.y) < DRAG_FROM) return;
    drag.moved = true;
    if (drag.measuring) {
      this.canvas.classList.add("measuring");
      view.measureRange(this.measured(drag, at.x));
      return;
    }
    this.canvas.classList.add("dragging");
    if (drag.swipe?.isVertical(event)) {
      swipeBy(view, drag.swipe, event);
      return;
    }
    const ns = ((drag.x - at.x) / view.width) * (drag.t1 - drag.t0);
    const by = Math.min(Math.max(ns, -drag.t0), view.model.lengthNs - drag.t1);
    view.setTimes(drag.t0 + by, drag.t1 + by);
    if (drag.swipe === undefined) view.scrollTo(drag.scroll + drag.y - at.y);
  }

  measured(drag, x) {
    const { view } = this;
    const clamp = (t) => Math.round(Math.min(Math.max(t, 0), view.model.lengthNs));
    const [a, b] = [clamp(drag.t), clamp(view.time(x))];
    return { kind: "range", t0: Math.min(a, b), t1: Math.max(a, b) };
  }

  onUp(event) {
    this.pointers.delete(event.pointerId);
    this.canvas.classList.remove("dragging", "measuring");
    if (this.pinch !== null) {
      if (this.pointers.size < 2) this.pinch = null;
      return;
    }
    const { drag, view } = this;
    this.drag = null;
    if (drag === null) return;
    const at = this.place(event);
    if (drag.measuring && drag.moved) {
      const range = this.measured(drag, at.x);
      view.pick(range.t1 > range.t0 ? range : null);
    } else if (!drag.moved) this.press(event, at);
  }

  /** Selects what was pressed; on a chart it only shows the values there. */
  press(event, { x, y }) {
    const { view } = this;
    const hit = hitAt(view, x, y);
    if (hit?.kind !== "chart") view.pick(targetOf(hit));
    if (event.pointerType === "touch") view.setHover({ kind: "none", x });
  }

  onCancel(event) {
    this.pointers.delete(event.pointerId);
    this.drag = null;
    this.pinch = null;
    this.canvas.classList.remove("dragging", "measuring");
  }

  hover(event, { x, y }) {
    const { view } = this;
    const hit = hitAt(view, x, y);
    const target = targetOf(hit);
    view.setHover({ ...(target ?? { kind: "none" }), x });
    showTooltip(view, hit, event.clientX, event.clientY);
  }

  leave() {
    hideTooltip();
    this.view.setHover(null);
  }

  // Two fingers: what was under each stays below it.

  startPinch() {
    const [a, b] = [...this.pointers.values()];
    const { view } = this;
    this.pinch = { ta: view.time(a.x), tb: view.time(b.x), y: (a.y + b.y) / 2, scroll: view.scroll };
  }

  movePinch() {
    const [a, b] = [...this.pointers.values()];
    if (b === undefined) return;
    const { pinch, view } = this;
    const apart = Math.abs(a.x - b.x) < 12 ? 12 * Math.sign(a.x - b.x || 1) : a.x - b.x;
    const nsPerPx = Math.abs((pinch.ta - pinch.tb) / apart);
    if (nsPerPx > 0) {
      const t0 = (pinch.ta + pinch.tb) / 2 - ((a.x + b.x) / 2) * nsPerPx;
      view.setTimes(t0, t0 + nsPerPx * view.width);
    }
    view.scrollTo(pinch.scroll + pinch.y - (a.y + b.y) / 2);
  }

  listenWheel() {
    this.lanes.addEventListener("wheel", (event) => {
      const { view } = this;
      event.preventDefault();
      hideTooltip();
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? view.height : 1;
      const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
      const { x } = this.place(event);
      // Over the labels, and with shift, the wheel scrolls.
      if ((x < 0 || event.shiftKey) && !event.ctrlKey) {
        view.scrollTo(view.scroll + (dy || dx));
        return;
      }
      if (Math.abs(dx) > Math.abs(dy)) {
        view.pan(dx);
        return;
      }
      const strength = event.ctrlKey ? 1.01 : 1.0018;
      view.zoom(strength ** Math.min(Math.max(dy, -400), 400), Math.min(Math.max(x, 0), view.width));
    }, { passive: false });
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (byId("help").open) return;
    const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (event.key === "Escape") {
      if (!typing) this.actions.clear();
      return;
    }
    if (typing && target.type !== "range") return;
    const isOnLanes = target === this.lanes || target === document.body;
    if (this.anywhere(event.key) || (isOnLanes && (event.shiftKey ? this.withShift(event.key) : this.onLanes(event.key)))) event.preventDefault();
  }

  anywhere(key) {
    const { view } = this;
    const x = view.hover?.x ?? view.width / 2;
    switch (key) {
      case "w": case "+": case "=": view.zoom(KEY_ZOOM, x); return true;
      case "s": case "-": case "_": view.zoom(1 / KEY_ZOOM, x); return true;
      case "a": view.pan(-view.width * KEY_PAN); return true;
      case "d": view.pan(view.width * KEY_PAN); return true;
      case "f": view.fit(); return true;
      case "z": view.back(); return true;
      case "n": this.actions.step(1); return true;
      case "p": this.actions.step(-1); return true;
      case ",": this.actions.follow(-1); return true;
      case ".": this.actions.follow(1); return true;
      case "/": this.actions.search(); return true;
      case "?": this.actions.help(); return true;
      default: return false;
    }
  }

  withShift(key) {
    if (key !== "ArrowRight" && key !== "ArrowLeft") return this.onLanes(key);
    this.range.move(key === "ArrowRight" ? 1 : -1);
    return true;
  }

  onLanes(key) {
    const { view } = this;
    switch (key) {
      case "ArrowRight": this.stepSpan(1); return true;
      case "ArrowLeft": this.stepSpan(-1); return true;
      case "ArrowDown": this.stepLane(1); return true;
      case "ArrowUp": this.stepLane(-1); return true;
      case "PageDown": view.scrollTo(view.scroll + (view.height - view.pinned) * 0.9); return true;
      case "PageUp": view.scrollTo(view.scroll - (view.height - view.pinned) * 0.9); return true;
      case "Home": view.scrollTo(0); return true;
      case "End": view.scrollTo(Infinity); return true;
      case "Enter": this.actions.zoomTo(view.selection); return true;
      case "t": this.selectRow(); return true;
      default: return false;
    }
  }

  /** Selects the whole task or worker of the selected span. */
  selectRow() {
    const { selection, model } = this.view;
    if (selection?.kind !== "span") return;
    const section = model.sections[selection.section];
    this.view.select({ kind: "row", section: section.index, row: section.rowOf(selection.transition) });
  }

  /** Returns where the arrow keys start: the selection's section, lane and time; otherwise the first lane on the screen. */
  cursor() {
    const { view } = this;
    const { selection, model } = view;
    if (selection?.kind === "span" || selection?.kind === "row") {
      const section = model.sections[selection.section];
      const row = selection.kind === "row" ? selection.row : section.rowOf(selection.transition);
      const t = selection.kind === "row" ? Math.max(view.t0, section.rowBegin(row)) : section.time[selection.transition];
      return { section, lane: section.rowLane[row], t, transition: selection.transition ?? null };
    }
    const item = view.layout.items.find(({ kind, y, h }) => kind === "lanes" && view.screenY(y) + h > 0);
    return item === undefined ? null : { section: item.section, lane: item.firstLane, t: view.t0, transition: null };
  }

  /** Selects the next span of the lane, or the previous one. */
  stepSpan(by) {
    if (this.stepStretch(by)) return;
    const at = this.cursor();
    if (at === null) return;
    const { section, lane } = at;
    const [first, end] = [section.laneBegin(lane), section.laneBegin(lane + 1)];
    let i = at.transition === null ? Math.max(first, findTransition(section, lane, at.t)) : at.transition + by;
    while (i >= first && i < end && section.isEnd[section.state[i]] === 1) i += by;
    if (i >= first && i < end) this.choose(section, lane, i);
  }

  /**
   * Selects the next stretch, or the previous one; if nothing is selected, the stretch in the middle of the view if only sums are
   * kept of that. Returns false if it selects no stretch.
   */
  stepStretch(by) {
    const { view } = this;
    const { selection, model } = view;
    const middle = (view.t0 + view.t1) / 2;
    let to = -1;
    if (selection?.kind === "stretch") to = Math.min(Math.max(selection.stretch + by, 0), model.meta.sums.polls.length - 1);
    else if (selection === null && isDropped(model, middle)) to = stretchAt(model, middle);
    if (to < 0) return false;
    this.actions.show({ kind: "stretch", stretch: to });
    return true;
  }

  /** Selects the span at the same time on the next open lane, or the previous one. */
  stepLane(by) {
    if (this.view.selection?.kind === "stretch") return;
    const at = this.cursor();
    if (at === null) return;
    const lanes = this.view.layout.items.filter(({ kind }) => kind === "lanes");
    let index = lanes.findIndex((item) => item.section === at.section && at.lane >= item.firstLane && at.lane < item.endLane);
    if (index < 0) return;
    let lane = at.lane + by;
    const { group, isPeek } = lanes[index];
    // A group that is open around one lane is opened around the next one.
    const [first, end] = isPeek ? [group.firstLane, group.endLane] : [lanes[index].firstLane, lanes[index].endLane];
    if (lane < first || lane >= end) {
      index += by;
      if (lanes[index] === undefined) return;
      lane = by > 0 ? lanes[index].firstLane : lanes[index].endLane - 1;
    }
    const { section } = lanes[index];
    const i = Math.max(section.laneBegin(lane), findTransition(section, lane, at.t));
    this.choose(section, lane, section.isEnd[section.state[i]] === 1 && i > section.laneBegin(lane) ? i - 1 : i);
  }

  choose(section, lane, transition) {
    const { view } = this;
    view.pick({ kind: "span", section: section.index, transition });
    view.showLane(section, lane);
    const [from, to] = [section.time[transition], section.endOf(transition)];
    if (to < view.t0 || from > view.t1) {
      const half = (view.t1 - view.t0) / 2;
      view.setTimes(from - half, from + half);
    }
  }
}
