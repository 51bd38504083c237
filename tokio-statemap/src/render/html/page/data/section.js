// A section of the picture in memory: typed arrays with an element for each transition, row or lane.

/**
 * @typedef {{name: string, colour: string|null, role: string, line?: number}} State `line`: which line a task waits at, while
 *   waiting is split by line
 * @typedef {{index: number, label: string, firstLane: number, endLane: number, rows: number, firstRow: number}} Group
 */

/** In the data, who woke a task: the code of the first row. Those below are of others. */
export const FIRST_WAKER = 5;

/**
 * A section: rows (tasks, workers, …) in lanes in groups. The transitions of a row, and the rows of a lane, follow each
 * other and never go back in time.
 */
export class Section {
  /**
   * @param {number} index
   * @param {object} meta the section's part of the page's meta data
   * @param {{rows: number, transitions: number, prefixes: string[]}} tail
   * @param {number} lengthNs
   */
  constructor(index, meta, tail, lengthNs) {
    this.index = index;
    /** @type {string} */
    this.title = meta.title;
    /** @type {"workers"|"blocking"|"tasks"|"other"} */
    this.kind = meta.kind;
    /** @type {State[]} */
    this.states = meta.states;
    /** @type {Group[]} */
    this.groups = [];
    this.nLanes = 0;
    for (const { label, lanes, rows, runs } of meta.groups) {
      const firstLane = this.nLanes;
      this.nLanes += lanes;
      this.groups.push({ index: this.groups.length, label, runs: runs ?? null, firstLane, endLane: this.nLanes, rows, firstRow: 0 });
    }
    this.nRows = tail.rows;
    this.nTransitions = tail.transitions;
    this.lengthNs = lengthNs;
    /** The index of its run in the model's `runs`. @type {number} */
    this.run = meta.run ?? 0;
    /** The polls of the workers of its run, in the sections of both tasks and workers: see `buildWorkerPolls`. */
    this.workerPolls = null;
    /** The index of each worker in the runtime (kind "workers" only). @type {number[]|null} */
    this.indices = meta.indices ?? null;
    /** @type {{state: number, tag: string, fields: [string, string][]}[]} */
    this.tags = meta.tags ?? [];
    /** row, time, event, target. @type {[number, number, string, string|null][]} */
    this.events = meta.events ?? [];
    /** The input of `findWhy`, and its result. */
    this.whyData = meta.why ?? null;
    /** @type {import("../model/why.js").Why|null} */
    this.why = null;
    /** By transition: the part of a poll that isn't its own, in ns, if there is any. @type {Map<number, number>} */
    this.lost = new Map();
    /** The issues of the report; null if it has none. @type {object[]|null} */
    this.reported = meta.issues ?? null;
    /** The input of `findAwaits`, and its result. */
    this.awaitsData = meta.awaits ?? null;
    /** @type {import("../model/awaits.js").Awaits|null} */
    this.awaits = null;
    /** The functions that the search finds, once there was one. @type {object[]|null} */
    this.named = null;
    /** The profile of instrumented functions. @type {object|null} */
    this.profile = meta.profile ?? null;
    /** What spans of `tracing` took. @type {object|null} */
    this.requests = meta.requests ?? null;

    const { nLanes, nRows, nTransitions, states } = this;
    /** The first row of each lane, and behind them the number of rows. */
    this.laneFirstRow = new Uint32Array(nLanes + 1);
    this.laneGroup = new Uint32Array(nLanes);
    for (const group of this.groups) this.laneGroup.fill(group.index, group.firstLane, group.endLane);
    /** The first transition of each row, and behind them the number of transitions. */
    this.rowFirst = new Uint32Array(nRows + 1);
    this.rowLane = new Uint32Array(nRows);
    /** The row that spawned this one; −1 if none. */
    this.parent = new Int32Array(nRows);
    this.isRoot = new Uint8Array(nRows);
    /** The time of each transition, in ns. */
    this.time = new Float64Array(nTransitions);
    /** The state that each transition begins. */
    this.state = states.length > 256 ? new Uint16Array(nTransitions) : new Uint8Array(nTransitions);
    /** For running transitions, the worker plus 1; 0 on another thread. @type {Uint8Array|Uint16Array|null} */
    this.worker = meta.hasWorkers ? new Uint8Array(nTransitions) : null;
    /** For running transitions, who woke the task: see `wakerOf`. @type {Uint32Array|null} */
    this.waker = meta.hasWakers ? new Uint32Array(nTransitions) : null;
    /** The tag plus 1; 0 for none. @type {Uint16Array|Uint32Array|null} */
    this.tag = !meta.hasTags ? null
      : this.tags.length > 65534 ? new Uint32Array(nTransitions) : new Uint16Array(nTransitions);
    /** The polls that handed their worker on: their transitions, and how long they had held it. */
    this.handed = { at: new Uint32Array(0), ns: new Float64Array(0) };
    /** A bit for each transition: whether it is the last one of its lane. */
    this.lastOfLane = new Uint8Array((nTransitions + 7) >> 3);

    this.setStates(states);
    /** The original states, while waiting is split by line. @type {State[]|null} */
    this.whole = null;

    /** Built by `buildCumulative`: ns by state at every `1 << cumShift`th transition. @type {Float64Array|null} */
    this.cum = null;
    this.cumShift = 5;
    /** @private Kept by `longPolls`. */ this.longBefore = null;
    /** @private Kept by `drawTaken`. */ this.taken = null;

    /** @private */ this.prefixes = tail.prefixes;
    /** @private 0: the name is in `ownNames`. */ this.namePrefix = new Uint32Array(nRows);
    /** @private */ this.nameNumber = new Float64Array(nRows);
    /** @private @type {Map<number, string>} */ this.ownNames = new Map();
    /** @private @type {Map<number, string>} */ this.descriptions = new Map();
  }

