import { visible } from "../format/text.js";
import { countText, shortCount } from "../draw/charts/scale.js";
import { stackOrder } from "../draw/stack.js";

// The text beside a folded group: how many of its lanes were in each state.

/** Smaller numbers are left out if there are larger ones. */
const NEGLIGIBLE = 0.05;

/** States that are counted together, with a shorter name: a spawned task is ready for its first poll. */
const WORDS = { running: ["running", "run"], ready: ["ready", "ready"], spawned: ["ready", "ready"], waiting: ["waiting", "wait"] };

/** Returns how many lanes were in each state within the view, on average; `data` is as `Stacks.window` returns it. */
const meanCounts = ({ t0, t1 }, section, data) => {
  const nStates = section.states.length;
  const per = (data.t1 - data.t0) / data.bins;
  const [first, last] = [Math.max(0, Math.floor((t0 - data.t0) / per)), Math.min(data.bins, Math.ceil((t1 - data.t0) / per))];
  const counts = new Float64Array(nStates);
  for (let bin = first; bin < last; bin++) {
    for (let s = 0; s < nStates; s++) counts[s] += data.shares[bin * nStates + s];
  }
  return counts.map((ns) => ns / (per * Math.max(1, last - first)));
};

/** Sums up by word, in the order in which states are stacked: `{long, short, n}`. */
const countsByWord = (section, counts) => {
  const byWord = new Map();
  for (const state of stackOrder(section)) {
    const { role, name } = section.states[state];
    const [long, short] = (section.kind === "tasks" && WORDS[role]) || [visible(name), visible(name)];
    const known = byWord.get(long) ?? { long, short, n: 0 };
    known.n += counts[state];
    byWord.set(long, known);
  }
  return [...byWord.values()];
};

/** Returns "0.4 running, 12 ready, 320 waiting", and shorter forms: with short words, the two largest, the largest alone. */
export const stateCounts = (view, section, data) => {
  const all = countsByWord(section, meanCounts(view, section, data));
  let parts = all.filter(({ n }) => n >= NEGLIGIBLE);
  if (parts.length === 0) parts = all.filter(({ n }) => n > 0);
  if (parts.length === 0) return ["none in view"];
  const few = (n) => (n < NEGLIGIBLE ? "<0.1" : null);
  const short = (of) => of.map(({ short, n }) => `${few(n) ?? shortCount(n)} ${short}`).join(" · ");
  const largest = [...parts].sort((a, b) => b.n - a.n);
  const words = parts.map(({ long, n }) => `${few(n) ?? countText(n)} ${long}`).join(", ");
  return [words, short(parts), short(parts.filter((part) => largest.indexOf(part) < 2)), short(largest.slice(0, 1))];
};
