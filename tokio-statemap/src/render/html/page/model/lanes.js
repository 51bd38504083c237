// Finds the state of a lane at a moment, and how long the lane was in each state: in O(log n), by sums at every 32nd
// transition. Sums of whole ns are exact.

import { firstIndex, lastNotAfter } from "../data/section.js";

/** @typedef {import("../data/section.js").Section} Section */

/**
 * Builds the sums of `section`: how long its lane had been in each state by every 32nd transition (less often if there are
 * many states).
 * @param {Section} section
 */
export function buildCumulative(section) {
  const { time, state, nLanes, nTransitions } = section;
  const nStates = section.states.length;
  // At most about 8 bytes for each transition, however many states there are.
  const shift = Math.max(5, Math.ceil(Math.log2(nStates || 1)));
  const size = 1 << shift;
  const cum = new Float64Array((Math.floor(nTransitions / size) + 1) * nStates);
  const sums = new Float64Array(nStates);
  for (let lane = 0; lane < nLanes; lane++) {
    const end = section.laneBegin(lane + 1);
    let i = section.laneBegin(lane);
    sums.fill(0);
    while (i < end) {
      if ((i & (size - 1)) === 0) cum.set(sums, (i >>> shift) * nStates);
      const to = Math.min(end - 1, (i | (size - 1)) + 1);
      let now = time[i];
      for (; i < to; i++) {
        const next = time[i + 1];
        sums[state[i]] += next - now;
        now = next;
      }
      if (i === end - 1) {
        if ((i & (size - 1)) === 0) cum.set(sums, (i >>> shift) * nStates);
        break;
      }
    }
  }
  section.cum = cum;
  section.cumShift = shift;
}

/**
 * Returns the transition that is in force at `t`: the last one of the lane that is not after it.
 * @param {Section} section
 * @param {number} lane
 * @param {number} t
 * @returns {number} −1 before the lane's first transition
 */
export function findTransition(section, lane, t) {
  const first = section.laneBegin(lane);
  const i = lastNotAfter(section.time, first, section.laneBegin(lane + 1), t);
  return i < first ? -1 : i;
}

/**
 * When the span that transition `i` begins ends.
 * @param {Section} section
 * @param {number} i
 * @returns {number} ns; the right edge for a lane's last
 */
export function endOf(section, i) {
  return section.endOf(i);
}

/**
 * Returns the row that a lane shows at `t`.
 * @param {Section} section
 * @param {number} lane
 * @param {number} t
 * @returns {number} −1 where the lane is blank
 */
export function rowAt(section, lane, t) {
  const i = findTransition(section, lane, t);
  if (i < 0 || t > section.lengthNs) return -1;
  return section.isEnd[section.state[i]] ? -1 : section.rowOf(i);
}

/**
 * Adds how long one lane was in each state from `from` to `to`.
 * @param {Section} section
 * @param {number} i the transition in force at `from`
 * @param {number} from
 * @param {number} j the transition in force at `to`
 * @param {number} to
 * @param {Float64Array} out ns by state
 */
export function addBetween(section, i, from, j, to, out) {
  const { time, state, cum, cumShift } = section;
  if (i === j) {
    out[state[i]] += to - from;
    return;
  }
  let k = i + 1;
  let now = time[k];
  out[state[i]] += now - from;
  const size = 1 << cumShift;
  if (j - k >= size) {
    const firstBlock = (k + size - 1) >>> cumShift, lastBlock = j >>> cumShift;
    for (const border = firstBlock << cumShift; k < border; k++) {
      const next = time[k + 1];
      out[state[k]] += next - now;
      now = next;
    }
    const nStates = out.length;
    for (let s = 0, a = firstBlock * nStates, b = lastBlock * nStates; s < nStates; s++) out[s] += cum[b + s] - cum[a + s];
    k = lastBlock << cumShift;
    now = time[k];
  }
  for (; k < j; k++) {
    const next = time[k + 1];
    out[state[k]] += next - now;
    now = next;
  }
  out[state[j]] += to - now;
}

/** Adds the totals of the transitions `first..end` of one lane within a window. */
function addRange(section, first, end, t0, t1, out) {
  const { time } = section;
  const from = Math.max(t0, time[first]);
  if (first >= end || from >= t1) return;
  const last = end - 1;
  const i = first === last || time[first + 1] > from ? first : lastNotAfter(time, first, end, from);
  const j = time[last] <= t1 ? last : lastNotAfter(time, i, end, t1);
  addBetween(section, i, from, j, t1, out);
}

