// What differs in a period from the times before and after it.

import { laneTotals, recordedWithin } from "./lanes.js";
import { tagTotals } from "./totals.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{kind: "running"|"ready"|"waiting", label: string, group: number, average: (number|null)[]}} Change `group`: −1 for a line;
 *   `average`: the number of tasks in that state, before, during and after; null if nothing is kept of that time
 * @typedef {{changes: Change[], isKept: boolean, isCounted: boolean, areWaitsCounted: boolean}} Changes `changes`: by kind, those that
 *   changed most first; `isKept`: whether anything is kept of the period, and of the rest; `isCounted`: `false` if there is too much
 */

/** The most changes of each kind. */
const MOST_CHANGES = 5;

/** A change of less than this number of tasks, on average, is none. */
const LEAST_CHANGE = 0.01;

/** A change is left out if it is less than this part of the greatest one of its kind. */
const LEAST_PART = 0.02;

/** The most lanes that are looked at, once for each time between two gaps. */
const MOST_LANES_COMPARED = 2_000_000;

/**
 * Compares a period with the times before and after it.
 * @param {Model} model
 * @param {Section} section
 * @param {number} t0 in ns
 * @param {number} t1 in ns
 * @returns {Changes}
 */
export function changesOf(model, section, t0, t1) {
  const times = [[0, t0], [t0, t1], [t1, model.lengthNs]].map(([from, to]) => {
    const parts = to > from ? recordedWithin(model.meta.gaps, Math.round(from), Math.round(to)) : [];
    return { parts, kept: parts.reduce((sum, [begin, end]) => sum + end - begin, 0) };
  });
  const isKept = times[1].kept > 0 && times[0].kept + times[2].kept > 0;
  const parts = times.reduce((sum, time) => sum + time.parts.length, 0);
  const isCounted = section.nLanes * parts <= MOST_LANES_COMPARED;
  if (!isKept || !isCounted) return { changes: [], isKept, isCounted, areWaitsCounted: true };
  const found = [];
  const add = (kind, label, group, sums) => {
    const average = sums.map((sum, k) => (times[k].kept > 0 ? sum / times[k].kept : null));
    const usual = (sums[0] + sums[2]) / (times[0].kept + times[2].kept);
    const by = Math.abs(average[1] - usual);
    if (by >= LEAST_CHANGE) found.push({ kind, label, group, average, by });
  };
  for (const group of section.groups) {
    const totals = times.map((time) => {
      const sums = new Float64Array(section.states.length);
      for (let lane = group.firstLane; lane < group.endLane; lane++) for (const [from, to] of time.parts) laneTotals(section, lane, from, to, sums);
      return sums;
    });
    for (const [kind, isOf] of [["running", section.isRunning], ["ready", section.isReady]]) {
      add(kind, group.runs?.[0] ?? group.label, group.index, totals.map((all) => all.reduce((ns, of, state) => (isOf[state] ? ns + of : ns), 0)));
    }
  }
  const waits = section.awaits === null ? new Map() : waitsByLine(section, times);
  for (const [label, sums] of waits ?? []) add("waiting", label, -1, sums);
  const changes = ["running", "ready", "waiting"].flatMap((kind) => {
    const all = found.filter((change) => change.kind === kind).sort((a, b) => b.by - a.by).slice(0, MOST_CHANGES);
    return all.filter(({ by }) => by >= all[0].by * LEAST_PART).map(({ by, ...change }) => change);
  });
  return { changes, isKept, isCounted, areWaitsCounted: waits !== null };
}

/** Returns how long tasks waited at each line in each of the times; null if that is too much to count. */
function waitsByLine(section, times) {
  const byLabel = new Map();
  for (const [k, { parts }] of times.entries()) {
    for (const [from, to] of parts) {
      const totals = tagTotals(section, 0, section.nLanes, from, to);
      if (totals === null) return null;
      for (const { tag, ns } of totals) {
        const { label } = section.awaits.places[tag];
        if (!byLabel.has(label)) byLabel.set(label, [0, 0, 0]);
        byLabel.get(label)[k] += ns;
      }
    }
  }
  return byLabel;
}
