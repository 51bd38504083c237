// Computes the values of charts for equal bins of a time, from the sums that the lanes are drawn from.

import { lastNotAfter } from "../../data/section.js";
import { heldNs } from "../../model/polls.js";
import { sumColumns, stretchAt } from "../../model/sums.js";
import { heldColumns, lastPollBefore } from "../worker_lane.js";

/**
 * @typedef {import("../../data/decode.js").Model} Model
 * @typedef {import("../../data/section.js").Section} Section
 * @typedef {{t0: number, t1: number, bins: number}} Window
 */

/** The knowledge about a bin: everything, only sums, nothing. */
export const BIN_KEPT = 0;
export const BIN_SUMMED = 1;
export const BIN_UNKNOWN = 2;

/**
 * Returns what is known of each bin, judged by its middle.
 * @param {Model} model
 * @param {Window} window
 * @returns {Uint8Array}
 */
export function knownOf(model, { t0, t1, bins }) {
  const known = new Uint8Array(bins);
  const width = (t1 - t0) / bins;
  const mark = (parts, as) => {
    for (const [from, to] of parts) {
      // The bins whose middle is within the part.
      const first = Math.max(0, Math.ceil((from - t0) / width - 0.5)), end = Math.min(bins, Math.ceil((to - t0) / width - 0.5));
      if (end > first) known.fill(as, first, end);
    }
  };
  mark(model.meta.gaps, BIN_UNKNOWN);
  mark(model.meta.sums?.dropped ?? [], BIN_SUMMED);
  return known;
}

/**
 * Adds the number of lanes that were in any of these states, on average over each bin.
 * @param {Section} section
 * @param {import("../bins.js").Bins} data of this window, or coarser data of one that contains it
 * @param {ArrayLike<number>} isWanted by state, 1 or 0
 * @param {Window} window
 * @param {Float64Array} counts to add to
 */
export function addCounts(section, data, isWanted, { t0, t1, bins }, counts) {
  const nStates = section.states.length;
  const per = (data.t1 - data.t0) / data.bins, width = (t1 - t0) / bins;
  if (!(per > 0) || !(width > 0)) return;
  const { shares } = data;
  for (let bin = 0; bin < bins; bin++) {
    const from = (t0 + bin * width - data.t0) / per, to = from + width / per;
    // Whole bins of the data: those that this bin overlaps, but at least the one at its middle.
    let first = Math.floor(from + 1e-6), end = Math.ceil(to - 1e-6);
    if (to - from < 1) {
      first = Math.floor((from + to) / 2);
      end = first + 1;
    }
    first = Math.max(0, Math.min(first, data.bins - 1));
    end = Math.max(first + 1, Math.min(end, data.bins));
    let sum = 0;
    for (let at = first * nStates, last = end * nStates; at < last; at += nStates) {
      for (let s = 0; s < nStates; s++) if (isWanted[s] === 1) sum += shares[at + s];
    }
    counts[bin] += sum / (per * (end - first));
  }
}

/**
 * Subtracts the futures of `block_on` from what `addCounts` counted. Sums don't count them, because they aren't tasks, and
 * a chart must not have a step where detail begins.
 * @param {Section} section
 * @param {Window} window
 * @param {Float64Array} counts to subtract from
 */
export function leaveOutRoots(section, { t0, t1, bins }, counts) {
  const width = (t1 - t0) / bins;
  if (!(width > 0)) return;
  const { isRoot } = section;
  for (let row = isRoot.indexOf(1); row >= 0; row = isRoot.indexOf(1, row + 1)) {
    const from = Math.max(section.rowBegin(row), t0), to = Math.min(section.rowEnd(row), t1);
    for (let bin = Math.max(0, Math.floor((from - t0) / width)); bin < bins && t0 + bin * width < to; bin++) {
      const ns = Math.min(to, t0 + (bin + 1) * width) - Math.max(from, t0 + bin * width);
      // Until the window is counted, coarser data stands in for it.
      if (ns > 0) counts[bin] = Math.max(0, counts[bin] - ns / width);
    }
  }
}

/**
 * Computes the share of the time of a run's workers that was spent in polls.
 * @param {import("../../model/worker_polls.js").WorkerPolls} all
 * @param {Window} window
 * @returns {Float64Array} from 0 to 1; NaN where there was no worker
 */
export function occupancy({ tasks, workers, rows }, { t0, t1, bins }) {
  const width = (t1 - t0) / bins;
  const held = new Float64Array(bins), sum = new Float64Array(bins), there = new Float64Array(bins);
  for (let row = 0; row < workers.nRows; row++) {
    heldColumns(tasks, rows[row], t0, t1, held);
    for (let bin = 0; bin < bins; bin++) sum[bin] += held[bin];
    addPresence(workers.rowBegin(row), workers.rowEnd(row), t0, width, there);
  }
  for (let bin = 0; bin < bins; bin++) sum[bin] = there[bin] > 0 ? Math.min(1, sum[bin] / there[bin]) : NaN;
  return sum;
}

