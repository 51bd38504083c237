import { isEndRole } from "../data/section.js";
import { groupBins, groupBinsWindow } from "./bins.js";

// Folded groups and the minimap: how a group's lanes share their time among the states, drawn as a
// stacked area. What takes long is computed between frames; until then a coarse picture stands in.

/** Bins over the whole length: what the minimap shows, and a folded group until it is refined. */
const OVERVIEW_BINS = 512;
/** How long the work between two frames may take, in ms. */
const SLICE_MS = 6;

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

  /** Forgets all that was computed: the states of a section have changed. */
  forget() {
    for (const [index, section] of this.view.model.sections.entries()) this.overviews[index] = new Array(section.groups.length).fill(null);
    this.sums.fill(null);
    this.windows.clear();
    this.queue.length = 0;
  }

  /** The group over the whole length; computed at once if it wasn't yet. */
  overview(section, group) {
    return (this.overviews[section.index][group.index] ??= groupBins(section, group.index, OVERVIEW_BINS));
  }

  /** The sum of all groups of a section over the whole length; null until it is known. */
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

  /** What to draw of a folded group in the view: `{t0, t1, bins, shares}`. */
  window(section, group, bins) {
    const { t0, t1 } = this.view;
    const length = this.view.model.lengthNs;
    const key = `${section.index}.${group.index}`;
    const known = this.windows.get(key);
    if (known && known.t0 === t0 && known.t1 === t1 && known.bins === bins) return known;
    this.enqueue(key, this.refine(key, section, group, t0, t1, bins));
    // The last exact picture is better than the overview as long as it covers the view.
    if (known && known.t0 <= t0 && known.t1 >= t1 && known.t1 - known.t0 < length / 2) return known;
    return { t0: 0, t1: length, ...this.overview(section, group) };
  }

  * refine(key, section, group, t0, t1, bins) {
    const steps = groupBinsWindow(section, group.index, t0, t1, bins);
    for (;;) {
      // The view has moved on: what is half done is of no use any more.
      if (this.view.t0 !== t0 || this.view.t1 !== t1) return;
      const step = steps.next();
      if (step.done) {
        this.windows.set(key, { t0, t1, bins: step.value.bins, shares: step.value.shares });
        return;
      }
      yield;
    }
  }

  enqueue(key, work) {
    const waiting = this.queue.findIndex((job) => job.key === key);
    if (waiting >= 0) this.queue.splice(waiting, 1);
    this.queue.push({ key, work });
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
 * In which order states are stacked, from the bottom: what matters stands on the base line. A state that isn't named
 * here is stacked as `other`.
 */
const STACK_ORDER = ["running", "blocking", "awake", "ready", "spawned", "other", "waiting", "parked"];

/** The states of a section in the order in which they are stacked; those that are blank are left out. */
export const stackOrder = (section) =>
  section.states
    .map(({ role }, index) => ({ index, role, rank: STACK_ORDER.indexOf(STACK_ORDER.includes(role) ? role : "other") }))
    .filter(({ role }) => !isEndRole(role))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ index }) => index);

/**
 * Draws a stacked area over `width` px from `left`: `data` is `{t0, t1, bins, shares}`, the view's
 * part of it is drawn, of `order` only those states. As high as the most that the group ever had at once.
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
  const x = (bin) => left + ((data.t0 + bin * perBin - t0) / (t1 - t0)) * width;
  const base = new Float64Array(Math.max(0, last - first));
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  for (const state of order) {
    const colour = colours[state];
    if (colour.blank) continue;
    context.fillStyle = colour.css;
    context.beginPath();
    let any = false;
    const low = [];
    for (let bin = first; bin < last; bin++) {
      const share = shares[bin * states + state];
      if (share > 0) any = true;
      const from = base[bin - first];
      const to = from + share;
      base[bin - first] = to;
      const y = top + height - (to / most) * height;
      const [x0, x1] = [x(bin), x(bin + 1)];
      if (bin === first) context.moveTo(x0, y);
      else context.lineTo(x0, y);
      context.lineTo(x1, y);
      low.push(x0, x1, top + height - (from / most) * height);
    }
    for (let i = low.length - 3; i >= 0; i -= 3) {
      context.lineTo(low[i + 1], low[i + 2]);
      context.lineTo(low[i], low[i + 2]);
    }
    context.closePath();
    if (any) context.fill();
  }
  context.restore();
};
