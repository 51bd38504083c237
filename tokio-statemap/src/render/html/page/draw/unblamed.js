// Finds long polls that nothing is blamed for: they are striped, while the others are filled.

import { isUnblamed } from "../model/why.js";

/** @typedef {import("../data/section.js").Section} Section */

/** By list of polls: how many of the polls up to each one something is blamed for. */
const counts = new WeakMap();

/**
 * Returns whether nothing is blamed for any of the polls `from..to` of a list, for which one pixel may stand.
 * @param {Section} section
 * @param {ArrayLike<number>} polls transitions
 * @param {number} from
 * @param {number} to not included
 * @returns {boolean}
 */
export function areUnblamed(section, polls, from, to) {
  if (section.why === null) return false;
  let blamed = counts.get(polls);
  if (blamed === undefined) {
    blamed = new Uint32Array(polls.length + 1);
    for (let k = 0; k < polls.length; k++) blamed[k + 1] = blamed[k] + (isUnblamed(section, polls[k]) ? 0 : 1);
    counts.set(polls, blamed);
  }
  return blamed[from] === blamed[to];
}