/** Adds how much of each bin is between `begin` and `end`. */
function addPresence(begin, end, t0, width, there) {
  const from = (begin - t0) / width, to = (end - t0) / width;
  for (let bin = Math.max(0, Math.floor(from)); bin < Math.min(there.length, Math.ceil(to)); bin++) {
    there[bin] += (Math.min(to, bin + 1) - Math.max(from, bin)) * width;
  }
}

/** The binary logarithm of the number of polls whose longest is known at once, see `buildWorkerPolls`. */
const POLLS_SHIFT = 5;

/**
 * Computes how long the longest poll in each bin held its worker.
 * @param {import("../../model/worker_polls.js").WorkerPolls} all
 * @param {Window} window
 * @returns {Float64Array} ns; 0 if there was none
 */
export function longest({ tasks, rows }, window) {
  const longest = new Float64Array(window.bins);
  for (const rowPolls of rows) addLongest(tasks, rowPolls, window, longest);
  return longest;
}

function addLongest(section, rowPolls, { t0, t1, bins }, longest) {
  const { poll, most } = rowPolls;
  if (poll.length === 0) return;
  const scale = bins / (t1 - t0);
  const last = lastPollBefore(section, rowPolls, t1);
  const offer = (k) => {
    const start = section.time[poll[k]], ns = heldNs(section, poll[k]);
    if (start + ns < t0 || start >= t1) return;
    const first = Math.max(0, Math.floor((start - t0) * scale)), end = Math.min(bins, Math.max(Math.ceil((start + ns - t0) * scale), first + 1));
    for (let bin = first; bin < end; bin++) if (ns > longest[bin]) longest[bin] = ns;
  };
  const { blockStart } = rowPolls;
  const begin = Math.max(0, lastPollBefore(section, rowPolls, t0));
  const binOf = (block) => (block < blockStart.length ? Math.min(bins - 1, Math.floor((blockStart[block] - t0) * scale)) : bins - 1);
  // A worker's polls don't overlap: if the next block begins within the same bin, this one has ended there.
  const isWhole = (block, bin) => block << POLLS_SHIFT >= begin && (block + 1) << POLLS_SHIFT <= last && blockStart[block] >= t0 && binOf(block + 1) === bin;
  const firstBlock = begin >> POLLS_SHIFT, lastBlock = last >> POLLS_SHIFT;
  for (let block = firstBlock; block <= lastBlock; block++) {
    const bin = binOf(block);
    if (isWhole(block, bin) && most[block] > longest[bin]) longest[bin] = most[block];
  }
  for (let block = firstBlock; block <= lastBlock; block++) {
    const first = Math.max(0, binOf(block)), end = binOf(block + 1);
    if (isWhole(block, first)) continue;
    // Skip the block if nothing in it is longer than what is known of all bins that it may overlap.
    let isOver = false;
    for (let bin = first; bin <= end && !isOver; bin++) isOver = most[block] > longest[bin];
    if (!isOver) continue;
    for (let k = Math.max(begin, block << POLLS_SHIFT), stop = Math.min((block + 1) << POLLS_SHIFT, last + 1); k < stop; k++) offer(k);
  }
}

/**
 * Fills in values from the sums where no detail is kept.
 * @param {Model} model with sums
 * @param {"occupancy"|"longest"|"alive"} key
 * @param {Window} window
 * @param {Uint8Array} known see `knownOf`
 * @param {Float64Array} values
 */
export function fillFromSums(model, key, { t0, t1, bins }, known, values) {
  if (!known.includes(BIN_SUMMED)) return;
  const columns = key === "alive" ? null : sumColumns(model, t0, t1, bins);
  const width = (t1 - t0) / bins;
  for (let bin = 0; bin < bins; bin++) {
    if (known[bin] !== BIN_SUMMED) continue;
    if (key === "occupancy") values[bin] = columns.share[bin];
    else if (key === "longest") values[bin] = columns.longest[bin];
    else {
      const stretch = stretchAt(model, t0 + (bin + 0.5) * width);
      values[bin] = stretch < 0 ? NaN : model.meta.sums.alive[stretch];
    }
  }
}

/**
 * Computes the greatest length of a queue in each bin.
 * @param {[number, number][]} queue times, in order, and the length from each time on
 * @param {Window} window
 * @returns {Float64Array}
 */
export function queued(queue, { t0, t1, bins }) {
  const values = new Float64Array(bins);
  const scale = bins / (t1 - t0);
  const times = queue.map(([t]) => t);
  for (let i = Math.max(0, lastNotAfter(times, 0, times.length, t0)); i < queue.length && times[i] < t1; i++) {
    const end = i + 1 < queue.length ? times[i + 1] : Infinity;
    const from = Math.max(0, Math.floor((times[i] - t0) * scale)), to = Math.min(bins, Math.max(Math.ceil((end - t0) * scale), from + 1));
    for (let bin = from; bin < to; bin++) values[bin] = Math.max(values[bin], queue[i][1]);
  }
  return values;
}
