// What the length of a task, or of a wait, depended on: the way back from its end, from each wait to who ended it.

import { lastNotAfter } from "../data/section.js";
import { awaitOf, isWait } from "./awaits.js";
import { shortName, sourceOf } from "./frames.js";
import { isInGap } from "./lanes.js";
import { whyOf } from "./why.js";
import { wakerOf, wakingPoll } from "./wakers.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{
 *   kind: "running"|"ready"|"waiting"|"unknown", place: string, times: number, total: number, longest: number, transition: number,
 * }} PathPart `total`, `longest`: in ns; `transition`: what begins the longest stretch
 * @typedef {{from: number[], to: number[], transition: number[], isKnown: boolean[]}} PathWay the stretches of a path in the order of
 *   time, each with its begin and end in ns, and the transition that it is a part of
 * @typedef {{length: number, tasks: number, hasOthers: boolean, parts: PathPart[], way: PathWay}} CriticalPath `hasOthers`: whether it
 *   leads through another row; `parts`: those with the most time first
 */

/** The most polls in a row without any time: clocks of threads differ a little. */
const MOST_AT_ONCE = 16;

/** The most polls on the way, as in the report. */
const MOST_POLLS_OF_PATH = 200_000;

/**
 * Finds what the length of a task depended on that has ended.
 * @param {Section} section
 * @param {[number, number][]} gaps of which nothing is known
 * @param {number} row
 * @returns {CriticalPath|null} null if it hasn't ended, or if that isn't known
 */
export function pathOfTask(section, gaps, row) {
  const end = endOfPath(section, row);
  return end === null ? null : criticalPath(section, gaps, end.poll, section.rowBegin(row), end.at);
}

/** Returns the last poll of a task that has ended in it, and its end; null if there is none. */
function endOfPath(section, row) {
  const poll = lastPoll(section, row, section.lengthNs), last = section.rowFirst[row + 1] - 1;
  if (poll < 0 || section.isEnd[section.state[last]] === 0) return null;
  const at = section.endOf(poll);
  // A task that was dropped while it waited has no last poll. A root future is dropped a little after its last one.
  if (at < section.time[last] && section.isRoot[row] === 0) return null;
  return { poll, at };
}

/**
 * Returns the part of the critical path of a task that lies in a time.
 * @param {Section} section
 * @param {[number, number][]} gaps of which nothing is known
 * @param {number} row
 * @param {[number, number]} time in ns
 * @returns {CriticalPath|null} null if the task hasn't ended, or if that isn't known, or if it didn't live then
 */
export function pathWithin(section, gaps, row, time) {
  const end = endOfPath(section, row);
  const path = end === null ? null : criticalPath(section, gaps, end.poll, section.rowBegin(row), end.at, time);
  return path === null || path.length === 0 ? null : path;
}

/** Returns the row of the root future that lived longest; −1 if there is none. */
export function longestRoot(section) {
  let longest = -1;
  for (let row = 0; row < section.nRows; row++) {
    const length = section.isRoot[row] === 0 ? -1 : section.rowEnd(row) - section.rowBegin(row);
    if (length >= 0 && (longest < 0 || length > section.rowEnd(longest) - section.rowBegin(longest))) longest = row;
  }
  return longest;
}

/**
 * Finds what the length of a wait depended on that has ended.
 * @param {Section} section
 * @param {[number, number][]} gaps of which nothing is known
 * @param {number} wait the transition that begins it
 * @returns {CriticalPath|null} null if it hasn't ended, or if that isn't known
 */
export function pathOfWait(section, gaps, wait) {
  const last = section.rowFirst[section.rowOf(wait) + 1] - 1;
  if (wait >= last) return null;
  const poll = section.isReady[section.state[wait + 1]] !== 0 ? wait + 2 : wait + 1;
  if (poll > last || section.isRunning[section.state[poll]] === 0) return null;
  return criticalPath(section, gaps, poll, section.time[wait], section.endOf(wait));
}

