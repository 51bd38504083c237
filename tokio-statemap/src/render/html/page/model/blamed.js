// Groups the long polls by what is blamed for them.

import { heldNs, Longest, longPolls, ownNs, pollInfo, worstPolls } from "./polls.js";
import { shortName, sourceOf } from "./frames.js";
import { takenNs } from "./why.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("./polls.js").PollInfo} PollInfo
 * @typedef {{
 *   key: string, kind: "culprit"|"place"|"machine"|"unknown"|"off", label: string, source: string, title: string,
 *   blockingCause: string|null, polls: number, ns: number, list: PollInfo[], lengths?: number[],
 * }} Blamed `ns`: how long the polls held workers by their own doing, in sum; for "machine", how long it took the processor;
 *   `list`: the longest polls; `lengths`: the own time of each poll, where not all of them are counted

/** The most polls that are listed for a group, and the most groups of polls below the report's threshold. */
const MOST_OF_GROUP = 100;
const MOST_PLACES_BLAMED = 50;

/**
 * Groups the polls: by the report's culprits; below its threshold by spawn location, since the report did not look at
 * these; then those that only the machine made long, those without any sample of a function, and those that held no worker.
 * @param {Model} model
 * @param {number} thresholdNs
 * @returns {Blamed[]|null} null if the data has no report
 */
export function blamedPolls(model, thresholdNs) {
  const judged = model.sections.filter((section) => section.why !== null);
  if (judged.length === 0) return null;
  const of = (find) => judged.flatMap((section) => find(model, section, thresholdNs));
  return [...of(byCulprit), ...of(belowThreshold), ...of(ofMachine), ...of(unseen), ...of(offWorkers)];
}

const ownOf = (section, { transition }) => ownNs(section, transition);

/** Returns the longest of some polls; of equals the earliest. */
function listed(model, section, polls, lengthOf = ownOf) {
  const { time } = section;
  const found = [...polls].sort((a, b) => lengthOf(section, b) - lengthOf(section, a) || time[a.transition] - time[b.transition]);
  return found.slice(0, MOST_OF_GROUP).map((poll) => pollInfo(section, poll.transition, model.meta.gaps));
}

function byCulprit(model, section, threshold) {
  const isAll = threshold <= model.meta.long;
  const isOver = (poll) => ownOf(section, poll) > threshold;
  const groups = section.why.culprits.map(({ frame, blockingCause, place, polls, own, at }, index) => {
    const source = frame === null ? "" : sourceOf(frame);
    const over = isAll ? at : at.filter(isOver);
    return {
      key: `culprit.${section.index}.${index}`, kind: "culprit", blockingCause,
      label: frame === null ? place : shortName(frame.name), source,
      title: frame === null ? place : `${frame.name}${source && ` at ${source}`}`,
      // The report counts all polls, even if it doesn't list all of them.
      polls: isAll ? polls : over.length,
      ns: isAll ? own : over.reduce((sum, poll) => sum + ownOf(section, poll), 0),
      list: listed(model, section, over),
      lengths: isAll ? undefined : over.map((poll) => ownOf(section, poll)),
    };
  });
  return groups.filter((group) => group.polls > 0);
}

/** Groups polls that are too short for the report by spawn location. */
function belowThreshold(model, section, threshold) {
  const { long } = model.meta;
  if (threshold >= long) return [];
  const groups = new Map();
  for (const i of longPolls(section, threshold).poll) {
    const held = heldNs(section, i);
    if (held > long || (section.worker !== null && section.worker[i] === 0)) continue;
    const index = section.groupOfRow(section.rowOf(i));
    const group = groups.get(index) ?? { polls: 0, ns: 0, longest: new Longest(MOST_OF_GROUP, section.time) };
    groups.set(index, group);
    group.polls++;
    group.ns += held;
    group.longest.offer(held, i);
  }
  return [...groups].sort(([, a], [, b]) => b.ns - a.ns).slice(0, MOST_PLACES_BLAMED).map(([index, { polls, ns, longest }]) => {
    const { label } = section.groups[index];
    const list = longest.sorted().map((i) => pollInfo(section, i, model.meta.gaps));
    return { key: `place.${section.index}.${index}`, kind: "place", label, source: "", title: label, blockingCause: null, polls, ns, list };
  });
}

function ofMachine(model, section, threshold) {
  const { unattributed, culprits } = section.why;
  const isAll = threshold <= model.meta.long;
  const isIt = (poll) => heldNs(section, poll.transition) > threshold;
  const isBelow = (poll) => isIt(poll) && ownOf(section, poll) <= threshold;
  const blamed = [...culprits.flatMap(({ at }) => at), ...unattributed.unseenAt];
  const found = isAll ? unattributed.at : [...unattributed.at.filter(isIt), ...blamed.filter(isBelow)];
  const polls = isAll ? unattributed.polls : found.length;
  if (polls === 0) return [];
  const title = "The machine took the processor";
  return [{
    key: `machine.${section.index}`, kind: "machine", label: title, source: "", title, blockingCause: null, polls,
    ns: isAll ? unattributed.taken : found.reduce((sum, poll) => sum + takenNs(poll), 0),
    // These are ranked by what the machine took.
    list: listed(model, section, found, (_, poll) => takenNs(poll)),
  }];
}

/** Returns polls without any sample of a function. Their spawn location isn't blamed for them. */
function unseen(model, section, threshold) {
  const { unattributed } = section.why;
  const isAll = threshold <= model.meta.long;
  const found = isAll ? unattributed.unseenAt : unattributed.unseenAt.filter((poll) => ownOf(section, poll) > threshold);
  const polls = isAll ? unattributed.unseen : found.length;
  if (polls === 0) return [];
  const title = "No stack was sampled";
  return [{
    key: `unknown.${section.index}`, kind: "unknown", label: title, source: "", title, blockingCause: null, polls,
    ns: isAll ? unattributed.unseenTime : found.reduce((sum, poll) => sum + ownOf(section, poll), 0),
    list: listed(model, section, found),
  }];
}

function offWorkers(model, section, threshold) {
  const list = worstPolls(section, MOST_OF_GROUP, { on: "off", over: threshold }).map((i) => pollInfo(section, i, model.meta.gaps));
  if (list.length === 0) return [];
  const title = "Not on a worker";
  const ns = list.reduce((sum, { own }) => sum + own, 0);
  return [{ key: `off.${section.index}`, kind: "off", label: title, source: "", title, blockingCause: null, polls: list.length, ns, list }];
}
