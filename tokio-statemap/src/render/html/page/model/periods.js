// What differs in a period from others, such as the times before and after it.

import { shortName } from "./frames.js";
import { laneTotals, recordedWithin } from "./lanes.js";
import { heldNs } from "./polls.js";
import { tagTotals } from "./totals.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{kind: "held"|"running"|"ready"|"waiting", label: string, group: number, average: (number|null)[]}} Change `group`: −1 for
 *   a function or a line; `average`: the number of tasks in that state, in each of the times; null if nothing is kept of that time
 * @typedef {{changes: Change[], isKept: boolean, isCounted: boolean, areWaitsCounted: boolean,
 *   arePollsCounted: boolean}} Changes `changes`: by kind, those that
 *   changed most first; `isKept`: whether anything is kept of the period, and of the rest; `isCounted`: `false` if there is too much;
 *   `arePollsCounted`: `false` if the data has only the longest of the long polls
 */

/** Workers that a function held, and tasks in a state. */
const CHANGE_KINDS = ["held", "running", "ready", "waiting"];

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
 * @param {[number, number]} period in ns
 * @returns {Changes}
 */
export const changesOf = (model, section, [t0, t1]) => changesBetween(model, section, [[0, t0], [t0, t1], [t1, model.lengthNs]], 1);

/**
 * Compares one of some times with the others.
 * @param {Model} model
 * @param {Section} section
 * @param {[number, number][]} periods in ns
 * @param {number} subject the index of the one
 * @returns {Changes}
 */
export function changesBetween(model, section, periods, subject) {
  const times = periods.map(([from, to]) => {
    const parts = to > from ? recordedWithin(model.meta.gaps, Math.round(from), Math.round(to)) : [];
    return { parts, kept: parts.reduce((sum, [begin, end]) => sum + end - begin, 0) };
  });
  const isOther = (_, k) => k !== subject;
  const sumOf = (all) => all.filter(isOther).reduce((sum, of) => sum + of, 0);
  const keptOfOthers = sumOf(times.map(({ kept }) => kept));
  const isKept = times[subject].kept > 0 && keptOfOthers > 0;
  const parts = times.reduce((sum, time) => sum + time.parts.length, 0);
  const isCounted = section.nLanes * parts <= MOST_LANES_COMPARED;
  if (!isKept || !isCounted) return { changes: [], isKept, isCounted, areWaitsCounted: true, arePollsCounted: true };
  const found = [];
  const add = (kind, label, group, sums) => {
    const average = sums.map((sum, k) => (times[k].kept > 0 ? sum / times[k].kept : null));
    const by = Math.abs(average[subject] - sumOf(sums) / keptOfOthers);
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
  const held = heldByFunction(section, times);
  const labels = held.functions.map(({ label }) => label), isAlone = (label) => labels.indexOf(label) === labels.lastIndexOf(label);
  for (const { label, whole, sums } of held.functions) add("held", isAlone(label) ? label : whole, -1, sums);
  const waits = section.awaits === null ? new Map() : waitsByLine(section, times);
  for (const [label, sums] of waits ?? []) add("waiting", label, -1, sums);
  const changes = CHANGE_KINDS.flatMap((kind) => {
    const all = found.filter((change) => change.kind === kind).sort((a, b) => b.by - a.by).slice(0, MOST_CHANGES);
    return all.filter(({ by }) => by >= all[0].by * LEAST_PART).map(({ by, ...change }) => change);
  });
  return { changes, isKept, isCounted, areWaitsCounted: waits !== null, arePollsCounted: held.areAll };
}

/** Returns how long the long polls of each blamed function held workers in each of the times, and whether all are in the data. */
function heldByFunction(section, times) {
  const byFunction = new Map();
  let areAll = true;
  for (const { frame, place, polls, at } of section.why?.culprits ?? []) {
    const key = frame === null ? place : [frame.name, frame.file].join(" ");
    const { sums } = byFunction.get(key) ?? { sums: times.map(() => 0) };
    byFunction.set(key, { label: frame === null ? place : shortName(frame.name), whole: frame === null ? place : `${frame.name} in ${frame.file ?? "an unknown file"}`, sums });
    areAll &&= at.length === polls;
    for (const { transition } of at) {
      const begin = section.time[transition], end = begin + heldNs(section, transition);
      for (const [k, { parts }] of times.entries()) {
        for (const [from, to] of parts) sums[k] += Math.max(0, Math.min(end, to) - Math.max(begin, from));
      }
    }
  }
  return { functions: [...byFunction.values()], areAll };
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
        if (!byLabel.has(label)) byLabel.set(label, times.map(() => 0));
        byLabel.get(label)[k] += ns;
      }
    }
  }
  return byLabel;
}
