// Decodes the page's data into the model. A chunk is freed once it is decoded.

import { decodeBase64 } from "./base64.js";
import { damaged, inflateRaw } from "./inflate.js";
import { FIRST_WAKER, Section } from "./section.js";
import { Reader } from "./varint.js";

/**
 * @typedef {import("./section.js").Section} SectionOf
 * @typedef {{
 *   meta: object, lengthNs: number, sections: SectionOf[], runs: Run[],
 *   workerPolls: import("../model/worker_polls.js").WorkerPolls[], locations: object[]|null, longest: object|null,
 * }} Model the last three are filled by `buildWorkerPolls`, `locationTable` and `findIssues`
 * @typedef {{name: string, long: number|null, queue: [number, number][]|null, rank?: number}} Run a run, or other data, that sections
 *   are of. `rank`: the number of runs that are worse;
 *   `name`: empty if there is only one; `long`: the length from which a poll counts as long, in ns; `queue`: the times at which the
 *   queue of the blocking pool changed, and its length from then on
 */

/** Flags of a piece of a row. */
const NEW_ROW = 1, NEW_LANE = 2, DESCRIBED = 4, ROOT = 8;

/** The most transitions: their indices are kept in 32 bits. */
const MOST_ELEMENTS = 2 ** 31;

/**
 * Loads the data.
 * @param {object} meta
 * @param {object} tail
 * @param {Iterable<string>|AsyncIterable<string>} chunks base64; each is requested when it is needed
 * @param {(share: number) => void} [onProgress] called with 0 to 1, at most once for each chunk
 * @returns {Promise<Model>}
 * @throws {Error} with a sentence for the user if the data is damaged
 */
export async function load(meta, tail, chunks, onProgress = () => {}) {
  checkHead(meta, tail);
  const decoders = meta.sections.map((part, i) => newDecoder(i, part, tail.sections[i], meta.length, meta.unit ?? 1));
  const whole = decoders.reduce((sum, { section }) => sum + section.nTransitions, 0);
  let done = 0, nChunks = 0, current = 0;
  const decode = (bytes) => {
    const reader = new Reader(bytes, 0, bytes.length);
    const index = reader.varint();
    if (index < current || index >= decoders.length) throw damaged("its chunks are out of order");
    current = index;
    done += decoders[index].chunk(reader);
    nChunks++;
    onProgress(whole ? done / whole : 1);
  };
  // One chunk is inflated while the one before it is decoded.
  let inflating = null;
  for await (const text of chunks) {
    const next = inflateRaw(decodeBase64(text));
    // The error is reported where this is awaited.
    next.catch(() => {});
    if (inflating) decode(await inflating);
    inflating = next;
  }
  if (inflating) decode(await inflating);
  if (nChunks !== tail.chunks) throw damaged(`${nChunks} of ${tail.chunks} chunks are there`);
  const sections = decoders.map((decoder) => decoder.finish());
  return { meta, lengthNs: meta.length, sections, runs: meta.runs, workerPolls: [], locations: null, longest: null };
}

function checkHead(meta, tail) {
  if (meta?.format !== 1) throw new Error("The page's data has another version than the page.");
  const unit = meta.unit ?? 1;
  if (!isCount(unit, 2 ** 11) || unit === 0 || !isCount(meta.length / unit, Number.MAX_SAFE_INTEGER)) throw damaged("its length isn't a number of ns");
  if (meta.sums) checkSums(meta.sums);
  if (!Array.isArray(meta.sections) || tail?.sections?.length !== meta.sections.length) {
    throw damaged("its end doesn't match its beginning");
  }
  if (!Array.isArray(meta.runs) || !meta.sections.every((part) => typeof meta.runs[part?.run]?.name === "string")) throw damaged("a run isn't there");
}

/** Checks the sums of a run: their columns have one number for each stretch. */
function checkSums(sums) {
  const { alive, at, held, longest, polls, stopped, stretch, workers, from, places, dropped } = sums;
  const isNs = (value) => isCount(value, Number.MAX_SAFE_INTEGER);
  const isColumn = (column) => Array.isArray(column) && column.length === alive.length && column.every(isNs);
  if (![alive, at, held, longest, polls, stopped ?? alive].every(isColumn) || alive.length === 0) throw damaged("its sums aren't all there");
  if (!(stretch > 0 && workers > 0 && isNs(from)) || !Array.isArray(dropped) || !dropped.every(([t0, t1]) => isNs(t0) && isNs(t1) && t0 < t1)) {
    throw damaged("its sums have no times");
  }
  const isHistogram = (of) => !of || (Array.isArray(of.bins) && of.bins.flat().every(isNs));
  const isPlace = (place) => typeof place?.label === "string" && isNs(place.held) && isHistogram(place.lengths) && isHistogram(place.waits);
  if (!Array.isArray(places) || !places.every(isPlace) || !at.every((place) => place <= places.length)) throw damaged("a place of its sums isn't there");
}

