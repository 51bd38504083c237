// Polls are the running spans of tasks: which worker they held, for how long, and which were the longest.

import { firstIndex, grown, lastNotAfter } from "../data/section.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{
 *   section: number, transition: number, row: number, group: number, start: number, end: number, length: number,
 *   held: number, own: number, worker: number|null, cutLeft: boolean, cutRight: boolean, atEnd: boolean, handed: boolean,
 * }} PollInfo times in ns; `held`: how long it held its worker, or ran on another thread (then `worker` is null); `own`: how much of
 *   that is its own; `cutLeft`, `cutRight`: it may have begun earlier, or ended later; `atEnd`: it was still running at the right
 *   edge; `handed`: it handed its worker on, so that `held` is known even if its end isn't
 * @typedef {{threshold: number, poll: Uint32Array, laneFirst: Uint32Array}} LongPolls `poll`: transitions by lane and time; those of a
 *   lane are at `laneFirst[lane]..laneFirst[lane + 1]`
 */

/**
 * Returns how long the poll that transition `i` begins held its worker (until `block_in_place` handed that on), or how long
 * it ran on another thread.
 * @param {Section} section
 * @param {number} i
 * @returns {number} ns
 */
export function heldNs(section, i) {
  const length = section.endOf(i) - section.time[i];
  const k = handoverOf(section, i);
  return k >= 0 ? Math.min(section.handed.ns[k], length) : length;
}

/** Returns the index in `section.handed` of a poll that handed its worker on; −1 if it did not. */
function handoverOf({ handed: { at } }, i) {
  if (at.length === 0) return -1;
  const k = lastNotAfter(at, 0, at.length, i);
  return k >= 0 && at[k] === i ? k : -1;
}

/**
 * Returns how much of that is the poll's own time: without what the machine took, and without waits for the runtime's own
 * locks, as in the report. Polls are shown and ranked by it.
 * @param {Section} section
 * @param {number} i
 * @returns {number} ns
 */
export const ownNs = (section, i) => Math.max(0, heldNs(section, i) - (section.lost.get(i) ?? 0));

/**
 * Returns what is known of the poll that transition `i` begins.
 * @param {Section} section
 * @param {number} i
 * @param {[number, number][]} [gaps] the model's `meta.gaps`
 * @returns {PollInfo}
 */
export function pollInfo(section, i, gaps = []) {
  const row = section.rowOf(i);
  const start = section.time[i], end = section.endOf(i);
  const handed = handoverOf(section, i) >= 0;
  const worker = section.worker?.[i] ?? 0;
  const isLast = i === section.rowFirst[row + 1] - 1;
  return {
    section: section.index,
    transition: i,
    row,
    group: section.groupOfRow(row),
    start,
    end,
    length: end - start,
    held: heldNs(section, i),
    own: ownNs(section, i),
    worker: worker ? worker - 1 : null,
    cutLeft: (i === section.rowFirst[row] && start === 0) || gaps.some(([, to]) => to === start),
    cutRight: isLast || gaps.some(([from]) => from === end),
    atEnd: isLast,
    handed,
  };
}

/**
 * Finds the polls that took longer than a threshold, as the report counts them.
 * @param {Section} section
 * @param {number} thresholdNs
 * @returns {LongPolls}
 */
export function longPolls(section, thresholdNs) {
  // A higher threshold only filters what was found before.
  const before = section.longBefore;
  let poll;
  if (before && before.threshold <= thresholdNs) {
    poll = before.poll.filter((i) => heldNs(section, i) > thresholdNs);
  } else {
    poll = collectLong(section, thresholdNs);
    section.longBefore = { threshold: thresholdNs, poll };
  }
  const laneFirst = new Uint32Array(section.nLanes + 1);
  for (let lane = 0, k = 0; lane <= section.nLanes; lane++) {
    const begin = section.laneBegin(lane);
    while (k < poll.length && poll[k] < begin) k++;
    laneFirst[lane] = k;
  }
  return { threshold: thresholdNs, poll, laneFirst };
}

