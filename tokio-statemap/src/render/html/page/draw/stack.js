import { isEndRole } from "../data/section.js";
import { groupBins, laneBinsWindow } from "./bins.js";

// Folded groups and the minimap: a stacked area of how a group's lanes share their time among the states. Long computations
// run between frames; a coarse picture is shown until they are done.

/** The bins over the whole length, for the minimap, and for a folded group until it is refined. */
const OVERVIEW_BINS = 512;
/** The time for work between two frames, in ms. */
const SLICE_MS = 6;
/** The number of changes up to which a section is summed up at once. */
const FEW_CHANGES = 50000;

export class Stacks {
  /** Calls `onReady` whenever a picture got better. */
  constructor(view, onReady) {
    this.view = view;
    this.onReady = onReady;
    this.overviews = view.model.sections.map((section) => new Array(section.groups.length).fill(null));
    this.sums = view.model.sections.map(() => null);
    this.windows = new Map();
    this.queue = [];
    this.running = false;
  }

  /** Discards all results, because the states of a section have changed. */
  forget() {
    for (const [index, section] of this.view.model.sections.entries()) this.overviews[index] = new Array(section.groups.length).fill(null);
    this.sums.fill(null);
    this.windows.clear();
    this.queue.length = 0;
  }

  /** Returns the bins of a group over the whole length, which are computed at once if necessary. */
  overview(section, group) {
    return (this.overviews[section.index][group.index] ??= groupBins(section, group.index, OVERVIEW_BINS));
  }

  /** Returns the sum of all groups of a section over the whole length; null until it is known. */
  sum(section) {
    return this.sums[section.index];
  }

  /** Computes the sum of a section's groups between frames. */
  prepareSum(section) {
    if (this.sums[section.index] !== null) return;
    this.enqueue(`sum ${section.index}`, this.sumUp(section));
  }

  * sumUp(section) {
    const shares = new Float64Array(OVERVIEW_BINS * section.states.length);
    for (const group of section.groups) {
      const part = this.overview(section, group).shares;
      for (let i = 0; i < shares.length; i++) shares[i] += part[i];
      yield;
    }
    this.sums[section.index] = { bins: OVERVIEW_BINS, shares };
  }

  /** Returns what to draw of a folded group in the view: `{t0, t1, bins, shares}`. */
  window(section, group, bins) {
    const length = this.view.model.lengthNs;
    const key = `${section.index}.${group.index}`;
    const known = this.refined(key, section, group, bins);
    return known ?? { t0: 0, t1: length, ...this.overview(section, group) };
  }

  /** Returns the same for all lanes of a section; null until anything is known. */
  whole(section, bins) {
    const length = this.view.model.lengthNs;
    const lanes = { firstLane: 0, endLane: section.nLanes };
    if (section.nTransitions <= FEW_CHANGES) return this.atOnce(section, lanes, bins);
    const sum = this.sum(section);
    const overview = sum === null ? null : { t0: 0, t1: length, ...sum };
    // The sum of the whole run has enough bins.
    if (overview !== null && this.view.t1 - this.view.t0 >= length) return overview;
    return this.refined(`whole ${section.index}`, section, lanes, bins) ?? overview;
  }

  atOnce(section, { firstLane, endLane }, bins) {
    const { t0, t1 } = this.view;
    const key = `whole ${section.index}`;
    const known = this.windows.get(key);
    if (known && known.t0 === t0 && known.t1 === t1 && known.bins === bins) return known;
    const { value } = laneBinsWindow(section, firstLane, endLane, t0, t1, bins, Infinity).next();
    this.windows.set(key, value);
    return value;
  }

  /** Returns what is known of these lanes in the view, and has the exact bins computed. */
  refined(key, section, lanes, bins) {
    const { t0, t1 } = this.view;
    const known = this.windows.get(key);
    if (known && known.t0 === t0 && known.t1 === t1 && known.bins === bins) return known;
    this.enqueue(key, this.refine(key, section, lanes, t0, t1, bins), `${t0} ${t1} ${bins}`);
    // The last exact picture is better than the overview while it covers the view.
    const isOfUse = known && known.t0 <= t0 && known.t1 >= t1 && known.t1 - known.t0 < this.view.model.lengthNs / 2;
    return isOfUse ? known : null;
  }