function isCount(value, most = MOST_ELEMENTS) {
  return Number.isInteger(value) && value >= 0 && value <= most;
}

/** Whether it is what the tasks of a group run: the function of most of them, and all in words; null if that isn't known. */
const isRuns = (runs) => runs === null || (Array.isArray(runs) && runs.length === 2 && runs.every((text) => typeof text === "string"));

function newDecoder(index, part, tail, lengthNs, unitNs) {
  if (!Array.isArray(part?.states) || !Array.isArray(part.groups) || !Array.isArray(tail?.prefixes)) {
    throw damaged("a section lacks something");
  }
  if (!part.states.every((state) => typeof state?.role === "string")) throw damaged("a state has no role");
  if (!part.groups.every((group) => isRuns(group?.runs ?? null))) throw damaged("what a group runs isn't text");
  if (part.states.length > 65536) throw damaged("a section has too many states");
  const sum = (key) => part.groups.reduce((total, group) => total + (isCount(group?.[key]) ? group[key] : NaN), 0);
  if (!isCount(tail.transitions) || !isCount(tail.rows) || sum("rows") !== tail.rows || !(sum("lanes") <= tail.rows)) {
    throw damaged("the counts of a section don't match");
  }
  try {
    return new SectionDecoder(new Section(index, part, tail, lengthNs), unitNs);
  } catch (error) {
    if (error instanceof RangeError) throw new Error("There isn't enough memory for the page's data.");
    throw error;
  }
}

/** Fills a section from its chunks. */
class SectionDecoder {
  constructor(section, unitNs) {
    this.section = section;
    /** The unit of times: a power of two, so that none is rounded. */
    this.unitNs = unitNs;
    this.row = -1;
    this.lane = -1;
    /** The number of transitions that are decoded. */
    this.at = 0;
    this.handedAt = [];
    this.handedNs = [];
  }

  /** Decodes the rest of a chunk, and returns its number of transitions. */
  chunk(reader) {
    const pieces = reader.varint();
    const lengths = [0, 0, 0, 0, 0, 0].map(() => reader.varint());
    const [rows, times, states, workers, tags, wakers] = lengths.map((length) => reader.slice(length));
    reader.finish();
    const before = this.at;
    for (let i = 0; i < pieces; i++) {
      const flags = rows.varint();
      const n = rows.varint();
      if (n > this.section.nTransitions - this.at) throw damaged("it has more transitions than declared");
      if (n > times.end - times.at || n > states.end - states.at) throw damaged("a column is cut");
      if (flags & NEW_ROW) this.newRow(rows, flags);
      else if (this.row < 0) throw damaged("a row continues that didn't begin");
      if (n === 0) continue;
      this.times(times, n, flags);
      this.states(states, n);
      if (this.section.worker) this.workers(workers, n);
      if (this.section.tag) this.tags(tags, n);
      if (this.section.waker) this.wakers(wakers, n);
      this.at += n;
    }
    for (const column of [rows, times, states, workers, tags, wakers]) column.finish();
    return this.at - before;
  }

  newRow(rows, flags) {
    const { section } = this;
    const row = ++this.row;
    if (row >= section.nRows) throw damaged("it has more rows than declared");
    if (flags & NEW_LANE) {
      this.lane++;
      if (this.lane >= section.nLanes) throw damaged("it has more lanes than declared");
      section.laneFirstRow[this.lane] = row;
    } else if (this.lane < 0) {
      throw damaged("its first row has no lane");
    }
    section.rowLane[row] = this.lane;
    section.rowFirst[row] = this.at;
    section.isRoot[row] = flags & ROOT ? 1 : 0;
    this.name(rows, row);
    const parent = rows.varint();
    if (parent > section.nRows) throw damaged("a row's parent isn't there");
    section.parent[row] = parent - 1;
    if (flags & DESCRIBED) section.descriptions.set(row, rows.text());
  }

  name(rows, row) {
    const { section } = this;
    const prefix = rows.varint();
    if (prefix === 0) {
      section.ownNames.set(row, rows.text());
      return;
    }
    if (prefix > section.prefixes.length) throw damaged("a row's name isn't there");
    const start = rows.at;
    const number = rows.bigVarint();
    if (rows.at - start <= 7 || Number.isSafeInteger(Number(number))) {
      section.namePrefix[row] = prefix;
      section.nameNumber[row] = Number(number);
    } else {
      section.ownNames.set(row, section.prefixes[prefix - 1] + number);
    }
  }

