import { partKey } from "./charts.js";
import { addCounts, fillFromSums, knownOf, leaveOutRoots, longest, occupancy, queued } from "./series.js";
import { countScale, shareScale, timeScale } from "./scale.js";

// The values of the charts in the view: computed when they are drawn, and kept until the view changes.

/** The width of a bin, in px. */
const BIN_PX = 2;

/**
 * @typedef {{
 *   t0: number, t1: number, bins: number, known: Uint8Array, values: Float64Array|null, front: Float64Array|null,
 *   scale: import("./scale.js").Scale,
 * }} Chart `known`: see `knownOf`; `values`: null while they are being counted; `front`: values that are drawn in front
 */

const mostOf = (values) => {
  let most = 0;
  // NaN is no larger than anything.
  for (const value of values) if (value > most) most = value;
  return most;
};

export class ChartData {
  constructor(view, stacks) {
    this.view = view;
    this.stacks = stacks;
    this.kept = new Map();
    this.prepare();
  }

  prepare() {
    for (const section of this.view.model.sections) if (section.kind === "tasks") this.stacks.prepareSum(section);
  }

  /** Discards all values, because the states of a section have changed. */
  forget() {
    this.kept.clear();
    this.prepare();
  }

  /**
   * Returns a chart of the view.
   * @param {string} key
   * @returns {Chart}
   */
  of(key) {
    const { t0, t1, width } = this.view;
    const window = { t0, t1, bins: Math.max(1, Math.round(width / BIN_PX)) };
    const data = this.dataOf(key, window.bins);
    const kept = this.kept.get(key);
    const isSame = kept && kept.t0 === t0 && kept.t1 === t1 && kept.bins === window.bins && kept.data.every((of, k) => of === data[k]);
    if (isSame) return kept;
    const chart = { ...window, data, ...this.compute(key, window, data) };
    this.kept.set(key, chart);
    return chart;
  }

  /** Returns the sections whose lanes a chart counts. */
  sectionsOf(key) {
    const { kind: chart, run } = partKey(this.view.model, key);
    const kind = { ready: "tasks", alive: "tasks", blocking: "blocking" }[chart];
    return this.view.model.sections.filter((section) => section.run === run && section.kind === kind && section.nLanes > 0);
  }

  dataOf(key, bins) {
    return this.sectionsOf(key).map((section) => this.stacks.whole(section, bins));
  }

  compute(key, window, data) {
    const { model } = this.view;
    const { kind, run } = partKey(model, key);
    const known = knownOf(model, window);
    if (data.includes(null)) return { known, values: null, front: null, scale: countScale(1) };
    const values = this.values(key, window, data);
    if (model.meta.sums && ["occupancy", "longest", "alive"].includes(kind)) fillFromSums(model, kind, window, known, values);
    const { queue } = model.runs[run];
    const front = kind === "blocking" && queue ? queued(queue, window) : null;
    const most = Math.max(mostOf(values), front === null ? 0 : mostOf(front));
    const scale = kind === "occupancy" ? shareScale() : kind === "longest" ? timeScale(most) : countScale(most);
    return { known, values, front, scale };
  }

  values(key, window, data) {
    const { model } = this.view;
    const { kind, run } = partKey(model, key);
    const polls = model.workerPolls.find(({ tasks }) => tasks.run === run);
    if (kind === "occupancy") return occupancy(polls, window);
    if (kind === "longest") return longest(polls, window);
    const counts = new Float64Array(window.bins);
    this.sectionsOf(key).forEach((section, k) => {
      const isWanted = kind === "ready" ? section.isReady : section.isEnd.map((isEnd) => 1 - isEnd);
      addCounts(section, data[k], isWanted, window, counts);
      if (kind === "alive") leaveOutRoots(section, window, counts);
    });
    return counts;
  }

  /** Returns the bin of a chart at a position of the plot. */
  binAt(chart, x) {
    return Math.min(chart.bins - 1, Math.max(0, Math.floor((x / this.view.width) * chart.bins)));
  }
}
