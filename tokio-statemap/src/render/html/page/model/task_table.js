// The table of all tasks: a column of numbers for each property, filled when it is first needed. All methods are generators
// with short steps, so that frames can be drawn in between.

import { lastNotAfter } from "../data/section.js";
import { heldNs, ownNs } from "./polls.js";
import { sortSteps } from "./stable_sort.js";
import { NOT_READY, readyEnd } from "./waits.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{
 *   polls: Float64Array, held: Float64Array, longest: Float64Array, waited: Float64Array, ready: Float64Array,
 *   number: Float64Array, prefix: Float64Array, location: Float64Array, parent: Int32Array,
 * }} TaskColumns by task; NaN where it isn't known. `held`: how long its polls held workers, or ran on other threads; `waited`: without
 *   gaps in the recording; `number`, `prefix`: the sort keys of its name; `location`: the rank of its label; `parent`: the task that
 *   spawned it, −1 if unknown
 * @typedef {{t: number, state: Int32Array, age: Float64Array}} TasksAt at a moment, by task: `state` is −1 before the task exists
 * @typedef {"name"|"location"|"state"|"age"|"polls"|"held"|"longest"|"waited"|"ready"|"parent"} TaskColumn
 */

/** The number of transitions, and of tasks, after which a step ends. */
const TRANSITIONS_A_STEP = 32768;
const TASKS_A_STEP = 4096;

/** The order in which states are sorted: those that need a worker come first. */
const STATE_ORDER = ["running", "ready", "spawned", "waiting", "completed"];

