// Paints frames, and measures the page.

import { formatNs } from "../format/numbers.js";
import { drawAxis } from "../draw/axis.js";
import { ChartData } from "../draw/charts/data.js";
import { drawOverlay } from "../draw/overlay.js";
import { LanePainter } from "../draw/paint.js";
import { Stacks } from "../draw/stack.js";
import { byId } from "./dom.js";
import { Gutter } from "./gutter.js";
import { statusText } from "./legend.js";
import { Minimap } from "./minimap.js";

/** The most frame times that are kept for measurements. */
const MOST_FRAMES = 2000;
/** The least number of pixels per px on paper. */
const PRINTED_RATIO = 2;

export class Frame {
  /** `frameTimes` receives how long each frame with new lanes took, in ms. */
  constructor(view, frameTimes) {
    const stacks = new Stacks(view, () => view.touch("lanes"));
    this.view = view;
    this.times = frameTimes;
    view.chartData = new ChartData(view, stacks);
    view.on("states", () => { stacks.forget(); view.chartData.forget(); });
    this.painter = new LanePainter(view, stacks, byId("lanes-canvas"));
    this.minimap = new Minimap(view, stacks);
    this.gutter = new Gutter(view, stacks);
    this.scrollbar = byId("scrollbar");
    this.scrollbar.addEventListener("scroll", () => {
      if (this.isScrolled()) view.scrollTo(this.scrollbar.scrollTop);
    });
    /** Draws the critical path of what is selected. @type {import("./path_lane.js").PathLane|null} */
    this.pathLane = null;
    /** Whether to draw the labels even if no lane is drawn. */
    this.labels = true;
    view.on("selected", () => { this.labels = true; });
    view.paintWith((lanes) => this.paint(lanes));
  }

  /** Returns whether the scrollbar and the view differ. */
  isScrolled() {
    return Math.abs(this.scrollbar.scrollTop - this.view.scroll) > 1;
  }

  paint(lanes) {
    const { view } = this;
    const from = performance.now();
    if (lanes) {
      this.painter.paint(drawAxis(view, byId("axis")));
      this.pathLane?.draw();
    }
    drawOverlay(view, byId("overlay"));
    if (lanes || this.labels) this.paintLabels();
    if (lanes && this.times.push(performance.now() - from) > MOST_FRAMES) this.times.shift();
  }

  paintLabels() {
    const { view } = this;
    this.minimap.draw();
    this.gutter.draw();
    byId("spacer").style.height = `${view.layout.height}px`;
    if (this.isScrolled()) this.scrollbar.scrollTop = view.scroll;
    byId("scale").textContent = `${formatNs(view.t1 - view.t0)} in view`;
    byId("back").disabled = view.past.length === 0;
    byId("status").textContent = statusText(view);
    this.labels = false;
  }

  /** Measures the page, and updates the view. */
  measure() {
    const lanes = byId("lanes");
    const styles = getComputedStyle(document.documentElement);
    const gutter = parseFloat(styles.getPropertyValue("--gutter")) || 0;
    const width = Math.max(20, lanes.clientWidth - gutter - (parseFloat(styles.getPropertyValue("--bar")) || 0));
    const height = Math.max(20, lanes.clientHeight);
    for (const id of ["lanes-canvas", "overlay"]) {
      byId(id).style.width = `${width}px`;
      byId(id).style.height = `${height}px`;
    }
    this.gutter.reset();
    this.view.resize({ gutter, width, height, ratio: Math.min(3, Math.max(window.devicePixelRatio || 1, this.view.isPrinted ? PRINTED_RATIO : 0)) });
  }

  /** Measures again whenever the page's size changes. Paints at once, because the frame in between would have no labels. */
  followSize() {
    new ResizeObserver(() => {
      this.measure();
      this.view.paintNow();
    }).observe(byId("lanes"));
  }
}
