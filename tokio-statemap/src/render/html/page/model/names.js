// What rows, groups and workers are called.

import { formatCount } from "../format/numbers.js";
import { cleanText, plural, visible } from "../format/text.js";
import { workersOf } from "./worker_polls.js";

/** What the rows of a section are called, in the singular. */
export const rowWord = (section) =>
  ({ workers: "worker", blocking: "thread", tasks: "task", other: "entity" })[section.kind] ?? "entity";

/** "1 task", "12 tasks", "3 entities". */
export const countRows = (section, n) =>
  section.kind === "other" ? `${formatCount(n)} ${n === 1 ? "entity" : "entities"}` : plural(n, rowWord(section), formatCount(n));

/** The name of a group as it is shown: not cut. */
export const groupLabel = (group) => visible(group.label) || "unknown";

/**
 * The name of a worker's row: "worker-1".
 * @param {Model} model
 * @param {import("../data/section.js").Section} of the tasks that it polls
 * @param {number} worker its index in the runtime
 * @returns {string}
 */
export function workerName(model, of, worker) {
  const section = workersOf(model, of);
  const row = section?.indices?.indexOf(worker) ?? -1;
  return row < 0 ? `worker-${worker}` : cleanText(section.name(row), 120);
}
