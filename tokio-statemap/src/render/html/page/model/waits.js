// When tasks were ready: woken or spawned, and not yet polled.

/** @typedef {import("../data/section.js").Section} Section */

/** Returned by `readyEnd` for spans in which a task did not wait for a worker. */
export const NOT_READY = -1;

/**
 * Returns the worker (plus 1) whose poll ends the ready span that transition `i` of `row` begins; 0 if the task was spawned and
 * never polled. As in the report, a span that ends on another thread than a worker does not count, and neither does one of a root
 * future, which is in no queue.
 * @param {Section} section
 * @param {number} i
 * @param {number} row
 * @returns {number} `NOT_READY` if it does not count
 */
export function readyEnd(section, i, row) {
  const { state, isReady, isRunning, worker, isRoot, states } = section;
  if (isReady[state[i]] === 0) return NOT_READY;
  const next = i + 1, isLast = next === section.rowFirst[row + 1];
  if (!isLast && isRunning[state[next]] !== 0 && worker !== null) return worker[next] !== 0 ? worker[next] : NOT_READY;
  if (isRoot[row] !== 0) return NOT_READY;
  // A span that the end of the recording cuts counts, too.
  return isLast || isRunning[state[next]] !== 0 || states[state[i]].role === "spawned" ? 0 : NOT_READY;
}
