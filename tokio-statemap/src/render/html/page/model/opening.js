// What the page opens on: where the first issue of the report can be seen, as the headline is about that. Where no report
// says what is first, the worst poll.

import { worstPoll } from "./issues.js";
import { firstTarget, isAnyJudged } from "./told.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{
 *   target: NonNullable<ReturnType<typeof firstTarget>>, section: number, group: number, row: number|null,
 *   start: number, end: number,
 * }} Opening `target`: as something to select; `row`: null if it is a whole group
 */

/**
 * @param {Model} model
 * @returns {Opening|null} null if the first issue isn't of anything that is drawn, or nothing is worth a look
 */
export function openingOf(model) {
  // A poll that the first issue isn't about is none to open on, even if there is no other.
  const target = isAnyJudged(model) ? firstTarget(model) : worstTarget(model);
  if (target === null) return null;
  const section = model.sections[target.section];
  if (target.kind === "group") return { target, section: section.index, group: target.group, row: null, start: 0, end: model.lengthNs };
  const { transition } = target;
  const row = section.rowOf(transition);
  return {
    target, section: section.index, group: section.groupOfRow(row), row, start: section.time[transition], end: section.endOf(transition),
  };
}

function worstTarget(model) {
  const worst = worstPoll(model);
  return worst === null ? null : { kind: "span", section: worst.section, transition: worst.transition };
}
