// Counts the lengths of polls, ready times and lives of a location, a task, a worker, a culprit, or of what began within a
// time. The generators' steps are short, so that frames can be drawn in between.

import { lastNotAfter } from "../data/section.js";
import { HistogramOf } from "./histogram.js";
import { ownNs } from "./polls.js";
import { NOT_READY, readyEnd } from "./waits.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("./histogram.js").Distribution} Distribution
 * @typedef {{kind: "group", section: number, group: number}|{kind: "row", section: number, row: number}
 *   |{kind: "worker", row: number}|{kind: "culprit", section: number, culprit: number}
 *   |{kind: "range", section: number, t0: number, t1: number}} Scope indices; a range counts what began in it
 * @typedef {{
 *   section: number, polls: Distribution|null, ready: Distribution|null, lives: Distribution|null, tasks: number,
 *   alive: number, older: number,
 * }} Distributions null: it doesn't exist, or isn't known. The values are of transitions of the section, those of `lives` of rows.
 *   `lives`: of tasks that were seen from their spawn to their end; `alive`: the number of other tasks that have no end; `older`:
 *   the number of the rest, which existed before they were first seen
 *   no end; `older`: how many of the rest were there before they were first seen
 */

/** The number of transitions after which a step ends. */
const SPANS_A_STEP = 16384;

/**
 * Counts the distributions of a scope.
 * @param {Model} model
 * @param {Scope} scope
 * @returns {Generator<void, Distributions, void>}
 */
export function* distributionsOf(model, scope) {
  if (scope.kind === "worker") {
    const { tasks, rows } = model.sections[scope.section].workerPolls;
    return yield* ofListed(tasks, rows[scope.row].poll);
  }
  const section = model.sections[scope.section];
  if (scope.kind === "culprit") {
    return yield* ofListed(section, section.why.culprits[scope.culprit].at.map(({ transition }) => transition));
  }
  if (scope.kind === "range") return yield* ofRange(model, section, scope.t0, scope.t1);
  const { firstRow, rows } = scope.kind === "row" ? { firstRow: scope.row, rows: 1 } : section.groups[scope.group];
  return yield* ofRows(model, section, firstRow, firstRow + rows);
}

function* ofListed(section, polls) {
  const lengths = new HistogramOf(polls.length);
  for (let k = 0; k < polls.length; k++) {
    lengths.add(ownNs(section, polls[k]), polls[k]);
    if (k % SPANS_A_STEP === 0) yield;
  }
  return { section: section.index, polls: lengths.finish(), ready: null, lives: null, tasks: 0, alive: 0, older: 0 };
}

function* ofRows(model, section, from, to) {
  const { rowFirst } = section;
  const counts = new Counts(model, section, rowFirst[to] - rowFirst[from]);
  for (let row = from, looked = 0; row < to; row++) {
    counts.task(row);
    for (let i = rowFirst[row]; i < rowFirst[row + 1]; i++) {
      counts.span(i, row);
      if (++looked % SPANS_A_STEP === 0) yield;
    }
    if (++looked % SPANS_A_STEP === 0) yield;
  }
  return counts.finish();
}

function* ofRange(model, section, t0, t1) {
  const { time, rowFirst } = section;
  const counts = new Counts(model, section);
  // A poll that began in the last ns of the run belongs to a range that ends with it.
  const until = t1 >= model.lengthNs ? Infinity : t1;
  for (let lane = 0, looked = 0; lane < section.nLanes; lane++) {
    const end = section.laneBegin(lane + 1);
    // Times are whole ns: this is the first one that is not before `t0`.
    let i = lastNotAfter(time, section.laneBegin(lane), end, t0 - 0.5) + 1;
    let row = i < end ? section.rowOf(i) : 0;
    for (; i < end && time[i] < until; i++) {
      while (i >= rowFirst[row + 1]) row++;
      if (i === rowFirst[row]) counts.task(row);
      counts.span(i, row);
      if (++looked % SPANS_A_STEP === 0) yield;
    }
    if (++looked % SPANS_A_STEP === 0) yield;
  }
  return counts.finish();
}

/** Counts a section's tasks and what they did. */
class Counts {
  constructor(model, section, spans = 0) {
    this.section = section;
    this.knowsReady = model.meta.readyKnown;
    this.hasPolls = section.isRunning.includes(1);
    // Each poll has a transition at its end, too.
    const capacity = (spans >> 1) + 1;
    this.polls = new HistogramOf(this.hasPolls ? capacity : 1);
    this.ready = new HistogramOf();
    this.lives = new HistogramOf();
    this.tasks = this.alive = this.older = 0;
  }

  span(i, row) {
    const { section } = this;
    const state = section.state[i];
    if (section.isRunning[state] !== 0) this.polls.add(ownNs(section, i), i);
    else if (this.knowsReady && section.isReady[state] !== 0 && readyEnd(section, i, row) !== NOT_READY) {
      this.ready.add(section.endOf(i) - section.time[i], i);
    }
  }

  task(row) {
    const { section } = this;
    const first = section.rowFirst[row], last = section.rowFirst[row + 1] - 1;
    this.tasks++;
    if (last < first || section.isEnd[section.state[last]] === 0) this.alive++;
    else if (!isSeenFromSpawn(section, row)) this.older++;
    else this.lives.add(section.rowEnd(row) - section.rowBegin(row), row);
  }

  finish() {
    const { section, tasks, alive, older } = this;
    return {
      section: section.index, tasks, alive, older,
      polls: this.hasPolls ? this.polls.finish() : null,
      ready: this.hasPolls && this.knowsReady ? this.ready.finish() : null,
      lives: this.lives.finish(),
    };
  }
}

/** Returns whether a row begins with its spawn, or has none: root futures, and what isn't a task. */
function isSeenFromSpawn(section, row) {
  if (section.kind !== "tasks" || section.isRoot[row] !== 0) return true;
  return section.states[section.state[section.rowFirst[row]]].role === "spawned";
}
