import { formatMoment } from "../format/numbers.js";
import { droppedWithin, stretchAt, sumColumns } from "../model/sums.js";
import { taskSection } from "../model/worker_polls.js";
import { sizeCanvas } from "../draw/canvas.js";
import { drawStack, stackOrder } from "../draw/stack.js";
import { drawStrips } from "../draw/sums.js";
import { byId } from "./dom.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

// The minimap: the whole run, with a window that marks the view.

/** The distance in px up to which a press takes hold of an edge of the window. */
const EDGE = 5;

/** Returns the section that the minimap shows: the tasks, or the first one that isn't empty. */
const minimapSection = (model) =>
  [taskSection(model), ...model.sections].find((section) => section !== null && section.nLanes > 0) ?? null;

const busyStates = (section) =>
  stackOrder(section).filter((state) => ["running", "ready", "spawned"].includes(section.states[state].role));

export class Minimap {
  constructor(view, stacks) {
    this.view = view;
    this.stacks = stacks;
    this.canvas = byId("minimap");
    this.section = minimapSection(view.model);
    this.strips = null;
    this.hasSums = Boolean(view.model.meta.sums);
    byId("minimap-row").classList.toggle("summed", this.hasSums);
    const prepare = () => { if (this.section !== null && !this.hasSums) stacks.prepareSum(this.section); };
    prepare();
    view.on("states", prepare);
    this.held = null;
    if (this.section !== null && !this.hasSums && busyStates(this.section).length > 0) {
      this.canvas.title = "Grey: the number of tasks. In front, with a scale of its own: the number of running and ready tasks.";
    }
    this.listen();
  }

  x(t) {
    return (t / this.view.model.lengthNs) * this.view.width;
  }

  time(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    return (x / this.view.width) * this.view.model.lengthNs;
  }

  draw() {
    const { view, canvas } = this;
    const height = canvas.clientHeight;
    const context = sizeCanvas(canvas, view.width, height, view.ratio);
    context.clearRect(0, 0, view.width, height);
    const length = view.model.lengthNs;
    const sum = this.section && this.stacks.sum(this.section);
    if (this.hasSums) drawStrips(view, context, height, this.columns());
    else if (sum) {
      const place = { t0: 0, t1: length, left: 0, width: view.width, top: 5, height: height - 5 };
      const colours = view.colours.sections[this.section.index];
      const data = { t0: 0, t1: length, ...sum };
      // Nearly all tasks are waiting nearly always, so busy tasks are drawn in front, with a scale of their own.
      const busy = busyStates(this.section);
      drawStack(context, data, this.section, colours, place);
      if (busy.length > 0) drawStack(context, data, this.section, colours, { ...place, top: 12, height: height - 12 }, busy);
    }
    this.drawMarks(context, height);
    const [x0, x1] = [this.x(view.t0), this.x(view.t1)];
    context.fillStyle = view.colours.raised.css;
    context.globalAlpha = 0.72;
    context.fillRect(0, 0, x0, height);
    context.fillRect(x1, 0, view.width - x1, height);
    context.globalAlpha = 1;
    context.strokeStyle = view.colours.focus.css;
    context.lineWidth = 1.5;
    const wide = Math.max(4, x1 - x0);
    const left = Math.min(Math.max((x0 + x1 - wide) / 2, 0.75), view.width - wide);
    context.strokeRect(left, 0.75, Math.min(wide, view.width - left - 0.75), height - 1.5);
    const share = length > 0 ? Math.round((view.t0 / length) * 100) : 0;
    canvas.setAttribute("aria-valuenow", String(share));
    canvas.setAttribute("aria-valuetext", `${formatMoment(view.t0)} to ${formatMoment(view.t1)} of ${formatMoment(length)}${this.detailText()}`);
  }

  /** Returns the run's sums as columns, which only depend on the width. */
  columns() {
    const { model, width } = this.view;
    const pixels = Math.max(1, Math.ceil(width));
    if (this.strips?.share.length !== pixels) this.strips = sumColumns(model, 0, model.lengthNs, pixels);
    return this.strips;
  }

