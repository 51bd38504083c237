// The places at which tasks wait, as the report found them, for the transitions of the page.

import { readFrames } from "./frames.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {import("./frames.js").StackFrame} StackFrame
 * @typedef {{frame: StackFrame, name: string|null, awaits: AwaitFunction[]}} AwaitFunction `name`: the name given to the call;
 *   `awaits`: several, if the function polls several futures at once
 * @typedef {{label: string, functions: AwaitFunction[]}} AwaitPlace `label`: "src/shop.rs:61, Mutex::lock"; `functions`: the
 *   outermost ones; none if nothing took the task's waker
 * @typedef {{
 *   label: string, frame: StackFrame, awaits: string|null, times: number, total: number, longest: number, p50: number,
 *   p99: number, now: number, holder: [string, string]|null, places: Set<number>,
 * }} AwaitLine times in ns; `now`: the number of tasks that still waited there at the end; `holder`: where the holders of
 *   the lock waited meanwhile, and for how much of the time that they held it: "94.3 %"
 * @typedef {{row: number, tasks: number, for: number, forgotten: boolean, local: [string, number, string|null]|null}} StillWaiting
 *   `row`: that of the longest wait; `local`: for a task of a `LocalSet`, its name, its place from 1, and who woke it last, and
 *   `row` is that of the task in whose polls it is polled
 * @typedef {{
 *   places: AwaitPlace[], lines: AwaitLine[], still: StillWaiting[], notes: string[],
 * }} Awaits `places`: one for each tag; `notes`: what is unknown
 */

/**
 * Reads the places of a section, and keeps them as `section.awaits`.
 * @param {Section} section
 */
export function findAwaits(section) {
  const data = section.awaitsData;
  if (data === null) return;
  const frames = readFrames(data);
  const lines = data.lines.map((line) => ({ ...line, frame: frames[line.frame], places: new Set() }));
  const places = data.places.map(([all, ofLines], index) => {
    const functions = all.map(([frame, , name]) => ({ frame: frames[frame], name, awaits: [] }));
    const outermost = [];
    all.forEach(([, awaitedBy], i) => (awaitedBy > 0 ? functions[awaitedBy - 1].awaits : outermost).push(functions[i]));
    for (const line of ofLines) lines[line].places.add(index);
    return { label: section.tags[index].tag, functions: outermost };
  });
  section.awaits = { places, lines, still: data.still, notes: data.notes };
  section.awaitsData = null;
}

/**
 * Returns where the task waits in the span that a transition begins; null if it doesn't wait, or if that isn't known.
 * @param {Section} section
 * @param {number} transition
 * @returns {AwaitPlace|null}
 */
export function awaitOf(section, transition) {
  const tag = section.awaits === null || section.tag === null ? 0 : section.tag[transition];
  return tag > 0 ? section.awaits.places[tag - 1] : null;
}

/** Returns whether a transition begins a wait. @param {Section} section @param {number} transition */
export const isWait = (section, transition) =>
  section.kind === "tasks" && section.states[section.state[transition]].role === "waiting";

/**
 * Finds the longest wait at a line; −1 if the picture has none.
 * @param {Section} section
 * @param {AwaitLine} line
 * @returns {number} the transition that begins it
 */
export function longestWait(section, line) {
  const { tag, time, nTransitions } = section;
  let longest = -1, most = -1;
  for (let i = 0; i < nTransitions; i++) {
    if (tag[i] === 0 || !line.places.has(tag[i] - 1)) continue;
    const length = section.endOf(i) - time[i];
    if (length > most) [longest, most] = [i, length];
  }
  return longest;
}
