// Who woke a task, so that it became ready for a poll.

import { FIRST_WAKER } from "../data/section.js";

/** @typedef {import("../data/section.js").Section} Section */

const OTHERS = [null, "the runtime", "a blocking task", "another thread", "a task that isn't shown"];

/**
 * Returns who woke the task for a poll, or for the poll after a time in which it is ready.
 * @param {Section} section
 * @param {number} transition
 * @returns {{poll: number, row: number, name: string}|null} `poll`: the transition of the poll; `row`: that of the task that woke it, −1
 *   with a `name` if it is no row; null if it isn't known
 */
export const wakerOf = (section, transition) => {
  if (section.waker === null) return null;
  const poll = section.isReady[section.state[transition]] ? transition + 1 : transition;
  if (poll >= section.nTransitions || section.rowOf(poll) !== section.rowOf(transition)) return null;
  const waker = section.waker[poll];
  if (waker === 0) return null;
  return waker < FIRST_WAKER ? { poll, row: -1, name: OTHERS[waker] } : { poll, row: waker - FIRST_WAKER, name: "" };
};

/**
 * Returns when the task became ready for a poll.
 * @param {Section} section
 * @param {number} poll its transition
 * @returns {number} in ns
 */
export const wokenAt = (section, poll) => {
  const before = poll - 1;
  const wasReady = poll > section.rowFirst[section.rowOf(poll)] && section.isReady[section.state[before]];
  return section.time[wasReady ? before : poll];
};
