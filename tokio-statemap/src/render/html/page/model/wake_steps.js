// Steps along the wakes: from a poll back to the one that woke its task, and on to those that it woke. So a message is followed
// from task to task.

import { FIRST_WAKER } from "../data/section.js";
import { sourceOfPoll } from "./critical_path.js";
import { isInGap } from "./lanes.js";
import { isWokenBy, wakingPoll } from "./wakers.js";

/** @typedef {import("../data/section.js").Section} Section */

/**
 * Returns the poll that a span is, or the one that ends it, as a wait, or a time in which a task is ready; −1 if there is none, or if
 * something isn't known in between.
 */
const pollOf = (section, gaps, transition) => {
  const end = section.rowFirst[section.rowOf(transition) + 1];
  let poll = transition;
  while (poll < end && poll < transition + 3 && !section.isRunning[section.state[poll]]) poll++;
  if (poll >= end || !section.isRunning[section.state[poll]]) return -1;
  return poll === transition || !isInGap(gaps, section.time[transition], section.time[poll]) ? poll : -1;
};

/**
 * Returns the poll in which a task was woken, or spawned, for a poll, or for the one that ends a wait.
 * @param {Section} section
 * @param {[number, number][]} gaps of which nothing is known
 * @param {number} transition
 * @returns {number} a transition; −1 if no task did, or if that isn't known
 */
export const wakingStep = (section, gaps, transition) => {
  const poll = section.waker === null ? -1 : pollOf(section, gaps, transition);
  if (poll < 0) return -1;
  const row = section.rowOf(poll), source = sourceOfPoll(section, gaps, row, poll);
  if (source === null) return -1;
  // A task that woke itself did so in the poll before.
  return source.row === row ? pollBefore(section, gaps, row, poll) : wakingPoll(section, source);
};

const pollBefore = (section, gaps, row, poll) => {
  let before = poll - 1;
  while (before >= section.rowFirst[row] && !section.isRunning[section.state[before]]) before--;
  return before >= section.rowFirst[row] && !isInGap(gaps, section.endOf(before), section.time[poll]) ? before : -1;
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
  const own = pollOf(section, gaps, transition);
  if (own !== transition) return own < 0 ? [] : [own];
  const { waker, time, nTransitions, nRows, parent, rowFirst } = section;
  const row = section.rowOf(transition), found = [];
  const take = (poll) => { if (wakingStep(section, gaps, poll) === transition) found.push(poll); };
  for (let poll = 0; poll < nTransitions; poll++) if (waker[poll] === row + FIRST_WAKER && isWokenBy(section, poll, transition)) take(poll);
  for (let child = 0; child < nRows; child++) if (parent[child] === row && rowFirst[child] + 1 < rowFirst[child + 1]) take(rowFirst[child] + 1);
  const isOwn = (poll) => (section.rowOf(poll) === row ? 1 : 0);
  return [...new Set(found)].sort((a, b) => isOwn(a) - isOwn(b) || time[a] - time[b]);
};
