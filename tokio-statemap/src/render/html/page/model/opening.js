// What the page opens on: where the first issue of the report can be seen, as the headline is about that. Where no report
// says what is first, the worst poll.

import { worstPoll } from "./issues.js";
import { isPoll, pollInfo } from "./polls.js";
import { firstTarget, onlyJudged } from "./told.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{
 *   target: NonNullable<ReturnType<typeof firstTarget>>, section: number, group: number, row: number|null,
 *   start: number, end: number, worker: number|null,
 * }} Opening `target`: as something to select; `row`: null if it is a whole group; `worker`: of a poll on one
 */

/**
 * @param {Model} model
 * @returns {Opening|null} null if the first issue isn't of anything that is drawn, or nothing is worth a look
 */
export function openingOf(model) {
  // A poll that the first issue isn't about is none to open on, even if there is no other.
  const target = onlyJudged(model) === null ? worstTarget(model) : firstTarget(model);
  if (target === null) return null;
  const section = model.sections[target.section];
  if (target.kind === "group") return { target, section: section.index, group: target.group, row: null, start: 0, end: model.lengthNs, worker: null };
  const { transition } = target;
  const row = section.rowOf(transition);
  return {
    target, section: section.index, group: section.groupOfRow(row), row, start: section.time[transition], end: section.endOf(transition),
    worker: isPoll(section, transition) ? pollInfo(section, transition, model.meta.gaps).worker : null,
  };
}

function worstTarget(model) {
  const worst = worstPoll(model);
  return worst === null ? null : { kind: "span", section: worst.section, transition: worst.transition };
}
