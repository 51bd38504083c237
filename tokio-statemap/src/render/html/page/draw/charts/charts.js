// Which charts there are, and what each is called.

/** @typedef {import("../../data/decode.js").Model} Model */

/** Under the workers, from top to bottom. `short`: where there is little room; `title`: what it is, in a sentence. */
export const CHARTS = [
  { key: "ready", name: "Tasks ready", short: "Ready", title: "How many tasks were ready at once: woken or spawned, and not yet polled." },
  { key: "occupancy", name: "Worker occupancy", short: "Workers", title: "How much of the workers' time was in polls." },
  { key: "longest", name: "Longest poll", short: "Longest", title: "For how long the longest poll of that time held its worker (wall time), on a logarithmic scale. The dashed line: from when on a poll is long." },
  { key: "alive", name: "Tasks alive", short: "Alive", title: "How many tasks there were: spawned, and not yet completed." },
  { key: "blocking", name: "Blocking threads", short: "Blocking", title: "How many threads the blocking pool had. In front: how many of its tasks waited for one." },
];

const isTasks = (section) => section.kind === "tasks" && section.nLanes > 0;

/** Whether there is data for a chart of the run with these sections. */
const IS_THERE = {
  ready: (sections, { readyKnown }) => readyKnown && sections.some((section) => section.kind === "tasks" && section.isRunning.includes(1)),
  occupancy: (sections) => sections.some(({ workerPolls }) => workerPolls !== null),
  longest: (sections) => sections.some(({ workerPolls }) => workerPolls !== null),
  alive: (sections) => sections.some(isTasks),
  blocking: (sections) => sections.some(({ kind, nLanes }) => kind === "blocking" && nLanes > 0),
};

/** The runs that there are charts of, in the order of their sections. */
const runsOf = (model) => [...new Set(model.sections.filter(({ kind }) => kind !== "other").map(({ run }) => run))];

/**
 * The keys of the charts that there is data for. Of several runs, which may have been at different times, nothing is added
 * up: each has charts of its own, "ready.1" being that of the run 1.
 * @param {Model} model
 * @returns {string[]} those of a run together
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
 * What a key of a chart means.
 * @param {Model} model
 * @param {string} key
 * @returns {{kind: string, run: number}} `kind`: as `CHARTS` has it
 */
export function partKey(model, key) {
  const [kind, run] = key.split(".");
  return { kind, run: run === undefined ? (runsOf(model)[0] ?? 0) : Number(run) };
}

/** The chart of that key. */
export const chartOf = (key) => CHARTS.find((chart) => chart.key === key.split(".")[0]);

/**
 * The charts by run, in their order.
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
 * Which charts are hidden at first: of several runs those of all but that which the page opens on.
 * @param {Model} model
 * @param {{section: number}|null} opening
 * @returns {Set<string>}
 */
export function initialHidden(model, opening) {
  const runs = byRun(model, chartsOf(model));
  const shown = opening === null ? runs[0]?.run : model.sections[opening.section].run;
  return new Set(runs.flatMap(({ run, keys }) => (runs.length === 1 || run === shown ? [] : keys)));
}
