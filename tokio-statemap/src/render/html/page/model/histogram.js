// Histograms of times: each bar is about one and a half times as wide as the one before it, from 0 to all that there is.

import { lastNotAfter } from "../data/section.js";
import { quantile } from "./locations.js";

/**
 * @typedef {{from: number, to: number, n: number, at: number}} Bin values from `from` on and below `to`, in ns; `at`:
 *   whose value is the largest, −1 if that isn't known or there is none
 * @typedef {{n: number, longest: number, p50: number, p90: number, p99: number, bins: Bin[]}} Distribution of `n` values;
 *   the bins go from that of the least to that of the largest without a gap, and their `n` sum up to `n`
 */

/** Where the bins of a decade begin, in tenths: the numbers of the series E6. Those of times below 10 ns are whole ns. */
const OF_DECADE = [10, 15, 22, 33, 47, 68];
const FIRST_EDGES = [0, 1, 2, 3, 5, 7];
const DECADES = 15;

/** Where each bin begins, in ns. The analysis has the same (`analysis/bins.rs`). */
export const BIN_EDGES = Float64Array.from([
  ...FIRST_EDGES, ...Array.from({ length: DECADES }, (_, decade) => OF_DECADE.map((tenths) => tenths * 10 ** decade)).flat(),
]);

/** The bin that a value is in. @param {number} ns @returns {number} */
export const binOf = (ns) => Math.max(0, lastNotAfter(BIN_EDGES, 0, BIN_EDGES.length, ns));

/** Values that come one after the other. */
export class HistogramOf {
  /** @param {number} [capacity] how many are expected */
  constructor(capacity = 256) {
    this.n = 0;
    this.values = new Float64Array(Math.max(1, capacity));
    this.counts = new Float64Array(BIN_EDGES.length);
    this.largest = new Float64Array(BIN_EDGES.length).fill(-1);
    this.at = new Float64Array(BIN_EDGES.length).fill(-1);
  }

  /** @param {number} ns @param {number} at what it is of */
  add(ns, at) {
    if (this.n === this.values.length) {
      const larger = new Float64Array(this.n * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.n++] = ns;
    const bin = binOf(ns);
    this.counts[bin]++;
    if (ns > this.largest[bin]) {
      this.largest[bin] = ns;
      this.at[bin] = at;
    }
  }

  /** What was added; nothing can be added after. @returns {Distribution} */
  finish() {
    const values = this.values.subarray(0, this.n);
    const [p99, p90, p50] = [99, 90, 50].map((percent) => quantile(values, percent));
    const { counts, at } = this;
    const longest = this.largest.reduce((most, ns) => Math.max(most, ns), 0);
    return { n: this.n, longest, p50, p90, p99, bins: binsOf(counts, at) };
  }
}

/**
 * The same of sums that stand in the page: those of the whole run.
 * @param {{bins: [number, number][], p50: number, p90: number, p99: number}|null} sums each bin as where it begins, in ns,
 *   and how many there are
 * @param {number} longest ns
 * @returns {Distribution|null}
 */
export function distributionOfSums(sums, longest) {
  if (!sums || sums.bins.length === 0) return null;
  const counts = new Float64Array(BIN_EDGES.length);
  for (const [from, n] of sums.bins) counts[binOf(from)] += n;
  const n = counts.reduce((sum, each) => sum + each, 0);
  return { n, longest, p50: sums.p50, p90: sums.p90, p99: sums.p99, bins: binsOf(counts, null) };
}

function binsOf(counts, at) {
  const first = counts.findIndex((n) => n > 0), last = counts.findLastIndex((n) => n > 0);
  if (first < 0) return [];
  return Array.from({ length: last - first + 1 }, (_, k) => ({
    from: BIN_EDGES[first + k], to: BIN_EDGES[first + k + 1] ?? Infinity, n: counts[first + k], at: at?.[first + k] ?? -1,
  }));
}

/**
 * Where a value is between the left edge of the first bin and the right edge of the last one.
 * @param {Bin[]} bins
 * @param {number} ns
 * @returns {number} from 0 to 1
 */
export function shareOfBins(bins, ns) {
  const k = bins.findIndex(({ to }) => ns < to);
  if (k < 0) return 1;
  const { from, to } = bins[k];
  // The bins are equally wide on a scale of logarithms; the first one, from 0 to 1 ns, can't be.
  const within = from > 0 ? Math.log(Math.max(ns, from) / from) / Math.log(to / from) : (ns - from) / (to - from);
  return Math.min(1, Math.max(0, (k + within) / bins.length));
}
