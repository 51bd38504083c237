// Splits waiting by the line that tasks wait at: each of the lines with the longest waits has a state of its own.

import { buildCumulative } from "./lanes.js";

/** @typedef {import("../data/section.js").Section} Section */

/** The most lines with a state of their own. */
export const MOST_LINES = 8;

/** Returns whether there are lines to split by. @param {Section} section */
export const hasLines = (section) => section.awaits !== null && section.awaits.places.some(({ functions }) => functions.length > 0);

/**
 * Splits the waiting of a section by line, or merges it again.
 * @param {Section} section
 * @param {boolean} isSplit
 * @returns {boolean} whether that changed anything
 */
export function splitWaiting(section, isSplit) {
  if ((section.whole !== null) === isSplit || (isSplit && !hasLines(section))) return false;
  if (isSplit) splitByLine(section);
  else putTogether(section);
  buildCumulative(section);
  return true;
}

function splitByLine(section) {
  const { tag, state, states, awaits } = section;
  const waiting = states.findIndex(({ role }) => role === "waiting");
  section.whole = states;
  const { lines, ofTag, hasOthers } = longestLines(section);
  const others = { name: "waiting at other lines", colour: null, role: "waiting", line: MOST_LINES };
  const named = lines.map((label, line) => ({ name: `waiting at ${label}`, colour: null, role: "waiting", line }));
  const added = hasOthers ? [...named, others] : named;
  section.setStates([...states, ...added]);
  const into = ofTag.map((line) => states.length + Math.min(line, added.length - 1));
  for (let i = 0; i < section.nTransitions; i++) {
    if (tag[i] > 0 && state[i] === waiting && awaits.places[tag[i] - 1].functions.length > 0) state[i] = into[tag[i] - 1];
  }
}

function putTogether(section) {
  const { state, whole } = section;
  const waiting = whole.findIndex(({ role }) => role === "waiting");
  for (let i = 0; i < section.nTransitions; i++) if (state[i] >= whole.length) state[i] = waiting;
  section.setStates(whole);
  section.whole = null;
}

/** Returns the lines with the longest waits in sum, and the line of each tag: `MOST_LINES` stands for all other lines. */
function longestLines(section) {
  const { awaits, tag, time, nTransitions } = section;
  const sums = new Float64Array(awaits.places.length);
  for (let i = 0; i < nTransitions; i++) if (tag[i] > 0) sums[tag[i] - 1] += section.endOf(i) - time[i];
  const labels = awaits.places.map(({ label }) => label);
  const byLabel = new Map();
  awaits.places.forEach(({ functions }, place) => {
    if (functions.length > 0 && sums[place] > 0) byLabel.set(labels[place], (byLabel.get(labels[place]) ?? 0) + sums[place]);
  });
  const lines = [...byLabel].sort((a, b) => b[1] - a[1]).slice(0, MOST_LINES).map(([label]) => label);
  const ofTag = labels.map((label) => (lines.includes(label) ? lines.indexOf(label) : MOST_LINES));
  return { lines, ofTag, hasOthers: byLabel.size > MOST_LINES };
}
