// Searches functions, lines at which tasks wait, spans of `tracing`, and times.

import { longestWait } from "./awaits.js";
import { shortName, sourceOf } from "./frames.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{label: string, word: string, shows: () => object[]}} NamedHit `word`: what it is; `shows`: what Enter shows, one after
 *   the other: selections, or the name of a tab
 */

/** Times that people type: "1.25 s", "20ms". */
const TIME = /^(\d{1,15}(?:\.\d{1,9})?)\s*(ns|us|µs|ms|s|min)$/;
const UNITS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9 };

/** The part of the view that is shown around a time. */
const TIME_AROUND = 1 / 40;

/**
 * Finds the time that the text names, if it is within what is shown.
 * @param {Model} model
 * @param {string} wanted
 * @returns {NamedHit[]}
 */
export function searchTime({ lengthNs, meta }, wanted) {
  const found = TIME.exec(wanted);
  if (found === null) return [];
  const t = Math.round(Number(found[1]) * UNITS[found[2]]) - (meta.origin ?? 0);
  if (!(t >= 0 && t <= lengthNs)) return [];
  const around = Math.max(1000, lengthNs * TIME_AROUND / 2);
  return [{ label: `at ${wanted}`, word: "time", shows: () => [{ kind: "range", t0: Math.max(0, t - around), t1: Math.min(lengthNs, t + around) }] }];
}

/** The functions of a section: those in samples, with the polls in which they were seen, and those in which tasks wait. */
function functionsOf(section) {
  const byName = new Map();
  const entry = (frame, key) => {
    const name = `${frame.name} ${key} ${sourceOf(frame)}`;
    if (!byName.has(name)) byName.set(name, { frame, polls: new Set(), places: new Set() });
    return byName.get(name);
  };
  if (section.why !== null) {
    const { polls, calls } = section.why;
    for (const { transition, samples, frame } of polls.values()) {
      if (transition < 0) continue;
      if (frame !== null) entry(frame, "ran").polls.add(transition);
      for (const { call } of samples) {
        for (let at = call, n = 0; at > 0 && n <= calls.length; at = calls[at - 1][1], n++) {
          const within = calls[at - 1][0];
          if (within !== null && within.origin !== "runtime") entry(within, "ran").polls.add(transition);
        }
      }
    }
  }
  if (section.awaits !== null) {
    section.awaits.places.forEach(({ functions }, index) => {
      const add = ({ frame, awaits }) => {
        if (frame.origin !== "runtime") entry(frame, "waited").places.add(index);
        awaits.forEach(add);
      };
      functions.forEach(add);
    });
  }
  return [...byName.values()];
}

/**
 * Finds functions by their names, files and lines.
 * @param {Model} model
 * @param {string} wanted in lower case
 * @param {number} most
 * @returns {NamedHit[]} those of the program first
 */
export function searchFunctions(model, wanted, most) {
  const own = [], others = [];
  for (const section of model.sections) {
    section.named ??= functionsOf(section);
    for (const { frame, polls, places } of section.named) {
      const list = frame.origin === "program" ? own : others;
      const source = sourceOf(frame);
      if (list.length >= most || !(frame.name.toLowerCase().includes(wanted) || source.toLowerCase().includes(wanted))) continue;
      const label = source === "" ? frame.name : `${shortName(frame.name)} at ${source}`;
      const span = (transition) => ({ kind: "span", section: section.index, transition });
      if (polls.size > 0) {
        const byLength = () => [...polls].sort((a, b) => section.endOf(b) - section.time[b] - (section.endOf(a) - section.time[a]) || a - b);
        list.push({ label, word: polls.size === 1 ? "1 poll" : `${polls.size} polls`, shows: () => byLength().map(span) });
      } else {
        list.push({ label, word: "wait", shows: () => [longestWait(section, { places })].filter((at) => at >= 0).map(span) });
      }
    }
  }
  return [...own, ...others].slice(0, most);
}

/**
 * Finds spans of `tracing` by their labels.
 * @param {Model} model
 * @param {string} wanted in lower case
 * @param {number} most
 * @returns {NamedHit[]}
 */
export function searchSpans(model, wanted, most) {
  const found = [];
  for (const { requests } of model.sections) {
    for (const { name } of requests?.rows ?? []) {
      if (found.length < most && name.toLowerCase().includes(wanted)) found.push({ label: name, word: "span", shows: () => [{ kind: "tab", tab: "requests" }] });
    }
  }
  return found;
}
