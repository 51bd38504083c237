// What differs in a period from the times before and after it.

import { keptNs } from "./lanes.js";
import { tagTotals, totalsOfGroup } from "./totals.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{kind: "running"|"ready"|"waiting", label: string, group: number, average: (number|null)[]}} Change `group`: −1 for a line;
 *   `average`: the number of tasks in that state, before, during and after; null if nothing is kept of that time
 */

/** The most changes of each kind. */
const MOST_CHANGES = 5;

/** A change of less than this number of tasks, on average, is none. */
const LEAST_CHANGE = 0.01;

/** A change is left out if it is less than this part of the greatest one of its kind. */
const LEAST_PART = 0.02;

/** The most groups that are looked at: the first ones are those that held workers longest. */
const MOST_GROUPS_COMPARED = 200;

/**
 * Compares a period with the times before and after it.
 * @param {Model} model
 * @param {Section} section
 * @param {number} t0 in ns
 * @param {number} t1 in ns
 * @returns {Change[]} by kind, those that changed most first; none if nothing is kept of the period, or of the rest
 */
export function changesOf(model, section, t0, t1) {
  const times = [[0, t0], [t0, t1], [t1, model.lengthNs]].map(([from, to]) => [from, to, to > from ? keptNs(model, from, to) : 0]);
  if (times[1][2] === 0 || times[0][2] + times[2][2] === 0) return [];
  const averages = (sums) => sums.map((sum, k) => (times[k][2] > 0 ? sum / times[k][2] : null));
  const found = [];
  const add = (kind, label, group, average) => {
    const others = [0, 2].filter((k) => average[k] !== null);
    const usual = others.reduce((sum, k) => sum + average[k] * times[k][2], 0) / others.reduce((sum, k) => sum + times[k][2], 0);
    const by = Math.abs(average[1] - usual);
    if (by >= LEAST_CHANGE) found.push({ kind, label, group, average, by });
  };
  for (const group of section.groups.slice(0, MOST_GROUPS_COMPARED)) {
    const totals = times.map(([from, to, kept]) => (kept > 0 ? totalsOfGroup(section, model.meta.gaps, group, Math.round(from), Math.round(to)) : null));
    for (const [kind, isOf] of [["running", section.isRunning], ["ready", section.isReady]]) {
      const sum = (all) => (all ?? []).reduce((ns, of, state) => (isOf[state] ? ns + Number(of) : ns), 0);
      add(kind, group.runs?.[0] ?? group.label, group.index, averages(totals.map(sum)));
    }
  }
  if (section.awaits !== null) {
    const tagged = times.map(([from, to, kept]) => (kept > 0 ? tagTotals(section, 0, section.nLanes, from, to) : []));
    if (!tagged.includes(null)) {
      const byLabel = new Map();
      tagged.forEach((all, k) => {
        for (const { tag, ns } of all) {
          const { label } = section.awaits.places[tag];
          if (!byLabel.has(label)) byLabel.set(label, [0, 0, 0]);
          byLabel.get(label)[k] += ns;
        }
      });
      for (const [label, sums] of byLabel) add("waiting", label, -1, averages(sums));
    }
  }
  return ["running", "ready", "waiting"].flatMap((kind) => {
    const all = found.filter((change) => change.kind === kind).sort((a, b) => b.by - a.by).slice(0, MOST_CHANGES);
    return all.filter(({ by }) => by >= all[0].by * LEAST_PART).map(({ by, ...change }) => change);
  });
}
