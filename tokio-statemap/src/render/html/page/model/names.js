// The names of rows, groups and workers.

import { formatCount, formatNs } from "../format/numbers.js";
import { cleanText, plural, visible } from "../format/text.js";
import { workersOf } from "./worker_polls.js";

/** Returns the noun for a row of a section, in the singular. */
export const rowWord = (section) =>
  ({ workers: "worker", blocking: "thread", tasks: "task", other: "entity" })[section.kind] ?? "entity";

/** Returns the same in the plural. */
export const rowWords = (section) => (rowWord(section) === "entity" ? "entities" : `${rowWord(section)}s`);

/** Returns "1 task", "12 tasks", "3 entities". */
export const countRows = (section, n) => `${formatCount(n)} ${n === 1 ? rowWord(section) : rowWords(section)}`;

/** Describes data that isn't of Tokio: "4 entities, 12 changes of state in 2.50 s." */
export function sizeSentence({ sections, lengthNs }) {
  const [rows, changes] = ["nRows", "nTransitions"].map((key) => sections.reduce((sum, section) => sum + section[key], 0));
  return `${countRows({ kind: "other" }, rows)}, ${plural(changes, "change", formatCount(changes))} of state in ${formatNs(lengthNs)}.`;
}

/** Returns the name of a group as it is shown, in full. */
export const groupLabel = (group) => visible(group.label) || "unknown";

/** Returns the function that most tasks of a group run, if a library spawned them, or else where they were spawned. */
export const groupName = (group) => (group.runs === null ? groupLabel(group) : visible(group.runs[0]));

/** Says where the tasks of a group were spawned, and what they run if a library spawned them. */
export const groupText = (group) => (group.runs === null ? groupLabel(group) : `${groupLabel(group)}, ran ${visible(group.runs[1])}`);

/**
 * Returns the name of a worker: "worker-1".
 * @param {import("../data/decode.js").Model} model
 * @param {import("../data/section.js").Section} of the section of the tasks that it polls
 * @param {number} worker its index in the runtime
 * @returns {string}
 */
export function workerName(model, of, worker) {
  const section = workersOf(model, of);
  const row = section?.indices?.indexOf(worker) ?? -1;
  return row < 0 ? `worker-${worker}` : cleanText(section.name(row), 120);
}