  * refine(key, section, { firstLane, endLane }, t0, t1, bins) {
    const steps = laneBinsWindow(section, firstLane, endLane, t0, t1, bins);
    for (;;) {
      // The view has moved on, so this is of no use any more.
      if (this.view.t0 !== t0 || this.view.t1 !== t1) return;
      const step = steps.next();
      if (step.done) {
        this.windows.set(key, { t0, t1, bins: step.value.bins, shares: step.value.shares });
        return;
      }
      yield;
    }
  }

  /** Does `work` between frames, instead of other work for `key`. The same work continues. */
  enqueue(key, work, of = "") {
    const waiting = this.queue.findIndex((job) => job.key === key);
    if (waiting >= 0 && this.queue[waiting].of === of) return;
    if (waiting >= 0) this.queue.splice(waiting, 1);
    this.queue.push({ key, work, of });
    if (!this.running) {
      this.running = true;
      setTimeout(() => this.slice(), 30);
    }
  }

  slice() {
    const until = performance.now() + SLICE_MS;
    let ready = false;
    while (this.queue.length > 0 && performance.now() < until) {
      const job = this.queue[0];
      if (job.work.next().done) {
        const at = this.queue.indexOf(job);
        if (at >= 0) this.queue.splice(at, 1);
        ready = true;
      }
    }
    this.running = this.queue.length > 0;
    if (this.running) setTimeout(() => this.slice(), 0);
    if (ready) this.onReady();
  }
}

/**
 * The order in which states are stacked, from the bottom: the important ones are on the base line. A state that isn't
 * listed counts as `other`.
 */
const STACK_ORDER = ["running", "blocking", "awake", "ready", "spawned", "other", "waiting", "parked"];

/** Returns the states of a section in the order in which they are stacked, without blank ones. */
export const stackOrder = (section) =>
  section.states
    .map(({ role }, index) => ({ index, role, rank: STACK_ORDER.indexOf(STACK_ORDER.includes(role) ? role : "other") }))
    .filter(({ role }) => !isEndRole(role))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ index }) => index);

/**
 * Draws a stacked area over `width` px from `left`: the view's part of `data` (`{t0, t1, bins, shares}`), with the states
 * of `order`. The height stands for the most that the group ever had at once.
 */
export const drawStack = (context, data, section, colours, { t0, t1, left, width, top, height }, order = stackOrder(section)) => {
  const { bins, shares } = data;
  const states = section.states.length;
  const perBin = (data.t1 - data.t0) / bins;
  let most = 0;
  for (let bin = 0; bin < bins; bin++) {
    let sum = 0;
    for (const state of order) sum += shares[bin * states + state];
    if (sum > most) most = sum;
  }
  if (most <= 0) return;
  const first = Math.max(0, Math.floor((t0 - data.t0) / perBin));
  const last = Math.min(bins, Math.ceil((t1 - data.t0) / perBin));
  const n = Math.max(0, last - first);
  const base = new Float64Array(n), low = new Float64Array(n), xs = new Float64Array(n + 1);
  for (let k = 0; k <= n; k++) xs[k] = left + ((data.t0 + (first + k) * perBin - t0) / (t1 - t0)) * width;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  for (const state of order) {
    const colour = colours[state];
    if (colour.blank) continue;
    let any = false;
    for (let bin = first; bin < last && !any; bin++) any = shares[bin * states + state] > 0;
    if (!any) continue;
    context.fillStyle = colour.css;
    context.beginPath();
    for (let k = 0; k < n; k++) {
      const share = shares[(first + k) * states + state];
      // Any share above 0 is visible. If there is no room left, it is in front of what is below it.
      const from = share > 0 ? Math.min(base[k], height - 1) : base[k];
      if (share > 0) base[k] = Math.min(height, from + Math.max(1, (share / most) * height));
      low[k] = top + height - from;
      const y = top + height - base[k];
      if (k === 0) context.moveTo(xs[k], y);
      else context.lineTo(xs[k], y);
      context.lineTo(xs[k + 1], y);
    }
    for (let k = n - 1; k >= 0; k--) {
      context.lineTo(xs[k + 1], low[k]);
      context.lineTo(xs[k], low[k]);
    }
    context.closePath();
    context.fill();
  }
  context.restore();
};
