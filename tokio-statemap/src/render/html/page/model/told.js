// The issues as the report lists them: at its threshold exactly these, in its order. At another one its long polls are
// counted again, and shorter ones come behind.

import { lastNotAfter } from "../data/section.js";
import { blamedPolls } from "./blamed.js";
import { shortName } from "./frames.js";
import { lengthsOf } from "./lengths.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{section: number, transition: number, row: number, start: number, length: number}} Spot a poll or a wait
 * @typedef {import("./blamed.js").Blamed & {
 *   name: string, noun: string, text: string, meaning: string, advice: string, group: number, spots: Spot[],
 *   lengths: import("./lengths.js").Lengths|null,
 * }} Issue `name`: what it is, "long polls"; `text`: of the first the verdict; `polls`: how many polls, tasks or waits, as
 *   `noun` says; `group`: of its tasks, −1 if none
 */

/** The sections of which a report has told its issues. */
const judged = (model) => model.sections.filter(({ told }) => told !== null);

/**
 * The issues, and behind them the long polls that are none.
 * @param {Model} model
 * @param {number} thresholdNs
 * @returns {(Issue|import("./blamed.js").Blamed)[]|null} null if no report has looked at the data
 */
export function issueList(model, thresholdNs) {
  const blamed = blamedPolls(model, thresholdNs);
  const sections = judged(model);
  if (sections.length === 0) return blamed;
  const groups = new Map((blamed ?? []).map((group) => [group.key, group]));
  const issues = sections.flatMap((section) =>
    section.told.map((told, index) => issueOf(model, section, told, index, groups, thresholdNs)).filter((issue) => issue !== null));
  return [...issues, ...[...groups.values()].filter(({ kind }) => kind !== "culprit")];
}

function issueOf(model, section, told, index, groups, threshold) {
  const { culprit, label, source, text, meaning, advice, noun } = told;
  const isReports = threshold === model.meta.long;
  const polls = culprit === null ? undefined : groups.get(`culprit.${section.index}.${culprit}`);
  // No poll of it is that long, or it isn't known whether one is.
  if (told.kind === "long polls" && polls === undefined && !(isReports || (culprit === null && threshold < model.meta.long))) return null;
  const group = section.groups.findIndex((of) => of.label === told.group);
  const isOfPolls = polls !== undefined;
  const known = {
    key: `issue.${section.index}.${index}`, kind: "told", name: told.kind, noun, text, meaning, advice, group, section: section.index,
    label: label === null ? "" : source === null ? label : shortName(label), source: source ?? "",
    title: label === null ? told.kind : source === null ? label : `${label} at ${source}`,
    act: null, polls: told.number, ns: told.total, list: [], spots: spotsOf(section, told.spots),
    lengths: told.lengths && { p50: told.lengths[0], p99: told.lengths[1], steps: told.lengths[2] },
  };
  if (!isOfPolls) return known;
  const { act, list } = polls;
  if (isReports) return { ...known, key: polls.key, kind: "culprit", act, list };
  return { ...known, key: polls.key, kind: "culprit", act, list, polls: polls.polls, ns: polls.ns, lengths: polls.lengths === undefined ? known.lengths : lengthsOf(polls.lengths) };
}

/** @returns {Spot[]} */
function spotsOf(section, spots) {
  const { time, rowFirst } = section;
  return spots.map(([row, start, length]) => {
    // What began before what is kept is there from the row's begin on.
    const transition = Math.max(lastNotAfter(time, rowFirst[row], rowFirst[row + 1], start), rowFirst[row]);
    return { section: section.index, transition, row, start: time[transition], length };
  });
}

/** The section that has issues, if there is one: of several runs none is the one that is spoken of first. */
export const onlyJudged = (model) => {
  const sections = judged(model);
  return sections.length === 1 ? sections[0] : null;
};

/** Whether a report has told issues of any section. */
export const isAnyJudged = (model) => judged(model).length > 0;

/**
 * Where the first issue of the report can be seen, as something to select; of several runs, that which took longest.
 * @param {Model} model
 * @returns {{kind: "span", section: number, transition: number}|{kind: "group", section: number, group: number}|null}
 */
export function firstTarget(model) {
  const [section] = judged(model).filter(({ told }) => told.length > 0).sort((a, b) => b.told[0].total - a.told[0].total);
  if (section === undefined) return null;
  const [told] = section.told;
  const longest = told.culprit === null ? undefined : section.why?.culprits[told.culprit]?.longest;
  if (longest !== undefined) return { kind: "span", section: section.index, transition: longest.transition };
  const [spot] = spotsOf(section, told.spots.slice(0, 1));
  if (spot !== undefined) return { kind: "span", section: section.index, transition: spot.transition };
  const group = section.groups.findIndex(({ label }) => label === told.group);
  return group < 0 ? null : { kind: "group", section: section.index, group };
}

/**
 * How the answer may name whom it is about.
 * @param {Model} model
 * @returns {string[]}
 */
export function firstNames(model) {
  const told = onlyJudged(model)?.told[0];
  if (told === undefined) return [];
  const { label, source, group } = told;
  const names = source === null ? [label] : [`${label} at ${source}`, `${label} in ${source}`, label];
  return [...names, group].filter((name) => name !== null);
}