/** @typedef {{section: Section, row: number, of: "task"|"wait"|"period", path: CriticalPath}} PathFound */

/** What was found for selections, which several parts of the page ask for. @type {WeakMap<object, PathFound|null>} */
const FOUND = new WeakMap();

/**
 * Finds what the length of what is selected depended on: of a task, or of a wait. In a period it is the root future.
 * @param {import("../data/decode.js").Model} model
 * @param {{kind: string, section?: number, row?: number, transition?: number, t0?: number, t1?: number}|null} selection
 * @returns {PathFound|null} null if it is something else, or if no other task was on the way
 */
export function pathOfSelection(model, selection) {
  if (selection === null) return null;
  if (!FOUND.has(selection)) FOUND.set(selection, selection.kind === "range" ? pathOfPeriod(model, selection) : pathOfOne(model, selection));
  return FOUND.get(selection);
}

function pathOfPeriod({ sections, meta: { gaps } }, { t0, t1 }) {
  for (const section of sections) {
    const row = section.kind === "tasks" ? longestRoot(section) : -1;
    const path = row < 0 ? null : pathWithin(section, gaps, row, [t0, t1]);
    // Too far from the end it isn't followed.
    const unknown = path?.parts.find(({ kind }) => kind === "unknown")?.total ?? 0;
    if (path?.hasOthers && unknown <= path.length / 2) return { section, row, of: "period", path };
  }
  return null;
}

function pathOfOne({ sections, meta: { gaps } }, { kind, section: index, row: selected, transition }) {
  const section = sections[index];
  if (section?.kind !== "tasks" || !(kind === "row" || (kind === "span" && isWait(section, transition)))) return null;
  const [of, row] = kind === "row" ? ["task", selected] : ["wait", section.rowOf(transition)];
  const path = kind === "row" ? pathOfTask(section, gaps, row) : pathOfWait(section, gaps, transition);
  return path === null || !path.hasOthers ? null : { section, row, of, path };
}

/**
 * Goes back from `end` to `begin`, at first in this poll, or before it. Where another task woke it, the way goes on with that one.
 * Only what lies between `from` and `to` is added up.
 */
function criticalPath(section, gaps, last, begin, end, [from, to] = [begin, end]) {
  if (section.waker === null) return null;
  const { time, state, isRunning, isReady, rowFirst } = section;
  const sums = new Map(), rows = new Set(), way = { from: [], to: [], transition: [], isKnown: [] };
  let now = end, at = section.rowOf(last), poll = last, stood = 0;
  const add = (kind, transition, since) => {
    const start = Math.max(begin, Math.min(since, now)), until = now;
    now = start;
    if (until > start) addUp(kind, transition, Math.max(start, from), Math.min(until, to));
    return until > start;
  };
  const addUp = (kind, transition, start, until) => {
    const length = until - start;
    if (length <= 0) return;
    if (kind !== "unknown") rows.add(at);
    way.from.push(start);
    way.to.push(until);
    way.transition.push(transition);
    way.isKnown.push(kind !== "unknown");
    const place = kind === "unknown" ? "" : kind === "waiting" ? waitLine(section, transition) : functionOf(section, transition, kind);
    const key = `${kind} ${place}`;
    const part = sums.get(key) ?? { kind, place, times: 0, total: 0, longest: 0, transition };
    sums.set(key, part);
    part.times++;
    part.total += length;
    if (length > part.longest) [part.longest, part.transition] = [length, transition];
  };
  for (let n = 0; now > Math.max(begin, from) && n < MOST_POLLS_OF_PATH; n++) {
    const first = rowFirst[at], wasReady = poll > first && isReady[state[poll - 1]] !== 0;
    let went = add("running", poll, time[poll]);
    if (wasReady) went = add("ready", poll - 1, time[poll - 1]) || went;
    stood = went ? 0 : stood + 1;
    const waker = sourceOfPoll(section, gaps, at, poll);
    // A task that woke itself did so in the poll before. By the clocks it may be this one.
    const before = waker !== null && waker.row === at ? lastPoll(section, at, now, poll) : -1;
    const by = waker === null ? -1
      : waker.row === at ? (before >= 0 && !isInGap(gaps, section.endOf(before), now) ? before : -1)
        : stood < MOST_AT_ONCE ? wakingPoll(section, waker) : -1;
    if (by >= 0) {
      [at, poll] = [waker.row, by];
      continue;
    }
    const wait = poll - (wasReady ? 2 : 1);
    if (wait < first) break;
    // A poll that followed another one at once has no wait before it.
    if (isRunning[state[wait]] === 0) {
      add(isInGap(gaps, time[wait], now) ? "unknown" : "waiting", wait, time[wait]);
    }
    poll = lastPoll(section, at, now, wait + 1);
    if (poll < 0) break;
  }
  add("unknown", last, begin);
  const parts = [...sums.values()].sort((a, b) => b.total - a.total);
  const own = section.rowOf(last);
  for (const list of Object.values(way)) list.reverse();
  return { length: Math.max(0, Math.min(end, to) - Math.max(begin, from)), tasks: rows.size, hasOthers: [...rows].some((row) => row !== own), parts, way };
}

