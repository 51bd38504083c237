// The sums of the whole run, for equal stretches of time. They exist even where no detail is kept.

import { lastNotAfter } from "../data/section.js";
import { recordedWithin } from "./lanes.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{
 *   index: number, from: number, to: number, recorded: number, share: number|null, polls: number, longest: number,
 *   place: string|null, alive: number,
 * }} StretchInfo times in ns; `share`: the share of all workers' time that was spent in polls, null if nothing was recorded; `place`:
 *   where the task of the longest poll was spawned, null if no poll began; `alive`: the number of tasks at its end
 * @typedef {{share: Float64Array, longest: Float64Array}} SumColumns for each pixel; a share is NaN where nothing was recorded
 */

/** Returns the beginning and the end of a stretch. */
export function stretchTimes(model, index) {
  const { from, stretch } = model.meta.sums;
  const at = from + index * stretch;
  return [Math.min(at, model.lengthNs), Math.min(at + stretch, model.lengthNs)];
}

/**
 * Returns the stretch at a time.
 * @param {Model} model
 * @param {number} t
 * @returns {number} −1 if there is none
 */
export function stretchAt(model, t) {
  const { sums } = model.meta;
  if (!sums || t < sums.from || t > model.lengthNs) return -1;
  // Rounding of each stretch may make the last one end before the run does.
  return Math.min(Math.floor((t - sums.from) / sums.stretch), sums.polls.length - 1);
}

/** Returns how long recording ran within a stretch. */
const recordedOf = (model, index) => {
  const [from, to] = stretchTimes(model, index);
  return Math.max(0, to - from - (model.meta.sums.stopped?.[index] ?? 0));
};

/**
 * Returns what is known of a stretch.
 * @param {Model} model
 * @param {number} index
 * @returns {StretchInfo}
 */
export function stretchInfo(model, index) {
  const { sums } = model.meta;
  const [from, to] = stretchTimes(model, index);
  const recorded = recordedOf(model, index);
  return {
    index, from, to, recorded,
    share: recorded > 0 ? Math.min(1, sums.held[index] / (recorded * sums.workers)) : null,
    polls: sums.polls[index],
    longest: sums.longest[index],
    place: sums.at[index] > 0 ? sums.places[sums.at[index] - 1].label : null,
    alive: sums.alive[index],
  };
}

/** Returns how long recording ran in all. */
export function recordedInAll(model) {
  return model.meta.sums.polls.reduce((sum, _, index) => sum + recordedOf(model, index), 0);
}

/** Returns the parts of a time of which only sums are kept. */
export function droppedWithin(model, t0, t1) {
  const dropped = model.meta.sums?.dropped ?? [];
  return dropped.map(([from, to]) => [Math.max(from, t0), Math.min(to, t1)]).filter(([from, to]) => from < to);
}

/** Returns whether only sums are kept of a moment. */
export function isDropped(model, t) {
  return (model.meta.sums?.dropped ?? []).some(([from, to]) => from <= t && t < to);
}

/** Returns the part of the run, kept in detail, that contains a moment. */
function keptAround(model, t) {
  const kept = recordedWithin(model.meta.gaps, 0, model.lengthNs);
  return kept[Math.max(0, lastNotAfter(kept.map(([from]) => from), 0, kept.length, t))];
}

/**
 * Returns the initial view: if not all of the run is kept in detail, the part around what the page opens on.
 * @param {Model} model
 * @param {{start: number, end: number, row?: number|null}|null} opening
 * @returns {[number, number]}
 */
export function homeTimes(model, opening) {
  // A whole group has no time of its own.
  if (!model.meta.sums || opening === null || opening.row === null) return [0, model.lengthNs];
  const from = keptAround(model, opening.start)[0], to = keptAround(model, opening.end)[1];
  // A margin shows where the detail ends.
  const margin = (to - from) * 0.06;
  return [Math.max(0, Math.round(from - margin)), Math.min(model.lengthNs, Math.round(to + margin))];
}

/**
 * Calls `each(index, within, whole)` for the stretches that overlap a time: how much of each is within it, and its length.
 */
function eachStretch(model, t0, t1, each) {
  if (t0 >= model.lengthNs) return;
  for (let index = Math.max(0, stretchAt(model, Math.max(t0, model.meta.sums.from))); index < model.meta.sums.polls.length; index++) {
    const [from, to] = stretchTimes(model, index);
    if (from >= t1) return;
    if (to > t0) each(index, Math.min(to, t1) - Math.max(from, t0), to - from);
  }
}

/**
 * Sums up the parts of a time of which no detail is kept. Stretches that are partly within it count proportionally.
 * @param {Model} model
 * @param {number} t0
 * @param {number} t1
 * @returns {{ns: number, share: number|null, longest: number, place: string|null}} `ns`: the length of these parts
 */
export function sumUp(model, t0, t1) {
  const { sums } = model.meta;
  let ns = 0, held = 0, recorded = 0, longest = -1;
  for (const [from, to] of droppedWithin(model, t0, t1)) {
    ns += to - from;
    eachStretch(model, from, to, (index, within, whole) => {
      held += (sums.held[index] * within) / whole;
      recorded += (recordedOf(model, index) * within) / whole;
      if (sums.at[index] > 0 && (longest < 0 || sums.longest[index] > sums.longest[longest])) longest = index;
    });
  }
  return {
    ns,
    share: recorded > 0 ? Math.min(1, held / (recorded * sums.workers)) : null,
    longest: longest < 0 ? 0 : sums.longest[longest],
    place: longest < 0 ? null : sums.places[sums.at[longest] - 1].label,
  };
}

/**
 * Converts the stretches to columns of pixels.
 * @param {Model} model
 * @param {number} t0
 * @param {number} t1
 * @param {number} width whole pixels
 * @returns {SumColumns}
 */
export function sumColumns(model, t0, t1, width) {
  const { sums } = model.meta;
  const share = new Float64Array(width).fill(NaN), longest = new Float64Array(width);
  const pixel = (t1 - t0) / width;
  for (let x = 0; x < width; x++) {
    let held = 0, recorded = 0;
    eachStretch(model, t0 + x * pixel, t0 + (x + 1) * pixel, (index, within, whole) => {
      held += (sums.held[index] * within) / whole;
      recorded += (recordedOf(model, index) * within) / whole;
      longest[x] = Math.max(longest[x], sums.longest[index]);
    });
    if (recorded > 0) share[x] = Math.min(1, held / (recorded * sums.workers));
  }
  return { share, longest };
}
