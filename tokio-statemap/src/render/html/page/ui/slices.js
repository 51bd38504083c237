// Long work in slices, so that no frame waits for it.

import { nextTask } from "./load.js";

/** For how long a slice goes on, in ms: less than half a frame. */
const SLICED_MS = 6;

/**
 * Runs steps to their end, the first slice at once.
 * @template T
 * @param {Generator<void, T, void>} steps short ones
 * @param {() => boolean} [isWanted] asked between slices
 * @returns {Promise<T|undefined>} what they return; `undefined` if that isn't wanted any more
 */
export const inSlices = async (steps, isWanted = () => true) => {
  for (;;) {
    const until = performance.now() + SLICED_MS;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < until);
    await nextTask();
    if (!isWanted()) return undefined;
  }
};
