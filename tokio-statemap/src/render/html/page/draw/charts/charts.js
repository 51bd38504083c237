// The charts and their names.

/** @typedef {import("../../data/decode.js").Model} Model */

/** The charts below the workers, from top to bottom. `short`: the name if there is little room; `title`: a description. */
export const CHARTS = [
  { key: "ready", name: "Tasks ready", short: "Ready", title: "The number of ready tasks: woken or spawned, and not yet polled." },
  { key: "occupancy", name: "Worker occupancy", short: "Workers", title: "The share of the workers' time spent in polls." },
  { key: "longest", name: "Longest poll", short: "Longest", title: "The length of the longest poll (wall time), on a logarithmic scale. From the dashed line on, a poll counts as long." },
  { key: "alive", name: "Tasks alive", short: "Alive", title: "The number of tasks that are spawned and not yet completed." },
  { key: "blocking", name: "Blocking threads", short: "Blocking", title: "The number of threads of the blocking pool. In front: the number of its tasks that waited for a thread." },
];

const isTasks = (section) => section.kind === "tasks" && section.nLanes > 0;

/** Returns whether there is data for a chart of the run with these sections. */
const IS_THERE = {
  ready: (sections, { readyKnown }) => readyKnown && sections.some((section) => section.kind === "tasks" && section.isRunning.includes(1)),
  occupancy: (sections) => sections.some(({ workerPolls }) => workerPolls !== null),
  longest: (sections) => sections.some(({ workerPolls }) => workerPolls !== null),
  alive: (sections) => sections.some(isTasks),
  blocking: (sections) => sections.some(({ kind, nLanes }) => kind === "blocking" && nLanes > 0),
};

/** Returns the runs that have charts, in the order of their sections. */
const runsOf = (model) => [...new Set(model.sections.filter(({ kind }) => kind !== "other").map(({ run }) => run))];

/**
 * Returns the keys of the charts that have data. Several runs, which may have been at different times, are not added up:
 * each has its own charts, and "ready.1" is that of run 1.
 * @param {Model} model
 * @returns {string[]} those of a run follow each other
 */
export function chartsOf(model) {
  const runs = runsOf(model);
  return runs.flatMap((run) => {
    const sections = model.sections.filter((section) => section.run === run);
    const there = CHARTS.map(({ key }) => key).filter((key) => IS_THERE[key](sections, model.meta));
    return runs.length === 1 ? there : there.map((key) => `${key}.${run}`);
  });
}

/**
 * Splits the key of a chart.
 * @param {Model} model
 * @param {string} key
 * @returns {{kind: string, run: number}} `kind`: as `CHARTS` has it
 */
export function partKey(model, key) {
  const [kind, run] = key.split(".");
  return { kind, run: run === undefined ? (runsOf(model)[0] ?? 0) : Number(run) };
}

/** Returns the chart of a key. */
export const chartOf = (key) => CHARTS.find((chart) => chart.key === key.split(".")[0]);

/**
 * Groups charts by run, in their order.
 * @param {Model} model
 * @param {string[]} keys
 * @returns {{run: number, keys: string[]}[]}
 */
export function byRun(model, keys) {
  const runs = [];
  for (const key of keys) {
    const { run } = partKey(model, key);
    if (runs.at(-1)?.run !== run) runs.push({ run, keys: [] });
    runs.at(-1).keys.push(key);
  }
  return runs;
}

/**
 * Returns the charts that are hidden at first: if there are several runs, those of all runs except the one that the page
 * opens on.
 * @param {Model} model
 * @param {{section: number}|null} opening
 * @returns {Set<string>}
 */
export function initialHidden(model, opening) {
  const runs = byRun(model, chartsOf(model));
  const shown = opening === null ? runs[0]?.run : model.sections[opening.section].run;
  return new Set(runs.flatMap(({ run, keys }) => (runs.length === 1 || run === shown ? [] : keys)));
}
