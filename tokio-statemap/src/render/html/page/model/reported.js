// The issues, as the report lists them: at the report's threshold exactly these, in its order. At another threshold their long
// polls are counted again, and shorter polls are listed behind them.

import { lastNotAfter } from "../data/section.js";
import { blamedPolls } from "./blamed.js";
import { shortName } from "./frames.js";
import { lengthsOf } from "./lengths.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("../data/section.js").Section} Section
 * @typedef {{section: number, transition: number, row: number, start: number, length: number}} Spot a poll or a wait
 * @typedef {import("./blamed.js").Blamed & {
 *   name: string, noun: string, text: string, details: string, meaning: string, advice: string, group: number, spots: Spot[],
 *   lengths: import("./lengths.js").Lengths|null,
 * }} Issue `name`: its kind, "long polls"; `text`: of the first issue the verdict; `details`: the text without the headline, which the head of the page says; `polls`: the number of polls, tasks or waits,
 *   as `noun` says; `group`: the group of its tasks, −1 if none
 */

/** Returns the sections that have the issues of a report, those of the worst run first. */
const withReport = (model) =>
  model.sections.filter(({ reported }) => reported !== null).sort((a, b) => rankOf(model, a) - rankOf(model, b));

const rankOf = ({ runs }, { run }) => runs[run]?.rank ?? 0;

/**
 * Returns whether the list of issues says the whole verdict, so that the head of the page needs only its headline.
 * @param {Model} model
 */
export const isVerdictListed = (model) => withReport(model).some(({ reported }) => isVerdict(model, reported[0]));

/** The headline may be cut if it is longer than two lines of the head. Then its issue says it, too. */
const LONGEST_HEADLINE = 170;

const isVerdict = ({ meta: { verdict, headline } }, issue) => issue !== undefined && issue.text === verdict && verdict.startsWith(headline);

/** Returns what an issue says beyond the headline that the head of the page shows. */
const detailsOf = (model, issue) => {
  const { headline } = model.meta;
  return isVerdict(model, issue) && headline.length <= LONGEST_HEADLINE ? issue.text.slice(headline.length).trimStart() : issue.text;
};

/**
 * Returns the issues, and behind them the long polls that are in none of them.
 * @param {Model} model
 * @param {number} thresholdNs
 * @returns {(Issue|import("./blamed.js").Blamed)[]|null} null if the data has no report
 */
export function issueList(model, thresholdNs) {
  const blamed = blamedPolls(model, thresholdNs);
  const sections = withReport(model);
  if (sections.length === 0) return blamed;
  const groups = new Map((blamed ?? []).map((group) => [group.key, group]));
  const issues = sections.flatMap((section) =>
    section.reported.map((issue, index) => issueOf(model, section, issue, index, groups, thresholdNs)).filter((issue) => issue !== null));
  return [...issues, ...[...groups.values()].filter(({ kind }) => kind !== "culprit")];
}

function issueOf(model, section, issue, index, groups, threshold) {
  const { culprit, label, source, text, meaning, advice, noun } = issue;
  const isReports = threshold === model.meta.long;
  const polls = culprit === null ? undefined : groups.get(`culprit.${section.index}.${culprit}`);
  // None of its polls is that long, or that isn't known.
  if (issue.kind === "long polls" && polls === undefined && !(isReports || (culprit === null && threshold < model.meta.long))) return null;
  const known = {
    key: `issue.${section.index}.${index}`, kind: "reported", name: issue.kind, noun, text, meaning, advice,
    details: detailsOf(model, issue),
    group: groupNamed(section, issue.group), section: section.index,
    label: label === null ? "" : source === null ? label : shortName(label), source: source ?? "",
    title: label === null ? issue.kind : source === null ? label : `${label} at ${source}`,
    blockingCause: null, polls: issue.number, ns: issue.total, list: [], spots: spotsOf(section, issue.spots),
    lengths: issue.lengths && { p50: issue.lengths[0], p99: issue.lengths[1], steps: issue.lengths[2] },
  };
  if (polls === undefined) return known;
  const found = { ...known, key: polls.key, kind: "culprit", blockingCause: polls.blockingCause, list: polls.list };
  if (isReports) return found;
  return { ...found, polls: polls.polls, ns: polls.ns, lengths: polls.lengths === undefined ? known.lengths : lengthsOf(polls.lengths) };
}

const groupNamed = ({ groups }, name) => groups.findIndex(({ label }) => label === name);

/** @returns {Spot[]} */
function spotsOf(section, spots) {
  const { time, rowFirst } = section;
  return spots.map(([row, start, length]) => {
    // A spot before the kept detail is replaced by the beginning of the row.
    const transition = Math.max(lastNotAfter(time, rowFirst[row], rowFirst[row + 1], start), rowFirst[row]);
    return { section: section.index, transition, row, start: time[transition], length };
  });
}

/**
 * Returns what shows the first issue of the report, as something to select. If there are several runs, the worst one counts.
 * @param {Model} model
 * @returns {{kind: "span", section: number, transition: number}|{kind: "group", section: number, group: number}|null}
 */
export function firstTarget(model) {
  const [section] = withReport(model).filter(({ reported }) => reported.length > 0);
  if (section === undefined) return null;
  const [issue] = section.reported;
  const longest = issue.culprit === null ? undefined : section.why?.culprits[issue.culprit]?.longest;
  const [spot] = longest === undefined ? spotsOf(section, issue.spots.slice(0, 1)) : [longest];
  if (spot !== undefined) return { kind: "span", section: section.index, transition: spot.transition };
  const group = groupNamed(section, issue.group);
  return group < 0 ? null : { kind: "group", section: section.index, group };
}

/**
 * Returns the names that the headline may have for what it is about, the longest of each run first.
 * @param {Model} model
 * @returns {string[]}
 */
export function firstNames(model) {
  return withReport(model).filter(({ reported }) => reported.length > 0).flatMap(({ reported: [{ label, source, group }] }) => {
    const names = source === null ? [label] : [`${label} at ${source}`, `${label} in ${source}`, label];
    return [...names, group].filter((name) => name !== null);
  });
}