export class TaskTable {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    const tasks = model.sections.filter(({ kind }) => kind === "tasks");
    /** Rows of other data stand in for tasks if there are none. @type {Section[]} */
    this.sections = tasks.length > 0 ? tasks : model.sections.filter(({ kind }) => kind === "other");
    /** The first task of each section, and behind them the number of tasks. */
    this.first = new Uint32Array(this.sections.length + 1);
    this.sections.forEach(({ nRows }, s) => (this.first[s + 1] = this.first[s] + nRows));
    this.n = this.first[this.sections.length];
    /** Filled by `countColumns`. @type {TaskColumns|null} */
    this.columns = null;
  }

  /** Returns the section and the row of a task. @param {number} task @returns {{section: Section, row: number}} */
  place(task) {
    const s = lastNotAfter(this.first, 0, this.sections.length, task);
    return { section: this.sections[s], row: task - this.first[s] };
  }

  /** Returns the task of a row; −1 if it is none. @param {number} section its index @param {number} row @returns {number} */
  taskOf(section, row) {
    const s = this.sections.findIndex(({ index }) => index === section);
    return s < 0 ? -1 : this.first[s] + row;
  }

  /**
   * Returns the tasks of a group: from `first` to before `end`.
   * @param {number} section its index
   * @param {number} index of the group
   * @returns {{group: import("../data/section.js").Group, first: number, end: number}|null} null if it has no tasks
   */
  ofGroup(section, index) {
    const s = this.sections.findIndex((of) => of.index === section);
    if (s < 0) return null;
    const group = this.sections[s].groups[index];
    const first = this.first[s] + group.firstRow;
    return { group, first, end: first + group.rows };
  }

  /** Fills the columns that don't depend on a moment. @returns {Generator<void, void, void>} */
  *countColumns() {
    const column = () => new Float64Array(this.n).fill(NaN);
    const columns = {
      polls: column(), held: column(), longest: column(), waited: column(), ready: column(),
      number: column(), prefix: column(), location: column(), parent: new Int32Array(this.n).fill(-1),
    };
    for (const [s, section] of this.sections.entries()) yield* countTasks(this.model, section, this.first[s], columns);
    yield* this.rankNames(columns);
    this.rankLocations(columns);
    this.columns = columns;
  }

  /** Ranks names by the text before their number, then by the number: task-9 comes before task-10. @private */
  *rankNames(columns) {
    const places = new Map();
    for (let task = 0; task < this.n; task++) {
      const { section, row } = this.place(task);
      const [before, number] = partName(section.name(row));
      if (!places.has(before)) places.set(before, places.size);
      columns.prefix[task] = places.get(before);
      columns.number[task] = number;
      if (task % TASKS_A_STEP === 0) yield;
    }
    const ranks = ranksOf([...places.keys()]);
    for (let task = 0; task < this.n; task++) columns.prefix[task] = ranks[columns.prefix[task]];
  }

  /** @private */
  rankLocations(columns) {
    const ranks = ranksOf(this.sections.flatMap(({ groups }) => groups.map(({ label }) => label)));
    let group = 0;
    for (const [s, { groups }] of this.sections.entries()) {
      for (const { firstRow, rows } of groups) {
        const from = this.first[s] + firstRow;
        columns.location.fill(ranks[group++], from, from + rows);
      }
    }
  }

  /** Finds the state and the age of the tasks at `t`. @param {number} t ns @returns {Generator<void, TasksAt, void>} */
  *countAt(t) {
    const at = { t, state: new Int32Array(this.n).fill(-1), age: new Float64Array(this.n).fill(NaN) };
    for (const [s, section] of this.sections.entries()) {
      for (let row = 0; row < section.nRows; row++) {
        if (row % TASKS_A_STEP === 0) yield;
        const task = this.first[s] + row;
        const i = transitionAt(section, row, t);
        if (i < 0) continue;
        at.state[task] = section.state[i];
        at.age[task] = Math.min(t, section.rowEnd(row)) - section.rowBegin(row);
      }
    }
    return at;
  }

  /**
   * Returns all tasks, sorted by a column.
   * @param {TaskColumn} column
   * @param {boolean} descending
   * @param {TasksAt} at
   * @returns {Generator<void, Uint32Array, void>}
   */
  *sorted(column, descending, at) {
    const order = Uint32Array.from({ length: this.n }, (_, task) => task);
    yield;
    for (const keys of this.keys(column, at)) yield* sortSteps(order, keys, descending);
    return order;
  }

  /** Returns the sort keys of a column, the least important first. @private */
  keys(column, at) {
    const { columns } = this;
    if (column === "name") return [columns.number, columns.prefix];
    if (column === "age") return [at.age];
    if (column === "state") return [this.stateKeys(at)];
    if (column === "parent") return [columns.number, columns.prefix].map((keys) => Float64Array.from(columns.parent, (of) => (of < 0 ? NaN : keys[of])));
    return [columns[column]];
  }

  /** @private */
  stateKeys(at) {
    const keys = new Float64Array(this.n);
    for (const [s, { states }] of this.sections.entries()) {
      const ranks = states.map(({ role }, state) => (STATE_ORDER.indexOf(role) + 1 || STATE_ORDER.length + 1) + state / states.length);
      for (let task = this.first[s]; task < this.first[s + 1]; task++) keys[task] = at.state[task] < 0 ? NaN : ranks[at.state[task]];
    }
    return keys;
  }

  /**
   * Filters `order` by `text`: each of its words must occur in the name, the location or the state of a task. Case doesn't
   * matter.
   * @param {Uint32Array} order
   * @param {string} text
   * @param {TasksAt} at
   * @param {(task: number) => boolean} [isIn] a further condition
   * @returns {Generator<void, Uint32Array, void>}
   */
  *matching(order, text, at, isIn = () => true) {
    const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const inLabels = this.sections.map(({ groups, states }) => words.map((word) => ({
      groups: groups.map(({ label }) => label.toLowerCase().includes(word)),
      states: states.map(({ name }) => name.toLowerCase().includes(word)),
    })));
    const found = new Uint32Array(order.length);
    let n = 0;
    for (let k = 0; k < order.length; k++) {
      if (k % TASKS_A_STEP === 0) yield;
      const task = order[k];
      if (isIn(task) && this.hasWords(task, words, inLabels, at)) found[n++] = task;
    }
    return found.slice(0, n);
  }

  /** @private */
  hasWords(task, words, inLabels, at) {
    const { section, row } = this.place(task);
    const labels = inLabels[this.sections.indexOf(section)], group = section.groupOfRow(row), state = at.state[task];
    let name = null;
    return words.every((word, w) => labels[w].groups[group] || (state >= 0 && labels[w].states[state])
      || (name ??= section.name(row).toLowerCase()).includes(word));
  }
}