  times(column, n, flags) {
    const { time, lengthNs, laneFirstRow, rowFirst } = this.section;
    const from = this.at, to = from + n;
    const laneBegins = laneFirstRow[this.lane] === this.row && rowFirst[this.row] === from;
    let now = column.varint();
    const { unitNs } = this;
    if (!laneBegins && from > 0 && now * unitNs < time[from - 1]) throw damaged("a row goes back in time");
    time[from] = now;
    const bytes = column.bytes;
    let at = column.at;
    for (let i = from + 1; i < to; i++) {
      let byte = bytes[at++];
      if (byte < 128) {
        now += byte;
      } else {
        let delta = byte & 127, unit = 128;
        do {
          byte = bytes[at++];
          delta += (byte & 127) * unit;
          unit *= 128;
        } while (byte >= 128);
        now += delta;
      }
      time[i] = now;
    }
    column.at = at;
    if (at > column.end) throw damaged("a column is cut");
    if (!(now * unitNs <= lengthNs)) throw damaged("a time is after its end");
    if (unitNs !== 1) for (let i = from; i < to; i++) time[i] *= unitNs;
  }

  states(column, n) {
    const { state, states } = this.section;
    const from = this.at, to = from + n, nStates = states.length;
    if (nStates > 128) {
      for (let i = from; i < to; i++) {
        const value = column.varint();
        if (value >= nStates) throw damaged("a state isn't there");
        state[i] = value;
      }
      return;
    }
    const bytes = column.bytes;
    let at = column.at, most = 0;
    for (let i = from; i < to; i++) {
      const value = bytes[at++];
      if (value > most) most = value;
      state[i] = value;
    }
    column.at = at;
    if (most >= nStates) throw damaged("a state isn't there");
  }

  workers(column, n) {
    const { section } = this;
    const { state, isRunning } = section;
    const bytes = column.bytes, from = this.at, to = from + n;
    let worker = section.worker, most = worker.BYTES_PER_ELEMENT === 1 ? 255 : 65535;
    let at = column.at;
    for (let i = from; i < to; i++) {
      if (isRunning[state[i]] === 0) continue;
      let value = bytes[at++];
      if (value < 128 && (value & 1) === 0) {
        worker[i] = value >> 1;
        continue;
      }
      column.at = at - 1;
      value = column.varint();
      const number = Math.floor(value / 2);
      if (number > most) {
        if (number > 65535) throw damaged("a worker's number is too large");
        worker = section.worker = new Uint16Array(worker);
        most = 65535;
      }
      worker[i] = number;
      if (value % 2 === 1) {
        this.handedAt.push(i);
        this.handedNs.push(column.varint() * this.unitNs);
      }
      at = column.at;
    }
    column.at = at;
    if (at > column.end) throw damaged("a column is cut");
  }

  tags(column, n) {
    const { tag, tags } = this.section;
    for (let i = this.at, to = i + n; i < to; i++) {
      const value = column.varint();
      if (value > tags.length) throw damaged("a tag isn't there");
      tag[i] = value;
    }
  }

  wakers(column, n) {
    const { state, isRunning, waker, nRows } = this.section;
    for (let i = this.at, to = i + n; i < to; i++) {
      if (isRunning[state[i]] === 0) continue;
      const value = column.varint();
      if (value >= FIRST_WAKER + nRows) throw damaged("a waker isn't there");
      waker[i] = value;
    }
  }

  /** Returns the section once all its chunks are decoded. */
  finish() {
    const { section } = this;
    if (this.row + 1 !== section.nRows || this.lane + 1 !== section.nLanes || this.at !== section.nTransitions) {
      throw damaged("a part of it is missing");
    }
    section.rowFirst[section.nRows] = this.at;
    section.laneFirstRow[section.nLanes] = section.nRows;
    for (const group of section.groups) {
      group.firstRow = section.laneFirstRow[group.firstLane];
      if (section.laneFirstRow[group.endLane] - group.firstRow !== group.rows) {
        throw damaged("the rows of a group don't match");
      }
    }
    for (let lane = 0; lane < section.nLanes; lane++) {
      const begin = section.laneBegin(lane), end = section.laneBegin(lane + 1);
      if (begin < end) section.lastOfLane[(end - 1) >> 3] |= 1 << ((end - 1) & 7);
    }
    section.handed = { at: Uint32Array.from(this.handedAt), ns: Float64Array.from(this.handedNs) };
    return section;
  }
}
