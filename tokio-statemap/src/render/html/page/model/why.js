// Why long polls took long, and what is blamed for them, as the report found it, for the transitions of the page.

import { lastNotAfter } from "../data/section.js";
import { readFrames } from "./frames.js";

/**
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {import("./frames.js").StackFrame} StackFrame
 * @typedef {{onCpu: number, blocked: number, delay: number, stolen: number, faults: number, unknown: number}} Cause ns, but `faults`
 * @typedef {{after: number, blockedIn: string|null, call: number}} Sample `after`: ns since the poll's start; `call`: the innermost call,
 *   from 1 on
 * @typedef {{
 *   section: number, transition: number, cause: Cause|null, frame: StackFrame|null, blockingCause: string|null, samples: Sample[],
 *   lost: number,
 * }} WhyPoll `frame`, `blockingCause`: the blamed function, and what it did; `lost`: how much of the poll isn't its own, in ns
 * @typedef {{
 *   frame: StackFrame|null, blockingCause: string|null, place: string, polls: number, own: number, longest: WhyPoll|undefined, at: WhyPoll[],
 * }} Culprit `own`: ns, without what the machine took
 * @typedef {{
 *   polls: Map<number, WhyPoll>, culprits: Culprit[], blamed: Set<number>, calls: [StackFrame|null, number][],
 *   unattributed: {polls: number, taken: number, unseen: number, unseenTime: number, at: WhyPoll[], unseenAt: WhyPoll[]},
 *   frames: StackFrame[],
 * }} Why `blamed`: the polls that something is blamed for; `calls`: each function and its caller, from 1 on
 */

/**
 * Reads the causes of a section, and keeps them as `section.why`.
 * @param {Section} section
 */
export function findWhy(section) {
  const data = section.whyData;
  if (data === null) return;
  const frames = readFrames(data);
  const polls = data.polls.map(([row, start, cause, blame, samples, lost]) => ({
    section: section.index,
    transition: pollOfRow(section, row, start),
    cause: cause && { onCpu: cause[0], blocked: cause[1], delay: cause[2], stolen: cause[3], faults: cause[4], unknown: cause[5] },
    frame: blame && frames[blame[0]],
    blockingCause: blame && data.words[blame[1]],
    samples: samples.map(([after, word, call]) => ({ after, blockedIn: word > 0 ? data.words[word - 1] : null, call })),
    lost,
  }));
  const refer = (indices) => indices.map((index) => polls[index]).filter((poll) => poll.transition >= 0);
  const culprits = data.culprits.map((of) => ({
    frame: of.frame === null ? null : frames[of.frame],
    blockingCause: of.blockingCause === null ? null : data.words[of.blockingCause],
    place: of.place, polls: of.polls, own: of.own, longest: refer([of.longest])[0], at: refer(of.at),
  }));
  section.why = {
    polls: new Map(polls.map((poll) => [poll.transition, poll])),
    culprits,
    blamed: new Set(culprits.flatMap(({ at }) => at.map(({ transition }) => transition))),
    unattributed: { ...data.unattributed, at: refer(data.unattributed.at), unseenAt: refer(data.unattributed.unseenAt) },
    frames,
    calls: data.calls.map(([frame, within]) => [frame > 0 ? frames[frame - 1] : null, within]),
  };
  for (const { transition, lost } of polls) if (transition >= 0 && lost > 0) section.lost.set(transition, lost);
  section.whyData = null;
}

/** Returns the poll of a row that starts at `start`; −1 if there is none. */
function pollOfRow(section, row, start) {
  const { time, state, isRunning, rowFirst } = section;
  for (let i = lastNotAfter(time, rowFirst[row], rowFirst[row + 1], start); i >= rowFirst[row] && time[i] === start; i--) {
    if (isRunning[state[i]] !== 0) return i;
  }
  return -1;
}

/**
 * Returns what is known of the poll that a transition begins; null if nothing is.
 * @param {Section} section
 * @param {number} transition
 * @returns {WhyPoll|null}
 */
export const whyOf = (section, transition) => section.why?.polls.get(transition) ?? null;

/** Returns whether nothing is blamed for a long poll, as far as the report has looked. */
export const isUnblamed = ({ why }, transition) => why !== null && !why.blamed.has(transition);

/** Returns how long the machine took the processor in a poll, in ns. */
export const takenNs = ({ cause }) => (cause === null ? 0 : cause.delay + cause.stolen);