  /** Says how much of the view is kept in detail, if not all. */
  detailText() {
    const { t0, t1, model } = this.view;
    const dropped = droppedWithin(model, t0, t1).reduce((sum, [from, to]) => sum + to - from, 0);
    if (dropped === 0) return "";
    return dropped >= (t1 - t0) * 0.999 ? ", sums only" : ", partly in detail";
  }

  /** Describes the stretch under the pointer. */
  explain(event) {
    const stretch = this.hasSums ? stretchAt(this.view.model, this.time(event)) : -1;
    if (stretch >= 0) showTooltip(this.view, { kind: "stretch", stretch }, event.clientX, event.clientY);
  }

  /** Marks the worst polls and the selection. */
  drawMarks(context, height) {
    const { view } = this;
    context.fillStyle = view.colours.accent.css;
    for (const poll of (view.issues?.polls ?? []).slice(0, 20)) {
      if (poll.held <= view.threshold) continue;
      const x = this.x(poll.start);
      context.fillRect(Math.round(x) - 0.5, 0, Math.max(1.5, this.x(poll.end) - x), 4);
    }
    const { selection } = view;
    if (selection?.kind !== "span") return;
    const section = view.model.sections[selection.section];
    const x = this.x(section.time[selection.transition]);
    const width = Math.max(2, this.x(section.endOf(selection.transition)) - x);
    context.fillStyle = view.colours.select.css;
    context.globalAlpha = 0.16;
    context.fillRect(x, 0, width, height);
    context.globalAlpha = 1;
    context.fillRect(x, 0, width, 4);
  }

  /** Returns what a press takes hold of: an edge of the window, the window, or nothing of it. */
  part(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    const [x0, x1] = [this.x(this.view.t0), this.x(this.view.t1)];
    if (x1 - x0 > 4 * EDGE && Math.abs(x - x0) <= EDGE) return "left";
    if (x1 - x0 > 4 * EDGE && Math.abs(x - x1) <= EDGE) return "right";
    const isWhole = this.view.t0 <= 0 && this.view.t1 >= this.view.model.lengthNs;
    return x >= x0 - EDGE && x <= x1 + EDGE && !isWhole ? "window" : "rest";
  }

  listen() {
    const { canvas, view } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      const t = this.time(event);
      const isWhole = view.t0 <= 0 && view.t1 >= view.model.lengthNs;
      let part = this.part(event);
      if (part === "rest" && !isWhole) {
        // A press beside the window moves it there.
        const half = (view.t1 - view.t0) / 2;
        view.setTimes(t - half, t + half);
        part = "window";
      }
      this.held = { part, from: t, t0: view.t0, t1: view.t1 };
      hideTooltip();
    });
    canvas.addEventListener("pointerleave", () => hideTooltip());
    canvas.addEventListener("pointermove", (event) => {
      if (this.held === null) {
        canvas.style.cursor = { left: "ew-resize", right: "ew-resize", window: "grab", rest: "crosshair" }[this.part(event)];
        if (event.pointerType !== "touch") this.explain(event);
        return;
      }
      const { part, from, t0, t1 } = this.held;
      const t = this.time(event);
      const length = view.model.lengthNs;
      if (part === "left") view.setTimes(Math.min(t, t1 - 1), t1);
      else if (part === "right") view.setTimes(t0, Math.max(t, t0 + 1));
      else if (part === "window") {
        const by = Math.min(Math.max(t - from, -t0), length - t1);
        view.setTimes(t0 + by, t1 + by);
      } else if (Math.abs(t - from) > length / 200) {
        view.setTimes(Math.max(0, Math.min(t, from)), Math.min(length, Math.max(t, from)));
      }
    });
    const end = () => { this.held = null; };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      view.zoom(1.0018 ** Math.max(-300, Math.min(300, event.deltaY)), view.x(Math.min(Math.max(this.time(event), view.t0), view.t1)));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft") view.pan(-view.width / 10);
      else if (event.key === "ArrowRight") view.pan(view.width / 10);
      else if (event.key === "ArrowUp") view.zoom(0.8, view.width / 2);
      else if (event.key === "ArrowDown") view.zoom(1.25, view.width / 2);
      else if (event.key === "Home") view.pan(-Infinity);
      else if (event.key === "End") view.pan(Infinity);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}