/**
 * Adds how long a lane was in each state from `t0` to `t1`: exact if both are whole ns. The blank time between the end of a
 * row and the lane's next row counts for its state, `completed` or `stopped`.
 * @param {Section} section
 * @param {number} lane
 * @param {number} t0
 * @param {number} t1
 * @param {Float64Array} out ns by state
 */
export function laneTotals(section, lane, t0, t1, out) {
  addRange(section, section.laneBegin(lane), section.laneBegin(lane + 1), t0, Math.min(t1, section.lengthNs), out);
}

/**
 * Adds how long one row was in each state, from its beginning to its end.
 * @param {Section} section
 * @param {number} row
 * @param {number} t0
 * @param {number} t1
 * @param {Float64Array} out ns by state
 */
export function rowTotals(section, row, t0, t1, out) {
  addRange(section, section.rowFirst[row], section.rowFirst[row + 1], t0, Math.min(t1, section.rowEnd(row)), out);
}

/**
 * Returns the parts of a time in which the recording ran.
 * @param {[number, number][]} gaps by time
 * @param {number} t0
 * @param {number} t1
 * @returns {[number, number][]}
 */
export function recordedWithin(gaps, t0, t1) {
  const found = [];
  let from = t0;
  for (const [gap, end] of gaps) {
    if (end <= from || gap >= t1) continue;
    if (gap > from) found.push([from, gap]);
    from = end;
  }
  if (from < t1 || found.length === 0) found.push([Math.min(from, t1), t1]);
  return found;
}

/**
 * Returns whether nothing is kept of some time between these.
 * @param {[number, number][]} gaps by time, none of which overlaps another
 * @param {number} from
 * @param {number} to
 * @returns {boolean}
 */
export function isInGap(gaps, from, to) {
  const before = firstIndex(0, gaps.length, (k) => gaps[k][0] >= to) - 1;
  return before >= 0 && gaps[before][1] > from;
}

/** Returns how much of a time is kept in detail, in ns. */
export function keptNs(model, t0, t1) {
  return recordedWithin(model.meta.gaps, t0, t1).reduce((sum, [from, to]) => sum + to - from, 0);
}

/**
 * Computes the same as `sectionTotals`, without times of which nothing is recorded. A row is drawn there in its last known
 * state, but its real state is unknown.
 * @param {Section} section
 * @param {[number, number][]} gaps by time
 * @param {number} t0
 * @param {number} t1
 * @param {((lane: number) => boolean)|null} [laneFilter]
 * @returns {bigint[]} ns by state
 */
export function recordedTotals(section, gaps, t0, t1, laneFilter = null) {
  const totals = section.states.map(() => 0n);
  for (const [from, to] of recordedWithin(gaps, Math.round(t0), Math.round(t1))) {
    sectionTotals(section, from, to, laneFilter).forEach((ns, state) => (totals[state] += ns));
  }
  return totals;
}

/**
 * Computes how long all lanes together were in each state from `t0` to `t1` (rounded to whole ns): exact.
 * @param {Section} section
 * @param {number} t0
 * @param {number} t1
 * @param {((lane: number) => boolean)|null} [laneFilter] which lanes count; all if null
 * @returns {bigint[]} ns by state
 */
export function sectionTotals(section, t0, t1, laneFilter = null) {
  const from = Math.round(t0), to = Math.round(t1);
  const sums = new Float64Array(section.states.length);
  const totals = Array.from(sums, () => 0n);
  // The sum of at most this many lanes is exact in a double.
  const most = Math.max(1, Math.floor(Number.MAX_SAFE_INTEGER / Math.max(1, to - from)));
  let lanes = 0;
  const flush = () => {
    sums.forEach((sum, s) => (totals[s] += BigInt(sum)));
    sums.fill(0);
    lanes = 0;
  };
  for (let lane = 0; lane < section.nLanes; lane++) {
    if (laneFilter && !laneFilter(lane)) continue;
    laneTotals(section, lane, from, to, sums);
    if (++lanes >= most) flush();
  }
  flush();
  return totals;
}

/** Returns the span of a lane at `t`; −1 where the lane is blank. */
export const spanAt = (section, lane, t) => {
  if (rowAt(section, lane, t) < 0) return -1;
  return findTransition(section, lane, t);
};
