// The initial selection: the poll, wait or group of the first issue, which is also the subject of the headline.

import { firstTarget } from "./reported.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{
 *   target: NonNullable<ReturnType<typeof firstTarget>>, section: number, group: number, row: number|null,
 *   start: number, end: number,
 * }} Opening `target`: what to select; `row`: null if it is a whole group
 */

/**
 * @param {Model} model
 * @returns {Opening|null} null if there is no issue, or the first one is about nothing that is drawn
 */
export function openingOf(model) {
  const target = firstTarget(model);
  if (target === null) return null;
  const section = model.sections[target.section];
  if (target.kind === "group") return { target, section: section.index, group: target.group, row: null, start: 0, end: model.lengthNs };
  const { transition } = target;
  const row = section.rowOf(transition);
  return {
    target, section: section.index, group: section.groupOfRow(row), row, start: section.time[transition], end: section.endOf(transition),
  };
}
