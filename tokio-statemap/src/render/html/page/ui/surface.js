import { sectionTotals } from "../model/lanes.js";
import { chartText } from "../draw/charts/draw.js";
import { byId } from "./dom.js";

/**
 * The interface for tests and scripts, as `window.statemap`. `ready` resolves with the first whole picture (and is rejected
 * if the data can't be read), `settled` once issues and totals are counted, too; `totals(t0, t1)` are exact ns by state for
 * each section; `frameTimes` is in ms.
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

  /** Sets the function that counts the legend's totals. */
  countWith(count) {
    this.count = count;
  }

  /** Resolves `settled`: issues and totals are counted. */
  finish() {
    this.count();
    this.settle();
  }

  get view() {
    return { t0: this.shown.t0, t1: this.shown.t1 };
  }

  /** Shows a time, and counts the legend's totals at once. */
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

  /** Returns the value of a chart at a position of the plot, in px from its left edge. */
  chartText(key, x) {
    return chartText(this.shown, key, x);
  }

  /** Returns the place of a row on the screen: `{x0, x1, y, h, visible}` in client px; null if it is filtered out. */
  placeOf(section, row) {
    const of = this.model.sections[section];
    const place = this.shown.placeOf(of, of.rowLane[row]);
    if (place === null) return null;
    const box = byId("overlay").getBoundingClientRect();
    const [x0, x1] = [this.shown.x(of.rowBegin(row)), this.shown.x(of.rowEnd(row))];
    return { x0: box.left + x0, x1: box.left + x1, y: box.top + place.top, h: place.h, visible: place.visible };
  }
}
