// Long polls that nobody is to blame for: they are barred, where those of somebody are filled.

import { isUnblamed } from "../model/why.js";

/** @typedef {import("../data/section.js").Section} Section */

/** How many polls of a list somebody is to blame for, up to each of them; by the list. */
const counts = new WeakMap();

/**
 * Whether nobody is to blame for any of the polls `from..to` of a list: one pixel may stand for all of them.
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
