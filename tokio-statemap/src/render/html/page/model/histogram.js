// Histograms of times: each bar is about one and a half times as wide as the one before it, and together they cover all
// values from 0 on.

import { grown, lastNotAfter } from "../data/section.js";
import { quantile } from "./locations.js";

/**
 * @typedef {{from: number, to: number, n: number, at: number}} Bin the values from `from` to before `to`, in ns; `at`: the item with
 *   the largest value, −1 if there is none or it isn't known
 * @typedef {{n: number, longest: number, p50: number, p90: number, p99: number, bins: Bin[]}} Distribution the bins go from that of
 *   the least to that of the largest value without a gap, and their `n` sum up to `n`
 */

/** The beginnings of the bins of a decade, in tenths: the E6 series. Below 10 ns the bins begin at whole ns. */
const OF_DECADE = [10, 15, 22, 33, 47, 68];
const FIRST_EDGES = [0, 1, 2, 3, 5, 7];
const DECADES = 15;

/** The beginning of each bin, in ns. The analysis has the same bins (`analysis/bins.rs`). */
export const BIN_EDGES = Float64Array.from([
  ...FIRST_EDGES, ...Array.from({ length: DECADES }, (_, decade) => OF_DECADE.map((tenths) => tenths * 10 ** decade)).flat(),
]);

/** Returns the bin of a value. @param {number} ns @returns {number} */
export const binOf = (ns) => Math.max(0, lastNotAfter(BIN_EDGES, 0, BIN_EDGES.length, ns));

/** Collects values one by one. */
export class HistogramOf {
  /** @param {number} [capacity] the expected number of values */
  constructor(capacity = 256) {
    this.n = 0;
    this.values = new Float64Array(Math.max(1, capacity));
    this.counts = new Float64Array(BIN_EDGES.length);
    this.largest = new Float64Array(BIN_EDGES.length).fill(-1);
    this.at = new Float64Array(BIN_EDGES.length).fill(-1);
  }

  /** @param {number} ns @param {number} at the item with this value */
  add(ns, at) {
    if (this.n === this.values.length) this.values = grown(this.values);
    this.values[this.n++] = ns;
    const bin = binOf(ns);
    this.counts[bin]++;
    if (ns > this.largest[bin]) {
      this.largest[bin] = ns;
      this.at[bin] = at;
    }
  }

  /** Returns the distribution; no value can be added after that. @returns {Distribution} */
  finish() {
    const values = this.values.subarray(0, this.n);
    values.sort();
    const [p99, p90, p50] = [99, 90, 50].map((percent) => quantile(values, percent));
    const { counts, at } = this;
    const longest = this.largest.reduce((most, ns) => Math.max(most, ns), 0);
    return { n: this.n, longest, p50, p90, p99, bins: binsOf(counts, at) };
  }
}

/**
 * Makes a distribution from the page's sums of the whole run.
 * @param {{bins: [number, number][], p50: number, p90: number, p99: number}|null} sums each bin as its beginning, in ns,
 *   and its number of values
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
 * Returns the position of a value between the left edge of the first bin and the right edge of the last one.
 * @param {Bin[]} bins
 * @param {number} ns
 * @returns {number} from 0 to 1
 */
export function shareOfBins(bins, ns) {
  const k = bins.findIndex(({ to }) => ns < to);
  if (k < 0) return 1;
  const { from, to } = bins[k];
  // The bins are equally wide on a logarithmic scale, except for the first one, from 0 to 1 ns.
  const within = from > 0 ? Math.log(Math.max(ns, from) / from) / Math.log(to / from) : (ns - from) / (to - from);
  return Math.min(1, Math.max(0, (k + within) / bins.length));
}
