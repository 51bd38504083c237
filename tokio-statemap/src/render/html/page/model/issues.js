// What was wrong: the worst polls, the longest waits, the starved locations; and the sentence that names a poll.

import { formatCount, formatLength, formatNs, formatSetting } from "../format/numbers.js";
import { cleanText } from "../format/text.js";
import { locationTable } from "./locations.js";
import { workerName } from "./names.js";
import { Longest, pollInfo, worstPolls } from "./polls.js";
import { issueList } from "./told.js";
import { NOT_READY, readyEnd } from "./waits.js";
import { judgedSection } from "./why.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("./polls.js").PollInfo} PollInfo
 * @typedef {{
 *   section: number, transition: number, row: number, group: number, start: number, end: number, length: number,
 *   spawned: boolean, endsInPollOn: number|null,
 * }} ReadySpan times in ns; `endsInPollOn`: the worker, null if it was never polled; `spawned`: it waited for its
 *   first poll
 * @typedef {import("./locations.js").LocationRow & {share: number}} Starved `share`: ready time of ready and
 *   running time
 */

/** How many are listed. */
const MOST_ISSUES = 100;

/** From which share of ready time on a location whose tasks had to wait over the threshold counts as starved. */
const STARVED = 0.5;

/**
 * Finds what is worth a look. The longest of all are found once and kept with the model: to move the threshold
 * costs little.
 * @param {Model} model
 * @param {number} [thresholdNs]
 * @returns {{
 *   polls: PollInfo[], blamed: (import("./told.js").Issue|import("./blamed.js").Blamed)[]|null, ready: ReadySpan[], starved: Starved[],
 * }}
 *   `polls` over the threshold, on workers first, those off the workers (`worker` null) behind them; `blamed`: the issues
 *   of the report, and the long polls that are none, where there is one; `ready` spans over the threshold, each the
 *   longest first; `starved`: of data without a report
 */
export function findIssues(model, thresholdNs = model.meta.long) {
  const { on, off, ready } = (model.longest ??= {
    on: worstOf(model, "worker", MOST_ISSUES),
    off: worstOf(model, "off", MOST_ISSUES),
    ready: longestReady(model),
  });
  const polls = [...on.filter((info) => info.own > thresholdNs), ...off.filter((info) => info.own > thresholdNs)];
  const starved = locationTable(model, thresholdNs)
    .filter((row) => row.longestReadyNs !== null && row.longestReadyNs > thresholdNs)
    .map((row) => ({ ...row, share: row.readyNs / (row.readyNs + row.runningNs) }))
    .filter((row) => row.share >= STARVED)
    .sort((a, b) => b.share - a.share || b.readyNs - a.readyNs);
  const blamed = issueList(model, thresholdNs);
  return { polls: polls.slice(0, MOST_ISSUES), blamed, ready: ready.filter((span) => span.length > thresholdNs), starved };
}

/**
 * The poll that is said to be the worst: the longest of the worst culprit of the report. Where there is no report the one
 * that held a worker longest, of equals the earliest; where workers aren't known, the longest of a spawned task.
 * @param {Model} model
 * @param {number} [thresholdNs] only if it took longer
 * @returns {PollInfo|null}
 */
export function worstPoll(model, thresholdNs = model.meta.long) {
  const judged = judgedSection(model);
  if (judged !== null) {
    const longest = judged.why.culprits[0]?.longest;
    return longest === undefined ? null : pollInfo(judged, longest.transition, model.meta.gaps);
  }
  const [worst] = worstOf(model, "worker", 1);
  return worst && worst.own > thresholdNs ? worst : null;
}

function worstOf(model, on, most) {
  const found = [];
  for (const section of model.sections) {
    if (section.kind !== "tasks" || !section.isRunning.includes(1)) continue;
    for (const i of worstPolls(section, most, { on })) found.push(pollInfo(section, i, model.meta.gaps));
  }
  return found.sort((a, b) => b.own - a.own || a.start - b.start).slice(0, most);
}

function longestReady(model) {
  if (!model.meta.readyKnown) return [];
  const found = [];
  for (const section of model.sections) {
    if (section.kind !== "tasks") continue;
    const { time, state, isReady, nRows, rowFirst } = section;
    const longest = new Longest(MOST_ISSUES, time);
    for (let row = 0; row < nRows; row++) {
      for (let i = rowFirst[row], end = rowFirst[row + 1]; i < end; i++) {
        if (isReady[state[i]] !== 0 && readyEnd(section, i, row) !== NOT_READY) longest.offer(section.endOf(i) - time[i], i);
      }
    }
    for (const i of longest.sorted()) found.push(readySpan(section, i));
  }
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

/**
 * One sentence on a poll, for data without a report: "src/api.rs:88:20 held worker-1 for 51.2 ms; 37 tasks were ready meanwhile."
 * @param {Model} model
 * @param {PollInfo|null} info null: what there is to say without one
 * @param {number|null} [ready] what `readyMeanwhile` said; null if ready times are unknown
 * @returns {string}
 */
export function sentence(model, info, ready = null) {
  if (!info) return noPoll(model);
  const section = model.sections[info.section];
  const who = cleanText(section.groups[info.group].label || section.name(info.row), 120);
  const least = (info.cutLeft || (info.cutRight && !info.handed)) && !isStillRunning(info) ? "at least " : "";
  const length = least + formatLength(info.own, info.held);
  if (info.worker === null) {
    const running = isStillRunning(info) ? " and still ran at the end" : "";
    if (section.worker) return `${who} ran for ${length}, on a thread that is no worker${running}.`;
    const isOnWorker = section.kind === "tasks" && section.isRoot[info.row] === 0;
    return isOnWorker ? `${who} ran for ${length}, on a worker that isn't known${running}${meanwhile(ready)}.` : `${who} ran for ${length}${running}.`;
  }
  const worker = workerName(model, section, info.worker);
  const held = isStillRunning(info)
    ? `${who} held ${worker} for ${length} and still ran at the end`
    : `${who} held ${worker} for ${length}`;
  return `${held}${meanwhile(ready)}.`;
}

function isStillRunning(info) {
  return info.atEnd && !info.handed;
}

function meanwhile(ready) {
  if (ready === null) return " (ready times were not recorded)";
  if (ready === 0) return "; no other task was ready meanwhile";
  return ready === 1 ? "; one other task was ready meanwhile" : `; ${formatCount(ready)} tasks were ready meanwhile`;
}

function noPoll(model) {
  const tasks = model.sections.filter((section) => section.isRunning.includes(1) && section.kind === "tasks");
  if (tasks.length > 0) {
    const over = formatSetting(model.meta.long);
    // Of data it isn't known which polls held a worker.
    return tasks.some((section) => section.worker === null) ? `No poll of a spawned task took over ${over}.` : `No poll held a worker over ${over}.`;
  }
  const rows = model.sections.reduce((sum, section) => sum + section.nRows, 0);
  const changes = model.sections.reduce((sum, section) => sum + section.nTransitions, 0);
  const what = `${counted(rows, "entity", "entities")}, ${counted(changes, "change", "changes")} of state`;
  return `${what} in ${formatNs(model.lengthNs)}.`;
}

function counted(n, one, many) {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}
