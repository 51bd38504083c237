// Reduces a lane to columns of pixels for painting: runs of one state, and pixels with several states.

import { addBetween, findTransition } from "../model/lanes.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{
 *   run: (x0: number, x1: number, state: number) => void,
 *   mixed: (x: number, shares: Float64Array) => void,
 * }} ColumnSink `run`: the pixels from `x0` to before `x1` are entirely in `state`, or blank (−1); `mixed`: ns by state within the
 *   pixel `x` (the rest of its time is blank). The array is reused: read it during the call only.
 */

/** The number of transitions in a pixel from which their sum is looked up instead of walked. */
const WALKED = 64;

/**
 * Passes all pixels from 0 to before `width` to `sink`, left to right, in O(min(transitions, width · log transitions)).
 * @param {Section} section with its sums built
 * @param {number} lane
 * @param {number} t0 the left edge of pixel 0, in ns
 * @param {number} t1 the right edge of the last pixel
 * @param {number} width whole pixels
 * @param {ColumnSink} sink
 */
export function laneColumns(section, lane, t0, t1, width, sink) {
  const { time, state, lengthNs, shares } = section;
  const first = section.laneBegin(lane), end = section.laneBegin(lane + 1), last = end - 1;
  const pixel = (t1 - t0) / width;
  if (first === end || !(pixel > 0)) {
    sink.run(0, width, -1);
    return;
  }
  let i = findTransition(section, lane, t0);
  if (i < 0) i = first - 1;
  let x = 0;
  while (x < width) {
    const isBlank = i < first;
    const spanEnd = isBlank ? time[first] : i === last ? lengthNs : time[i + 1];
    const right = t0 + (x + 1) * pixel;
    if (spanEnd >= right || (i === last && t0 + x * pixel >= lengthNs)) {
      const isAfter = i === last && t0 + x * pixel >= lengthNs;
      let to = isAfter ? width : Math.min(width, Math.floor((spanEnd - t0) / pixel));
      if (to <= x) to = x + 1;
      sink.run(x, to, isBlank || isAfter ? -1 : state[i]);
      x = to;
    } else {
      for (let s = 0; s < shares.length; s++) shares[s] = 0;
      const until = right < lengthNs ? right : lengthNs;
      let from = t0 + x * pixel;
      if (isBlank) {
        i = first;
        from = time[first];
      }
      // The transition in force at the pixel's right edge.
      let j = i;
      const near = i + WALKED;
      if (near < last && time[near] <= until) {
        j = gallop(time, near, last, until);
        addBetween(section, i, from, j, until, shares);
      } else {
        let now = from;
        while (j < last) {
          const next = time[j + 1];
          if (next > until) break;
          shares[state[j]] += next - now;
          now = next;
          j++;
        }
        shares[state[j]] += until - now;
      }
      i = j;
      sink.mixed(x, shares);
      x++;
    }
    // A transition exactly at the next pixel's left edge is in force there.
    const left = t0 + x * pixel;
    if (i < first && time[first] <= left) i = first;
    if (i >= first) while (i < last && time[i + 1] <= left) i++;
  }
}

/** Returns the last index up to `last` whose time is not after `t`, given that the time of `i` isn't. */
function gallop(time, i, last, t) {
  let step = 64, low = i;
  while (low + step <= last && time[low + step] <= t) {
    low += step;
    step *= 2;
  }
  let high = Math.min(last, low + step);
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (time[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}
