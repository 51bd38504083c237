// The table of spawn locations, as in the report.

import { heldNs, longPolls, ownNs, taskSections } from "./polls.js";
import { NOT_READY, readyEnd } from "./waits.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{
 *   section: number, group: number, label: string, tasks: number, polls: number, heldNs: number, offWorkerNs: number,
 *   shareOfWorkers: number|null, longestNs: number, longest: number, p50Ns: number, p99Ns: number,
 *   runningNs: number, readyNs: number, longestReadyNs: number|null, longestReady: number,
 *   longPolls: number, longPollsNs: number,
 * }} LocationRow `longest`, `longestReady`: transitions, −1 if none; `longPolls` held a worker for longer than the threshold;
 *   `longestNs`, `p50Ns`, `p99Ns`: the polls' own time; sums are of the time for which they held workers; `shareOfWorkers`: the share
 *   of all workers' time, null if that isn't known; `longestReadyNs`: null if ready times were not recorded
 */

/**
 * Builds the table: a row for each group of tasks. What doesn't depend on the threshold is kept with the model.
 * @param {Model} model
 * @param {number} [thresholdNs] the length from which a poll counts as long
 * @returns {LocationRow[]} those that held workers longest come first
 */
export function locationTable(model, thresholdNs = model.meta.long) {
  const rows = (model.locations ??= buildLocations(model)).map((row) => ({ ...row }));
  const rowOf = new Map(rows.map((row) => [`${row.section}.${row.group}`, row]));
  for (const section of taskSections(model)) {
    const { poll, laneFirst } = longPolls(section, thresholdNs);
    for (const group of section.groups) {
      const row = rowOf.get(`${section.index}.${group.index}`);
      for (let k = laneFirst[group.firstLane]; k < laneFirst[group.endLane]; k++) {
        if (section.worker[poll[k]] === 0) continue;
        row.longPolls++;
        row.longPollsNs += heldNs(section, poll[k]);
      }
    }
  }
  return rows;
}

function buildLocations(model) {
  const rows = [];
  for (const section of taskSections(model)) {
    const workersTime = workersTimeNs(model, section.run);
    for (const group of section.groups) rows.push(locationRow(model, section, group, workersTime > 0 ? workersTime : null));
  }
  return rows.sort((a, b) => b.heldNs - a.heldNs || b.offWorkerNs - a.offWorkerNs || a.section - b.section || a.group - b.group);
}

function locationRow(model, section, group, workersTime) {
  const { time, state, isRunning, isReady, worker, rowFirst } = section;
  const knowsReady = model.meta.readyKnown;
  const from = rowFirst[group.firstRow], to = rowFirst[group.firstRow + group.rows];
  const result = {
    section: section.index, group: group.index, label: group.label, tasks: group.rows, polls: 0, heldNs: 0,
    offWorkerNs: 0, shareOfWorkers: null, longestNs: 0, longest: -1, p50Ns: 0, p99Ns: 0, runningNs: 0, readyNs: 0,
    longestReadyNs: knowsReady ? 0 : null, longestReady: -1, longPolls: 0, longPollsNs: 0,
  };
  let polls = 0;
  for (let i = from; i < to; i++) polls += isRunning[state[i]];
  const lengths = new Float64Array(polls);
  let n = 0, row = group.firstRow;
  for (let i = from; i < to; i++) {
    while (i >= rowFirst[row + 1]) row++;
    if (isRunning[state[i]] !== 0) {
      const held = heldNs(section, i), own = ownNs(section, i);
      lengths[n++] = own;
      result.runningNs += section.endOf(i) - time[i];
      if (own > result.longestNs || (own === result.longestNs && (result.longest < 0 || time[i] < time[result.longest]))) {
        result.longestNs = own;
        result.longest = i;
      }
      if (worker[i] === 0) result.offWorkerNs += held;
      else result.heldNs += held;
    } else if (knowsReady && isReady[state[i]] !== 0 && readyEnd(section, i, row) !== NOT_READY) {
      const length = section.endOf(i) - time[i];
      result.readyNs += length;
      if (length > result.longestReadyNs || result.longestReady < 0) {
        result.longestReadyNs = length;
        result.longestReady = i;
      }
    }
  }
  result.polls = polls;
  lengths.sort();
  result.p99Ns = quantile(lengths, 99);
  result.p50Ns = quantile(lengths, 50);
  if (workersTime !== null) result.shareOfWorkers = result.heldNs / workersTime;
  return result;
}

/**
 * Returns the time for which the workers of a run existed in all, without the gaps in the recording.
 * @param {Model} model
 * @param {number} run
 * @returns {number} ns
 */
function workersTimeNs(model, run) {
  let sum = 0;
  for (const section of model.sections) {
    if (section.kind !== "workers" || section.run !== run) continue;
    for (let row = 0; row < section.nRows; row++) {
      const begin = section.rowBegin(row), end = section.rowEnd(row);
      sum += end - begin;
      for (const [from, to] of model.meta.gaps ?? []) sum -= Math.max(0, Math.min(to, end) - Math.max(from, begin));
    }
  }
  return sum;
}

/**
 * Returns the smallest value that at least `percent` of the values do not exceed; 0 if there are none.
 * @param {Float64Array} values sorted
 * @param {number} percent
 * @returns {number}
 */
export function quantile(values, percent) {
  return values[Math.ceil((values.length * percent) / 100) - 1] ?? 0;
}
