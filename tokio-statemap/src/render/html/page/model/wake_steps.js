// Steps along the wakes: from a poll back to the one that woke its task, and on to those that it woke. So a message is followed
// from task to task.

import { FIRST_WAKER } from "../data/section.js";
import { sourceOfPoll } from "./critical_path.js";
import { wakingPoll } from "./wakers.js";

/** @typedef {import("../data/section.js").Section} Section */

/** Returns the poll that a span is, or the one that ends it, as a wait, or the time in which a task is ready; −1 if there is none. */
const pollOf = (section, transition) => {
  const end = section.rowFirst[section.rowOf(transition) + 1];
  let poll = transition;
  while (poll < end && poll < transition + 3 && !section.isRunning[section.state[poll]]) poll++;
  return poll < end && section.isRunning[section.state[poll]] ? poll : -1;
};

/**
 * Returns the poll in which a task was woken, or spawned, for a poll, or for the one that ends a wait.
 * @param {Section} section
 * @param {[number, number][]} gaps of which nothing is known
 * @param {number} transition
 * @returns {number} a transition; −1 if no task did, or if that isn't known
 */
export const wakingStep = (section, gaps, transition) => {
  const poll = section.waker === null ? -1 : pollOf(section, transition);
  const row = poll < 0 ? -1 : section.rowOf(poll), source = poll < 0 ? null : sourceOfPoll(section, gaps, row, poll);
  if (source === null) return -1;
  // A task that woke itself did so in the poll before.
  return source.row === row ? pollBefore(section, row, poll) : wakingPoll(section, source);
};

const pollBefore = ({ rowFirst, isRunning, state }, row, poll) => {
  let before = poll - 1;
  while (before >= rowFirst[row] && !isRunning[state[before]]) before--;
  return before >= rowFirst[row] ? before : -1;
};

/**
 * Returns the polls of tasks that were woken, or spawned, in a poll, those of other tasks first, the earliest first; for a wait, or a
 * time in which a task is ready, the poll that ends it. It looks at all polls.
 * @param {Section} section
 * @param {[number, number][]} gaps of which nothing is known
 * @param {number} transition
 * @returns {number[]}
 */
export const wokenSteps = (section, gaps, transition) => {
  if (section.waker === null) return [];
  const own = pollOf(section, transition);
  if (own !== transition) return own < 0 ? [] : [own];
  const { waker, time, nTransitions, nRows, parent, rowFirst } = section;
  const row = section.rowOf(transition), begin = time[transition], found = [];
  const take = (poll) => { if (wakingStep(section, gaps, poll) === transition) found.push(poll); };
  // A poll that was woken in this one begins later, but for the clocks of two threads.
  for (let poll = 0; poll < nTransitions; poll++) if (waker[poll] === row + FIRST_WAKER && time[poll] >= begin - CLOCKS_NS) take(poll);
  for (let child = 0; child < nRows; child++) if (parent[child] === row && rowFirst[child] + 1 < rowFirst[child + 1]) take(rowFirst[child] + 1);
  const isOwn = (poll) => (section.rowOf(poll) === row ? 1 : 0);
  return [...new Set(found)].sort((a, b) => isOwn(a) - isOwn(b) || time[a] - time[b]);
};

/** By how much the clocks of two threads may differ, in ns. */
const CLOCKS_NS = 10_000;