  /**
   * Replaces the states. The caller updates those of the transitions.
   * @param {State[]} states
   */
  setStates(states) {
    this.states = states;
    /** By state, 1 or 0: whether it is a poll, whether the task is ready (or spawned), and whether it ends a row. */
    this.isRunning = Uint8Array.from(states, (s) => (s.role === "running" ? 1 : 0));
    this.isReady = Uint8Array.from(states, (s) => (s.role === "ready" || s.role === "spawned" ? 1 : 0));
    this.isEnd = Uint8Array.from(states, (s) => (isEndRole(s.role) ? 1 : 0));
    /** @private Reused by `laneColumns`. */
    this.shares = new Float64Array(states.length);
  }

  /** @param {number} row @returns {string} as recorded: see `cleanText` before it is shown */
  name(row) {
    const prefix = this.namePrefix[row];
    return prefix ? this.prefixes[prefix - 1] + this.nameNumber[row] : (this.ownNames.get(row) ?? "");
  }

  /** @param {number} row @returns {string|null} */
  description(row) {
    return this.descriptions.get(row) ?? null;
  }

  /** Returns when the row begins. @param {number} row @returns {number} ns */
  rowBegin(row) {
    return this.rowFirst[row] < this.rowFirst[row + 1] ? this.time[this.rowFirst[row]] : this.lengthNs;
  }

  /**
   * Returns when the row ends: when it completed or stopped, or else at the right edge. @param {number} row @returns
   * {number} ns
   */
  rowEnd(row) {
    const last = this.rowFirst[row + 1] - 1;
    if (last < this.rowFirst[row]) return this.lengthNs;
    return this.isEnd[this.state[last]] ? this.time[last] : this.endOf(last);
  }

  /**
   * Returns when the span that transition `i` begins ends: at the lane's next transition, or else at the right edge.
   * @param {number} i
   * @returns {number} ns
   */
  endOf(i) {
    return this.lastOfLane[i >> 3] & (1 << (i & 7)) ? this.lengthNs : this.time[i + 1];
  }

  /** Returns the row of a transition. @param {number} i @returns {number} */
  rowOf(i) {
    return lastNotAfter(this.rowFirst, 0, this.nRows, i);
  }

  /** Returns the group of a row. @param {number} row @returns {number} */
  groupOfRow(row) {
    return this.laneGroup[this.rowLane[row]];
  }

  /** Returns the first transition of a lane. @param {number} lane @returns {number} */
  laneBegin(lane) {
    return this.rowFirst[this.laneFirstRow[lane]];
  }
}

/**
 * Returns the last index in `from..to` whose value is not after `value`; `from - 1` if all are.
 * @param {ArrayLike<number>} sorted
 * @param {number} from
 * @param {number} to not included
 * @param {number} value
 * @returns {number}
 */
export function lastNotAfter(sorted, from, to, value) {
  let low = from, high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Returns whether a state of this role ends a row. Such states are drawn blank.
 * @param {string} role
 * @returns {boolean}
 */
export function isEndRole(role) {
  return role === "completed" || role === "stopped";
}

/**
 * Returns the first index in `from..to` for which `isPast` holds; `to` if there is none. It must hold for all behind that.
 * @param {number} from
 * @param {number} to not included
 * @param {(index: number) => boolean} isPast
 * @returns {number}
 */
export function firstIndex(from, to, isPast) {
  let low = from, high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Returns a typed array of twice the length that begins with the same values.
 * @template {Float64Array|Uint32Array|Int32Array|Uint8Array} T
 * @param {T} array
 * @returns {T}
 */
export function grown(array) {
  const larger = new array.constructor(array.length * 2);
  larger.set(array);
  return larger;
}