/**
 * Returns who woke or spawned the task for a poll; null if that isn't known. The first poll of a task is for its spawn, unless earlier
 * ones aren't kept.
 */
export function sourceOfPoll(section, gaps, row, poll) {
  const first = section.rowFirst[row];
  const isSpawned = poll === first + 1 && section.states[section.state[first]].role === "spawned";
  if (!isSpawned || isInGap(gaps, section.time[first], section.time[poll])) return wakerOf(section, poll);
  return section.parent[row] < 0 ? null : { poll, row: section.parent[row] };
}

/** Returns the last poll of a row that began by then, before the transition `before`; −1 if there is none. */
function lastPoll({ time, state, isRunning, rowFirst }, row, then, before = rowFirst[row + 1]) {
  let poll = lastNotAfter(time, rowFirst[row], before, then);
  while (poll >= rowFirst[row] && isRunning[state[poll]] === 0) poll--;
  return poll >= rowFirst[row] ? poll : -1;
}

function waitLine(section, wait) {
  const place = awaitOf(section, wait);
  return place === null || place.functions.length === 0 ? spawnedAt(section, wait) : place.label;
}

const spawnedAt = (section, transition) => `a task of ${section.groups[section.groupOfRow(section.rowOf(transition))].label}`;

/**
 * Returns the blamed function of a poll, or else the program's function that the task waits in before or after it. While it runs, that is
 * known of the outermost alone: the inner ones may have returned.
 */
function functionOf(section, transition, kind) {
  const frame = whyOf(section, transition)?.frame ?? null;
  if (frame !== null) return frame.line > 0 ? `${shortName(frame.name)} at ${sourceOf(frame)}` : frame.name;
  const row = section.rowOf(transition);
  const poll = section.isReady[section.state[transition]] !== 0 ? transition + 1 : transition;
  for (const wait of [transition - 1, transition - 2, poll + 1]) {
    if (wait < section.rowFirst[row] || wait >= section.rowFirst[row + 1]) continue;
    const functions = awaitOf(section, wait)?.functions ?? [];
    const name = kind === "running" ? outermost(functions) : innermost(functions, null);
    if (name !== null) return name;
  }
  return spawnedAt(section, transition);
}

function outermost(functions) {
  const first = functions[0];
  return first === undefined ? null : first.frame.origin === "program" ? first.frame.name : outermost(first.awaits);
}

function innermost(functions, name) {
  const first = functions[0];
  return first === undefined ? name : innermost(first.awaits, first.frame.origin === "program" ? first.frame.name : name);
}
