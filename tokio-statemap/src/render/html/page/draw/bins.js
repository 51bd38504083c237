// Counts how many lanes of a group were in each state over time, in bins: for the row of a folded group.

import { lastNotAfter } from "../data/section.js";
import { findTransition } from "../model/lanes.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{t0: number, t1: number, bins: number, shares: Float64Array}} Bins `shares[bin * states + state]` is the time that the
 *   group's lanes together spent in that state within that bin, in ns
 */

/** The number of transitions, and of lanes, between two looks at the clock. */
const STEPS_AT_ONCE = 1 << 15, LANES_AT_ONCE = 256;

/**
 * Computes the bins of a group over the whole length, in one pass over its transitions.
 * @param {Section} section
 * @param {number} group
 * @param {number} bins how many
 * @returns {Bins}
 */
export function groupBins(section, group, bins) {
  return groupBinsWindow(section, group, 0, section.lengthNs, bins, Infinity).next().value;
}

/**
 * Computes the bins of a group within a window. The generator yields its progress (0 to 1) about every `sliceMs`, so that frames can
 * be drawn in between, and returns the bins.
 * @param {Section} section
 * @param {number} group
 * @param {number} t0
 * @param {number} t1
 * @param {number} bins how many
 * @param {number} [sliceMs]
 * @returns {Generator<number, Bins>}
 */
export function* groupBinsWindow(section, group, t0, t1, bins, sliceMs = 4) {
  const { firstLane, endLane } = section.groups[group];
  return yield* laneBinsWindow(section, firstLane, endLane, t0, t1, bins, sliceMs);
}

/**
 * Computes the bins of the lanes from `firstLane` to before `endLane`.
 * @param {Section} section
 * @param {number} firstLane
 * @param {number} endLane
 * @param {number} t0
 * @param {number} t1
 * @param {number} bins how many
 * @param {number} [sliceMs]
 * @returns {Generator<number, Bins>}
 */
export function* laneBinsWindow(section, firstLane, endLane, t0, t1, bins, sliceMs = 4) {
  const { time, state } = section;
  const until = Math.min(t1, section.lengthNs);
  const steps = new BinSteps(t0, t1, bins, section.states.length);
  let sliceEnd = performance.now() + sliceMs;
  for (let lane = firstLane; lane < endLane; lane++) {
    const end = section.laneBegin(lane + 1);
    let i = Math.max(findTransition(section, lane, t0), section.laneBegin(lane));
    if (i < end && time[i] < until) {
      steps.step(Math.max(time[i], t0), state[i], 1);
      const stop = lastNotAfter(time, i, end, until) + 1;
      while (i + 1 < stop) {
        const to = Math.min(stop, i + 1 + STEPS_AT_ONCE);
        steps.walk(time, state, i + 1, to);
        i = to - 1;
        if (i + 1 < stop && performance.now() >= sliceEnd) {
          yield (lane - firstLane) / (endLane - firstLane);
          sliceEnd = performance.now() + sliceMs;
        }
      }
      if (until < t1) steps.step(until, state[i], -1);
    }
    if (lane % LANES_AT_ONCE === 0 && performance.now() >= sliceEnd) {
      yield (lane - firstLane) / (endLane - firstLane);
      sliceEnd = performance.now() + sliceMs;
    }
  }
  return { t0, t1, bins, shares: steps.finish() };
}

/**
 * Sums up the lanes that enter and leave states. Each transition adds or subtracts the rest of its bin, and one lane for all bins
 * behind it. So the cost of a span does not depend on the number of bins that it covers.
 */
class BinSteps {
  constructor(t0, t1, bins, nStates) {
    this.t0 = t0;
    this.bins = bins;
    this.nStates = nStates;
    this.width = (t1 - t0) / bins;
    this.scale = t1 > t0 ? bins / (t1 - t0) : 0;
    this.shares = new Float64Array(bins * nStates);
    this.lanes = new Float64Array((bins + 1) * nStates);
  }

  /** Lets a lane enter a state (`sign` 1) or leave it (−1). */
  step(t, state, sign) {
    const { t0, scale, width, bins, nStates, shares, lanes } = this;
    const bin = Math.min(bins - 1, Math.floor((t - t0) * scale));
    const at = bin * nStates + state;
    shares[at] += sign * ((bin + 1) * width - (t - t0));
    lanes[at + nStates] += sign;
  }

  /** Lets a lane go through the transitions `from..to`. */
  walk(time, state, from, to) {
    const { t0, scale, width, nStates, shares, lanes } = this;
    const last = this.bins - 1;
    let before = state[from - 1];
    for (let i = from; i < to; i++) {
      const t = time[i] - t0;
      const now = state[i];
      let bin = Math.floor(t * scale);
      if (bin > last) bin = last;
      const at = bin * nStates;
      const left = (bin + 1) * width - t;
      shares[at + before] -= left;
      shares[at + now] += left;
      lanes[at + nStates + before] -= 1;
      lanes[at + nStates + now] += 1;
      before = now;
    }
  }

  finish() {
    const { bins, nStates, width, shares, lanes } = this;
    for (let s = 0; s < nStates; s++) {
      let sum = 0;
      for (let bin = 0, at = s; bin < bins; bin++, at += nStates) {
        sum += lanes[at];
        const share = shares[at] + sum * width;
        // Smaller values are rounding errors.
        shares[at] = share > 1e-3 ? share : 0;
      }
    }
    return shares;
  }
}
