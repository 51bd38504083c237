import { formatCount, formatNs, formatSetting } from "../format/numbers.js";
import { plural } from "../format/text.js";
import { shareOfBins } from "../model/histogram.js";
import { make } from "./dom.js";

// A histogram: bars on a logarithmic scale, with marks at the 50th, 90th and 99th percentile.

/** The most labels of the scale. */
const MOST_LABELS = 6;
/** The least height of a bar that isn't empty, in %. */
const LEAST_BAR = 3;

/**
 * @param {import("../model/histogram.js").Distribution} of
 * @param {{title: string, word: string, kind: string, note?: string|null, show?: (at: number) => void}} how `word`: the noun for a
 *   value; `kind`: selects the colour; `show`: goes to the item with the largest value of a bar
 * @returns {HTMLElement}
 */
export const histogram = (of, { title, word, kind, note = null, show = null }) => {
  const count = make("span", { class: "count" }, plural(of.n, word, formatCount(of.n)));
  const parts = [make("h2", {}, title, count)];
  if (of.n > 0) parts.push(bars(of, { title, word, kind, show }), scaleOf(of.bins), marksText(of));
  if (note !== null) parts.push(make("p", { class: "hint" }, note));
  return make("div", { class: "histogram", "data-of": kind, "data-n": of.n }, ...parts);
};

/** "p50 12.0 µs · p90 40.1 µs · p99 1.20 ms · longest 51.2 ms". */
const marksText = ({ p50, p90, p99, longest }) =>
  make("p", { class: "quantiles" }, ...[["p50", p50], ["p90", p90], ["p99", p99], ["longest", longest]].map(([name, ns]) =>
    make("span", { class: "key", "data-mark": name, "data-ns": ns }, make("span", { class: "time" }, name), " ", formatNs(ns))));

const bars = (of, { title, word, kind, show }) => {
  const most = Math.max(...of.bins.map(({ n }) => n));
  const said = `${title}: ${plural(of.n, word, formatCount(of.n))}; p50 ${formatNs(of.p50)}, p99 ${formatNs(of.p99)}, longest ${formatNs(of.longest)}`;
  const plot = make("div", { class: `bars of-${kind}`, role: "group", "aria-label": said },
    ...of.bins.map((bin) => bar(bin, most, word, show)), ...["p50", "p90", "p99"].map((name) => mark(of, name)));
  const reached = plot.querySelectorAll("button");
  if (reached.length > 0) reached[reached.length - 1].tabIndex = 0;
  plot.addEventListener("keydown", (event) => moveInBars(plot, event));
  return plot;
};

const bar = ({ from, to, n, at }, most, word, show) => {
  if (n === 0) return make("span", { class: "bar" });
  const text = `${plural(n, word, formatCount(n))} of ${formatNs(from)} ${Number.isFinite(to) ? `to ${formatNs(to)}` : "or more"}`;
  const fill = make("span");
  fill.style.height = `${Math.max(LEAST_BAR, (n / most) * 100)}%`;
  const isShown = show !== null && at >= 0;
  return isShown
    ? make("button", { type: "button", class: "bar", tabindex: -1, "data-n": n, "data-from": from, "aria-label": `${text}: show the longest`, title: `${text}\nClick to show the longest`, onclick: () => show(at) }, fill)
    : make("span", { class: "bar", "data-n": n, "data-from": from, title: text }, fill);
};

/** The labels of marks that are close to each other are at different heights. */
const mark = (of, name) => {
  const share = shareOfBins(of.bins, of[name]);
  const line = make("span", { class: `mark ${name}${share > 0.8 ? " left" : ""}`, "aria-hidden": "true" }, make("span", {}, name));
  line.style.left = `${share * 100}%`;
  return line;
};

/** Builds the scale: powers of ten of ns, or of a thousand if there are many. */
const scaleOf = (bins) => {
  const edges = bins.map(({ from }, k) => [from, k / bins.length]);
  if (Number.isFinite(bins.at(-1).to)) edges.push([bins.at(-1).to, 1]);
  const powers = edges.filter(([ns]) => /^10*$/.test(String(ns)));
  let labels = powers.length > MOST_LABELS ? powers.filter(([ns]) => String(ns).length % 3 === 1) : powers;
  if (labels.length < 2) labels = [edges[0], edges.at(-1)];
  return make("div", { class: "scale", "aria-hidden": "true" }, ...labels.map(([ns, share]) => {
    const label = make("span", { class: share < 0.08 ? "first" : share > 0.92 ? "last" : "" }, ns === 0 ? "0" : formatSetting(ns));
    label.style.left = `${share * 100}%`;
    return label;
  }));
};

/** Moves the focus from bar to bar with the arrow keys. */
const moveInBars = (plot, event) => {
  const all = [...plot.querySelectorAll("button")];
  const at = all.indexOf(document.activeElement);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  if (all[to] === undefined) return;
  for (const each of all) each.tabIndex = -1;
  all[to].tabIndex = 0;
  all[to].focus();
};