function collectLong(section, thresholdNs) {
  const { time, state, isRunning, nTransitions } = section;
  let found = new Uint32Array(1024), n = 0;
  for (let i = 0; i < nTransitions; i++) {
    if (isRunning[state[i]] === 0) continue;
    // Across the end of a lane this is too much or NaN; `heldNs` is exact.
    if (time[i + 1] - time[i] <= thresholdNs && section.endOf(i) === time[i + 1]) continue;
    if (heldNs(section, i) <= thresholdNs) continue;
    if (n === found.length) found = grown(found);
    found[n++] = i;
  }
  return found.slice(0, n);
}

/**
 * Returns the first long poll of a lane that ends after `t`.
 * @param {Section} section
 * @param {LongPolls} long
 * @param {number} lane
 * @param {number} t
 * @returns {number} an index into `long.poll`; `long.laneFirst[lane + 1]` if there is none
 */
export function nextLong(section, long, lane, t) {
  return firstIndex(long.laneFirst[lane], long.laneFirst[lane + 1], (k) => section.endOf(long.poll[k]) > t);
}

/**
 * Returns the longest polls of a section, the longest first; of equals the earliest.
 * @param {Section} section
 * @param {number} k the most polls
 * @param {{group?: number|null, row?: number|null, on?: "worker"|"off"|null, over?: number}} [which] only those of one
 *   group, of one row, on or off the workers, or longer than `over` ns
 * @returns {number[]} transitions
 */
export function worstPolls(section, k, { group = null, row = null, on = null, over = -1 } = {}) {
  const { time, state, isRunning, worker, rowFirst } = section;
  let from = 0, to = section.nRows;
  if (row !== null) {
    from = row;
    to = row + 1;
  } else if (group !== null) {
    from = section.groups[group].firstRow;
    to = from + section.groups[group].rows;
  }
  const longest = new Longest(k, time);
  for (let r = from; r < to; r++) {
    for (let i = rowFirst[r], end = rowFirst[r + 1]; i < end; i++) {
      if (isRunning[state[i]] === 0) continue;
      if (on !== null && (worker[i] !== 0) !== (on === "worker")) continue;
      const own = ownNs(section, i);
      if (own > over) longest.offer(own, i);
    }
  }
  return longest.sorted();
}

/** Keeps the `k` longest of what it is offered: a heap with the least of them on top. */
export class Longest {
  /**
   * @param {number} k
   * @param {Float64Array} time of each transition: of equals the earliest ranks first
   */
  constructor(k, time) {
    this.k = k;
    this.time = time;
    this.n = 0;
    this.length = new Float64Array(k + 1);
    this.at = new Uint32Array(k + 1);
  }

  /** @param {number} length @param {number} i a transition */
  offer(length, i) {
    if (this.n < this.k) {
      let hole = ++this.n;
      while (hole > 1 && this.isLess(length, i, hole >> 1)) {
        this.move(hole >> 1, hole);
        hole >>= 1;
      }
      this.put(hole, length, i);
    } else if (this.k > 0 && length >= this.length[1] && !this.isLess(length, i, 1)) {
      let hole = 1;
      for (let child = 2; child <= this.n; child = hole * 2) {
        if (child < this.n && this.isLess(this.length[child + 1], this.at[child + 1], child)) child++;
        if (this.isLess(length, i, child)) break;
        this.move(child, hole);
        hole = child;
      }
      this.put(hole, length, i);
    }
  }

  /** @returns {number[]} transitions, the longest first */
  sorted() {
    const order = Array.from({ length: this.n }, (_, index) => index + 1);
    order.sort((a, b) => (this.isLess(this.length[a], this.at[a], b) ? 1 : -1));
    return order.map((index) => this.at[index]);
  }

  /** Returns whether a poll ranks behind the one at `other`. @private */
  isLess(length, i, other) {
    if (length !== this.length[other]) return length < this.length[other];
    const t = this.time[i], otherT = this.time[this.at[other]];
    return t !== otherT ? t > otherT : i > this.at[other];
  }

  /** @private */
  put(index, length, i) {
    this.length[index] = length;
    this.at[index] = i;
  }

  /** @private */
  move(from, to) {
    this.put(to, this.length[from], this.at[from]);
  }
}

/** Returns whether the span that a transition begins is a poll. */
export const isPoll = (section, transition) => section.isRunning[section.state[transition]] === 1;

/** Returns the sections of tasks: only these have polls. */
export const taskSections = (model) => model.sections.filter(({ kind }) => kind === "tasks");
