// Tasks that were ready while a worker was parked.

import { isInGap } from "./lanes.js";
import { wakerOf, wakingPoll } from "./wakers.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{transition: number, ns: number, by: number, isHeld: boolean}} ReadyMeanwhile `transition`: what begins the time in which the
 *   task is ready; `ns`: how much of it is within the park; `by`: the poll that woke it, −1 if none did; `isHeld`: whether that poll
 *   went on until the task was polled
 */

/** A worker needs some time to wake up. */
const LEAST_READY_NS = 200_000;

/** A task is polled so long after the poll that held it up, or before its end was recorded. */
const NEARLY_NS = 100_000;

const MOST_READY = 5;

/** The most transitions that are looked at. */
const MOST_LOOKED_AT = 4_000_000;

/**
 * Finds the tasks that were ready while a worker was parked. Times of which nothing is kept don't count.
 * @param {Section} workers
 * @param {[number, number][]} gaps
 * @param {number} transition of a worker
 * @returns {ReadyMeanwhile[]} those that were ready for longest; none if it isn't parked then
 */
export function readyMeanwhile(workers, gaps, transition) {
  if (workers.workerPolls === null || workers.states[workers.state[transition]].role !== "parked") return [];
  const { tasks } = workers.workerPolls;
  const [from, to] = [workers.time[transition], workers.endOf(transition)];
  const found = [];
  let looked = 0;
  for (let row = 0; row < tasks.nRows; row++) {
    if (tasks.isRoot[row] !== 0) continue;
    for (let i = tasks.rowFirst[row], last = tasks.rowFirst[row + 1]; i < last && tasks.time[i] < to; i++) {
      if (++looked > MOST_LOOKED_AT) return found;
      if (tasks.isReady[tasks.state[i]] === 0) continue;
      const ns = Math.min(tasks.endOf(i), to) - Math.max(tasks.time[i], from);
      if (ns < LEAST_READY_NS || (found.length === MOST_READY && ns <= found[MOST_READY - 1].ns)) continue;
      if (isInGap(gaps, tasks.time[i], tasks.endOf(i))) continue;
      const waker = wakerOf(tasks, i), by = waker === null ? -1 : wakingPoll(tasks, waker);
      // It was kept for the worker of the poll that woke it, if that polled it as soon as it was free.
      const next = i + 1 < last && tasks.isRunning[tasks.state[i + 1]] !== 0 ? i + 1 : -1;
      const isSame = by >= 0 && next >= 0 && tasks.worker[by] !== 0 && tasks.worker[by] === tasks.worker[next];
      const isHeld = isSame && Math.abs(tasks.endOf(by) - tasks.time[next]) <= NEARLY_NS;
      found.push({ transition: i, ns, by, isHeld });
      found.sort((a, b) => b.ns - a.ns);
      found.length = Math.min(found.length, MOST_READY);
    }
  }
  return found;
}
