// Reduces a lane to columns of pixels by the sums alone, where many transitions fall into each pixel: for frames that must
// be drawn quickly.

import { findTransition } from "../model/lanes.js";
import { laneColumns } from "./columns.js";

/** @typedef {import("../data/section.js").Section} Section */

/** The number of transitions per pixel from which this is quicker than walking them. */
const COARSE_FROM = 24;

/** The number of pixels over which the time between two sums may be spread evenly. */
const COARSE_SPREAD = 2;

/**
 * Does the same as `laneColumns`, but where transitions are dense, time may move to a neighbouring pixel: up to the edge of
 * any pixel, the times of states are right to two pixels' time. Nothing is lost or counted twice.
 * @param {Section} section with its sums built
 * @param {number} lane
 * @param {number} t0
 * @param {number} t1
 * @param {number} width whole pixels
 * @param {import("./columns.js").ColumnSink} sink
 */
export function coarseColumns(section, lane, t0, t1, width, sink) {
  const { time, state, cum, cumShift, lengthNs } = section;
  const first = section.laneBegin(lane), last = section.laneBegin(lane + 1) - 1;
  const begin = Math.max(findTransition(section, lane, t0), first);
  if (findTransition(section, lane, t1) - begin < width * COARSE_FROM) {
    laneColumns(section, lane, t0, t1, width, sink);
    return;
  }
  const nStates = section.states.length, size = 1 << cumShift;
  const pixel = (t1 - t0) / width, spread = COARSE_SPREAD * pixel, whole = pixel * 0.999999;
  // How long the lane had been in each state by the last edge, and within the pixel before it.
  const sums = new Float64Array(nStates), shares = new Float64Array(nStates);
  // The transitions with the known sums before and after the edge.
  let start = (begin >>> cumShift) << cumShift, next = start + size;
  for (let edge = 0; edge <= width; edge++) {
    const t = t0 + edge * pixel;
    while (next <= last && time[next] <= t) {
      start = next;
      next += size;
    }
    const at = (start >>> cumShift) * nStates;
    let only = -1;
    const isWhole = start >= first;
    let k = isWhole ? start : first;
    let now = time[k];
    if (next <= last && time[next] - now <= spread) {
      const part = t > now ? (t - now) / (time[next] - now) : 0;
      for (let s = 0; s < nStates; s++) {
        const base = isWhole ? cum[at + s] : 0;
        const sum = base + (cum[at + nStates + s] - base) * part;
        const share = sum - sums[s];
        shares[s] = share;
        if (share > whole) only = s;
        sums[s] = sum;
      }
    } else {
      for (let s = 0; s < nStates; s++) {
        shares[s] = -sums[s];
        sums[s] = isWhole ? cum[at + s] : 0;
      }
      if (t > now) {
        for (; k < last && time[k + 1] <= t; k++) {
          sums[state[k]] += time[k + 1] - now;
          now = time[k + 1];
        }
        sums[state[k]] += Math.min(t, lengthNs) - now;
      }
      for (let s = 0; s < nStates; s++) {
        shares[s] += sums[s];
        if (shares[s] > whole) only = s;
      }
    }
    if (edge === 0) continue;
    if (only >= 0) sink.run(edge - 1, edge, only);
    else sink.mixed(edge - 1, shares);
  }
}
