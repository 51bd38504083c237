// When tasks were ready: woken or spawned, and not yet polled. How many at once while a poll held its worker.

import { findTransition } from "./lanes.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("./polls.js").PollInfo} PollInfo
 */

/** What `readyEnd` gives for spans that don't count as waiting for a worker. */
export const NOT_READY = -1;

/**
 * The worker (plus 1) whose poll ends the ready span that transition `i` of `row` begins; 0 if the task was spawned
 * and never polled. A wait that ends on a thread that is no worker was none for a worker, and a root future
 * is in no queue: as the report, neither counts.
 * @param {Section} section
 * @param {number} i
 * @param {number} row
 * @returns {number} `NOT_READY` if it doesn't count
 */
export function readyEnd(section, i, row) {
  const { state, isReady, isRunning, worker, isRoot, states } = section;
  if (isReady[state[i]] === 0) return NOT_READY;
  const next = i + 1, isLast = next === section.rowFirst[row + 1];
  if (!isLast && isRunning[state[next]] !== 0 && worker !== null) return worker[next] !== 0 ? worker[next] : NOT_READY;
  if (isRoot[row] !== 0) return NOT_READY;
  // Data doesn't say on which worker a poll was; and where it was cut, it may end while a task is ready.
  return isLast || isRunning[state[next]] !== 0 || states[state[i]].role === "spawned" ? 0 : NOT_READY;
}

/**
 * How many other tasks were ready at one moment while the poll held its worker: the most.
 * @param {Model} model
 * @param {PollInfo} info
 * @returns {number|null} null if ready times were not recorded
 */
export function readyMeanwhile(model, info) {
  if (!model.meta.readyKnown) return null;
  const section = model.sections[info.section];
  const { time, isReady, state } = section;
  const from = info.start, to = info.start + info.held;
  const begins = new Moments(), ends = new Moments();
  for (let lane = 0; lane < section.nLanes; lane++) {
    const end = section.laneBegin(lane + 1);
    let i = Math.max(findTransition(section, lane, from), section.laneBegin(lane));
    for (; i < end && time[i] < to; i++) {
      if (isReady[state[i]] === 0) continue;
      const until = section.endOf(i);
      if (until <= from) continue;
      const row = section.rowOf(i);
      if (row === info.row || readyEnd(section, i, row) === NOT_READY) continue;
      begins.push(Math.max(time[i], from));
      ends.push(Math.min(until, to));
    }
  }
  const comes = begins.sorted(), goes = ends.sorted();
  let ready = 0, most = 0;
  for (let c = 0, g = 0; c < comes.length; c++) {
    // At the same time those that are served go first: they don't meet those that come.
    while (goes[g] <= comes[c]) g++, ready--;
    ready++;
    if (ready > most) most = ready;
  }
  return most;
}

/** Moments that are pushed, then sorted. */
class Moments {
  constructor() {
    this.at = new Float64Array(256);
    this.n = 0;
  }

  push(t) {
    if (this.n === this.at.length) {
      const larger = new Float64Array(this.n * 2);
      larger.set(this.at);
      this.at = larger;
    }
    this.at[this.n++] = t;
  }

  sorted() {
    return this.at.subarray(0, this.n).sort();
  }
}
