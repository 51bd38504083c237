// The polls of each worker in the order of time: which poll held it at a moment, and for how long polls held it.

import { firstIndex } from "../data/section.js";
import { heldNs } from "./polls.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{poll: Uint32Array, cum: Float64Array, most: Float64Array}} RowPolls `poll`: transitions of the section of tasks, by start;
 *   `cum`: how long all polls before every 32nd held the worker, in ns; `most`: how long the longest of that one and the next 31 did
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{tasks: Section, workers: Section, rowOf: Map<number, number>, rows: RowPolls[]}} WorkerPolls of one run; `rowOf`: the row
 *   of a worker by its index in the runtime
 */

/** The binary logarithm of the number of polls between two sums. */
const SUM_SHIFT = 5;

/** The number of polls that are sorted at once. */
const POLLS_AT_ONCE = 4096;

/** Longer times (4.3 s) don't fit into 32 bits, and are looked up instead. */
const LONG_HELD = 2 ** 32 - 1;

/**
 * Sorts all polls by worker and time. The result is kept with the sections and as `model.workerPolls`: one for each run
 * with known tasks and workers.
 * @param {Model} model
 * @returns {WorkerPolls[]}
 */
export function buildWorkerPolls(model) {
  model.workerPolls = [];
  for (const tasks of model.sections) {
    const workers = tasks.worker === null ? null : workersOf(model, tasks);
    if (workers === null) continue;
    const rowOf = new Map();
    for (let row = 0; row < workers.nRows; row++) rowOf.set(workers.indices?.[row] ?? row, row);
    const all = { tasks, workers, rowOf, rows: sortByWorker(tasks, rowOf, workers.nRows) };
    tasks.workerPolls = workers.workerPolls = all;
    model.workerPolls.push(all);
  }
  return model.workerPolls;
}

/**
 * Returns the poll that held a worker at `t`.
 * @param {Section} workers
 * @param {number} row of the worker
 * @param {number} t
 * @returns {number} a transition of the tasks' section; −1 if none
 */
export function pollAt({ workerPolls }, row, t) {
  if (workerPolls === null) return -1;
  const section = workerPolls.tasks;
  const { poll } = workerPolls.rows[row];
  const k = lastPollNotAfter(section.time, poll, t);
  if (k < 0) return -1;
  return t < section.time[poll[k]] + heldNs(section, poll[k]) ? poll[k] : -1;
}

/**
 * Returns how long polls held a worker from `t0` to `t1`: exact if both are whole ns.
 * @param {Section} workers
 * @param {number} row of the worker
 * @param {number} t0
 * @param {number} t1
 * @returns {number} ns
 */
export function workerHeld({ workerPolls }, row, t0, t1) {
  if (workerPolls === null || t1 <= t0) return 0;
  return heldBefore(workerPolls, row, t1) - heldBefore(workerPolls, row, t0);
}

function heldBefore({ tasks: section, rows }, row, t) {
  const { poll, cum } = rows[row];
  const k = lastPollNotAfter(section.time, poll, t);
  if (k < 0) return 0;
  const block = k >> SUM_SHIFT;
  let sum = cum[block];
  for (let i = block << SUM_SHIFT; i < k; i++) sum += heldNs(section, poll[i]);
  return sum + Math.min(t - section.time[poll[k]], heldNs(section, poll[k]));
}

/** Returns the last of the polls that begin not after `t`; −1 if there is none. */
const lastPollNotAfter = (time, poll, t) => firstIndex(0, poll.length, (k) => time[poll[k]] > t) - 1;

