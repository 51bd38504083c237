// Who woke a task, so that it became ready for a poll.

import { FIRST_WAKER, lastNotAfter } from "../data/section.js";

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
 * Returns the poll in which a task was woken by another one, or by itself.
 * @param {Section} section
 * @param {{poll: number, row: number}} waker
 * @returns {number} a transition; −1 if no task woke it, or if that wasn't polled then
 */
export const wakingPoll = (section, { poll, row }) => {
  if (row < 0) return -1;
  const at = readySince(section, poll);
  const slack = slackOf(section, poll);
  const first = section.rowFirst[row];
  let last = lastNotAfter(section.time, first, section.rowFirst[row + 1], at + slack);
  // The task may have begun to wait, and become ready again, within the slack.
  while (last >= first && !section.isRunning[section.state[last]]) last--;
  return last >= first && at <= section.endOf(last) + slack ? last : -1;
};

/** Returns whether a poll's task may have been woken in `by`, a poll of the task that woke it: it became ready then, as far as the clocks tell. */
export const isWokenBy = (section, poll, by) => {
  const at = readySince(section, poll), slack = slackOf(section, poll);
  return section.time[by] <= at + slack && at <= section.endOf(by) + slack;
};

const readySince = (section, poll) => {
  const wasReady = poll > section.rowFirst[section.rowOf(poll)] && section.isReady[section.state[poll - 1]];
  return section.time[wasReady ? poll - 1 : poll];
};

/** The time is rounded, and clocks of two threads differ. */
const slackOf = (section, poll) => 1000 + (section.time[poll] - readySince(section, poll)) * 1e-5;

/**
 * Returns when the task was woken for a poll by another task, if that was polled then. A task that is woken in its own poll is ready
 * from the end of that on, and the time of the wake isn't known.
 * @param {Section} section
 * @param {{poll: number, row: number}} waker
 * @returns {number|null} in ns
 */
export const wokenAt = (section, waker) => {
  const by = wakingPoll(section, waker);
  return by < 0 ? null : Math.min(Math.max(readySince(section, waker.poll), section.time[by]), section.endOf(by));
};