/**
 * Returns the transition of a row that is in force at `t`; −1 before its first. @param {Section} section @param {number}
 * row @param {number} t
 */
export function transitionAt(section, row, t) {
  const first = section.rowFirst[row];
  const i = lastNotAfter(section.time, first, section.rowFirst[row + 1], t);
  return i < first ? -1 : i;
}

/** Fills the columns of one section's rows. */
function* countTasks(model, section, first, columns) {
  const { time, rowFirst } = section;
  const { gaps, readyKnown } = model.meta;
  const hasPolls = section.isRunning.includes(1);
  let { isRunning, isReady } = section, isWaiting = waitingOf(section);
  const hasWaits = isWaiting.includes(1);
  let looked = 0;
  for (let row = 0; row < section.nRows; row++) {
    let polls = 0, held = 0, longest = NaN, waited = 0, ready = 0;
    for (let i = rowFirst[row], end = rowFirst[row + 1]; i < end; i++) {
      const state = section.state[i];
      if (isRunning[state] !== 0) {
        const own = ownNs(section, i);
        polls++;
        held += heldNs(section, i);
        if (!(own <= longest)) longest = own;
      } else if (isWaiting[state] !== 0) {
        waited += recordedNs(gaps, time[i], section.endOf(i));
      } else if (isReady[state] !== 0 && readyEnd(section, i, row) !== NOT_READY) {
        ready += section.endOf(i) - time[i];
      }
      if (++looked % TRANSITIONS_A_STEP === 0) {
        yield;
        // Waiting may have been split by line meanwhile.
        ({ isRunning, isReady } = section);
        isWaiting = waitingOf(section);
      }
    }
    const task = first + row;
    if (hasPolls) [columns.polls[task], columns.held[task], columns.longest[task]] = [polls, held, longest];
    if (hasWaits) columns.waited[task] = waited;
    if (readyKnown && hasPolls) columns.ready[task] = ready;
    if (section.parent[row] >= 0) columns.parent[task] = first + section.parent[row];
    if (++looked % TRANSITIONS_A_STEP === 0) {
      yield;
      ({ isRunning, isReady } = section);
      isWaiting = waitingOf(section);
    }
  }
}

const waitingOf = ({ states }) => Uint8Array.from(states, ({ role }) => (role === "waiting" ? 1 : 0));

/** Returns how long the recording ran within a time, in ns; the gaps are sorted. */
function recordedNs(gaps, from, to) {
  let ns = to - from;
  for (const [gap, end] of gaps) {
    if (gap >= to) break;
    if (end > from) ns -= Math.min(end, to) - Math.max(gap, from);
  }
  return ns;
}

/** Splits a name into the text before its number, and the number, also of `task-7 "conn"`. −1: it doesn't end with one. */
function partName(name) {
  const [plain] = name.split(' "', 1);
  const digits = /\d{1,15}$/.exec(plain);
  return digits === null ? [name, -1] : [plain.slice(0, digits.index), Number(digits[0])];
}

/** Returns the rank of each text among all; equal texts have the same rank. */
function ranksOf(texts) {
  const sorted = [...new Set(texts)].sort();
  const ranks = new Map(sorted.map((text, rank) => [text, rank]));
  return texts.map((text) => ranks.get(text));
}
