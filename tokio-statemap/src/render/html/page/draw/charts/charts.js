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

/** Whether there is one run at most: of several, which may have been at different times, nothing is added up. */
const isOneRun = (model) => model.sections.filter(({ kind }) => kind === "tasks").length <= 1;
const hasPolls = (section) => section.kind === "tasks" && section.isRunning.includes(1);

/** Whether there is data for a chart. */
const IS_THERE = {
  ready: (model) => isOneRun(model) && model.meta.readyKnown && model.sections.some(hasPolls),
  occupancy: (model) => model.workerPolls !== null,
  longest: (model) => model.workerPolls !== null,
  alive: (model) => isOneRun(model) && model.sections.some((section) => section.kind === "tasks" && section.nLanes > 0),
  blocking: (model) => isOneRun(model) && model.sections.some(({ kind, nLanes }) => kind === "blocking" && nLanes > 0),
};

/**
 * The keys of the charts that there is data for.
 * @param {Model} model
 * @returns {string[]}
 */
export function chartsOf(model) {
  return CHARTS.map(({ key }) => key).filter((key) => IS_THERE[key](model));
}

/** The chart of that key. */
export const chartOf = (key) => CHARTS.find((chart) => chart.key === key);