function sortByWorker(section, rowOf, nWorkers) {
  const { time, state, isRunning, worker, nTransitions, lengthNs } = section;
  // The row of each worker by its index plus 1. A further row stands for none.
  const rowOfWorker = new Uint32Array(65537).fill(nWorkers);
  for (const [index, row] of rowOf) rowOfWorker[index + 1] = row;
  const counts = new Uint32Array(nWorkers + 1);
  for (let i = 0; i < nTransitions; i++) {
    if (isRunning[state[i]] !== 0) counts[rowOfWorker[worker[i]]]++;
  }
  const total = nTransitions === 0 ? 0 : counts.subarray(0, nWorkers).reduce((sum, n) => sum + n, 0);
  // First by worker and by stretches of time, which are coarse enough that writing stays within the cache; then within each
  // stretch.
  const stretches = Math.max(1, Math.ceil(total / Math.max(1, nWorkers) / POLLS_AT_ONCE));
  const scale = lengthNs > 0 ? stretches / lengthNs : 0;
  const begin = new Uint32Array(nWorkers * stretches + 1);
  const slot = (i, row) => row * stretches + Math.min(stretches - 1, Math.floor(time[i] * scale));
  for (let i = 0; i < nTransitions; i++) {
    if (isRunning[state[i]] === 0) continue;
    const row = rowOfWorker[worker[i]];
    if (row < nWorkers) begin[slot(i, row) + 1]++;
  }
  for (let k = 1; k < begin.length; k++) begin[k] += begin[k - 1];
  const poll = new Uint32Array(total);
  const start = new Float64Array(total);
  const held = new Uint32Array(total);
  for (let i = 0; i < nTransitions; i++) {
    if (isRunning[state[i]] === 0) continue;
    const row = rowOfWorker[worker[i]];
    if (row >= nWorkers) continue;
    const at = begin[slot(i, row)]++;
    poll[at] = i;
    start[at] = time[i];
    held[at] = Math.min(heldNs(section, i), LONG_HELD);
  }
  // The beginning of each stretch has moved to its end by now.
  const sorter = new PollSorter(poll, start, held);
  for (let k = 0, from = 0; k < nWorkers * stretches; from = begin[k], k++) sorter.sort(from, begin[k]);
  const rows = [];
  for (let row = 0; row < nWorkers; row++) {
    const from = row === 0 ? 0 : begin[row * stretches - 1], to = begin[(row + 1) * stretches - 1];
    const cum = new Float64Array(((to - from) >> SUM_SHIFT) + 1), most = new Float64Array(cum.length);
    let sum = 0;
    for (let i = from; i < to; i++) {
      const block = (i - from) >> SUM_SHIFT;
      if (((i - from) & ((1 << SUM_SHIFT) - 1)) === 0) cum[block] = sum;
      const ns = held[i] < LONG_HELD ? held[i] : heldNs(section, poll[i]);
      sum += ns;
      if (ns > most[block]) most[block] = ns;
    }
    rows.push({ poll: poll.subarray(from, to), cum, most });
  }
  return rows;
}

/** Sorts parts of the polls by start; of equals, the poll that held its worker for less comes first. */
class PollSorter {
  constructor(poll, start, held) {
    this.poll = poll;
    this.start = start;
    this.held = held;
  }

  sort(from, to) {
    if (to - from <= 48) this.insert(from, to);
    else this.split(from, to);
  }

  insert(from, to) {
    const { poll, start, held } = this;
    for (let i = from + 1; i < to; i++) {
      const p = poll[i], s = start[i], h = held[i];
      let k = i;
      while (k > from && (start[k - 1] > s || (start[k - 1] === s && held[k - 1] > h))) {
        poll[k] = poll[k - 1];
        start[k] = start[k - 1];
        held[k] = held[k - 1];
        k--;
      }
      poll[k] = p;
      start[k] = s;
      held[k] = h;
    }
  }

  /** Divides a part that has many polls (a burst) again by its own length. */
  split(from, to) {
    const { poll, start, held } = this;
    const n = to - from;
    const polls = poll.slice(from, to), starts = start.slice(from, to), helds = held.slice(from, to);
    let least = Infinity, most = -Infinity;
    for (const s of starts) {
      if (s < least) least = s;
      if (s > most) most = s;
    }
    if (least === most) {
      // All begin at the same time.
      const order = Uint32Array.from(polls, (_, k) => k).sort((a, b) => helds[a] - helds[b]);
      order.forEach((k, i) => {
        poll[from + i] = polls[k];
        held[from + i] = helds[k];
      });
      return;
    }
    const stretches = n >> 2;
    const scale = (stretches - 1) / (most - least);
    const begin = new Uint32Array(stretches + 1);
    for (const s of starts) begin[Math.floor((s - least) * scale) + 1]++;
    for (let k = 1; k <= stretches; k++) begin[k] += begin[k - 1];
    for (let i = 0; i < n; i++) {
      const at = from + begin[Math.floor((starts[i] - least) * scale)]++;
      poll[at] = polls[i];
      start[at] = starts[i];
      held[at] = helds[i];
    }
    for (let k = 0, low = 0; k < stretches; low = begin[k], k++) this.sort(from + low, from + begin[k]);
  }
}

/** Returns the section of tasks; null if there is none. */
export const taskSection = (model) => model.sections.find((section) => section.worker !== null) ?? null;

/** Returns the section of the workers of a section's run; null if they weren't recorded. */
export const workersOf = (model, { run }) => model.sections.find((section) => section.kind === "workers" && section.run === run) ?? null;

/** Returns the row of the worker that ran a poll, as `{section, row}`; null if none did, or that isn't known. */
export const workerOfPoll = (section, transition) => {
  const worker = section.worker?.[transition] ?? 0;
  const row = worker === 0 ? undefined : section.workerPolls?.rowOf.get(worker - 1);
  return row === undefined ? null : { section: section.workerPolls.workers, row };
};
