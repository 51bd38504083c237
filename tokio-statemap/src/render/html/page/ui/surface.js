import { sectionTotals } from "../model/lanes.js";
import { chartText } from "../draw/charts/draw.js";
import { byId } from "./dom.js";

/**
 * What tests and scripts may use, as `window.statemap`: `ready` resolves with the first whole picture
 * (and is rejected if the data can't be read), `settled` once issues and totals are counted too;
 * `totals(t0, t1)` are ns by state for each section, exact; `frameTimes` in ms.
 */
export class Surface {
  constructor() {
    this.model = null;
    this.frameTimes = [];
    this.shown = null;
    this.ready = null;
    this.count = null;
    this.settle = null;
    this.settled = new Promise((resolve) => { this.settle = resolve; });
  }

  /** Opens the page with `open(surface)`, which resolves with the first whole picture. */
  open(open) {
    this.ready = open(this);
    return this.ready;
  }

  attach(view) {
    this.model = view.model;
    this.shown = view;
  }

  /** Counts the legend's totals with `count`. */
  countWith(count) {
    this.count = count;
  }

  /** Issues and totals are there now. */
  finish() {
    this.count();
    this.settle();
  }

  get view() {
    return { t0: this.shown.t0, t1: this.shown.t1 };
  }

  /** Shows that time, and counts at once what the legend says of it. */
  setView(t0, t1) {
    this.shown.setTimes(t0, t1);
    this.count();
  }

  totals(t0, t1) {
    return this.model.sections.map((section) => sectionTotals(section, t0, t1, null));
  }

  selection() {
    return this.shown.selection;
  }

  filter() {
    return this.shown.filter;
  }

  threshold() {
    return this.shown.threshold;
  }

  folded() {
    return [...this.shown.folded];
  }

  /** What a chart says at a place of the plot, px from its left edge. */
  chartText(key, x) {
    return chartText(this.shown, key, x);
  }

  /** Where a row is on the screen: `{x0, x1, y, h, visible}` in client px; null if it is filtered out. */
  placeOf(section, row) {
    const of = this.model.sections[section];
    const place = this.shown.placeOf(of, of.rowLane[row]);
    if (place === null) return null;
    const box = byId("overlay").getBoundingClientRect();
    const [x0, x1] = [this.shown.x(of.rowBegin(row)), this.shown.x(of.rowEnd(row))];
    return { x0: box.left + x0, x1: box.left + x1, y: box.top + place.top, h: place.h, visible: place.visible };
  }
}
