// The contents of the issues tab: the issues of the report, the longest polls, and the longest times for which tasks were ready.

import { Longest, pollInfo, taskSections, worstPolls } from "./polls.js";
import { issueList } from "./reported.js";
import { NOT_READY, readyEnd } from "./waits.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("./polls.js").PollInfo} PollInfo
 * @typedef {{
 *   section: number, transition: number, row: number, group: number, start: number, end: number, length: number,
 *   spawned: boolean, endsInPollOn: number|null,
 * }} ReadySpan times in ns; `endsInPollOn`: the worker, null if the task was never polled; `spawned`: it was its first poll that
 *   the task was ready for
 */

/** The most polls, and the most ready spans, that are listed. */
const MOST_ISSUES = 100;

/**
 * Finds what is worth a look. The longest polls and spans are found once and kept with the model, so that moving the threshold
 * costs little.
 * @param {Model} model
 * @param {number} [thresholdNs]
 * @returns {{
 *   polls: PollInfo[], blamed: (import("./reported.js").Issue|import("./blamed.js").Blamed)[]|null, ready: ReadySpan[],
 * }} `polls`: those over the threshold that held workers; `blamed`: the issues of the report, and the long polls that are in none
 *   of them, null if the data has no report; `ready`: spans over the threshold. Each is sorted, the longest first
 */
export function findIssues(model, thresholdNs = model.meta.long) {
  const { polls, ready } = (model.longest ??= { polls: longestPolls(model), ready: longestReady(model) });
  return {
    polls: polls.filter(({ own }) => own > thresholdNs),
    blamed: issueList(model, thresholdNs),
    ready: ready.filter(({ length }) => length > thresholdNs),
  };
}

function longestPolls(model) {
  const found = taskSections(model).flatMap((section) =>
    worstPolls(section, MOST_ISSUES, { on: "worker" }).map((i) => pollInfo(section, i, model.meta.gaps)));
  return found.sort((a, b) => b.own - a.own || a.start - b.start).slice(0, MOST_ISSUES);
}

function longestReady(model) {
  if (!model.meta.readyKnown) return [];
  const found = taskSections(model).flatMap((section) => {
    const { time, state, isReady, nRows, rowFirst } = section;
    const longest = new Longest(MOST_ISSUES, time);
    for (let row = 0; row < nRows; row++) {
      for (let i = rowFirst[row], end = rowFirst[row + 1]; i < end; i++) {
        if (isReady[state[i]] !== 0 && readyEnd(section, i, row) !== NOT_READY) longest.offer(section.endOf(i) - time[i], i);
      }
    }
    return longest.sorted().map((i) => readySpan(section, i));
  });
  return found.sort((a, b) => b.length - a.length || a.start - b.start).slice(0, MOST_ISSUES);
}

function readySpan(section, i) {
  const row = section.rowOf(i);
  const start = section.time[i], end = section.endOf(i);
  const worker = readyEnd(section, i, row);
  return {
    section: section.index, transition: i, row, group: section.groupOfRow(row), start, end, length: end - start,
    spawned: section.states[section.state[i]].role === "spawned", endsInPollOn: worker > 0 ? worker - 1 : null,
  };
}
