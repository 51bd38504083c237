// Runs long work in slices, so that no frame waits for it.

import { nextTask } from "./load.js";

/** The length of a slice in ms: less than half a frame. */
const SLICED_MS = 6;

/**
 * Runs steps to their end. The first slice runs at once.
 * @template T
 * @param {Generator<void, T, void>} steps short ones
 * @param {() => boolean} [isWanted] checked between slices
 * @returns {Promise<T|undefined>} the result of the steps; `undefined` if it is no longer wanted
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
