import { formatCount, formatNs } from "../format/numbers.js";
import { plural, visible } from "../format/text.js";
import { make } from "./dom.js";

// The details of an open issue: the report's sentences, what the issue means, what usually helps, and how long its polls or
// waits took.

/** Builds the details of an issue. */
export const issueParts = ({ details, meaning, advice, lengths, noun }) => [
  ...(details === "" ? [] : [make("p", { class: "issue-text" }, visible(details))]),
  make("p", { class: "hint" }, `${meaning} `, make("b", {}, "What usually helps: "), advice),
  // A single one has no distribution.
  ...(lengths === null || lengths.steps.reduce((sum, [, n]) => sum + n, 0) < 2 ? [] : smallHistogram(lengths, noun)),
];

/** Shows how many there are of each size, as bars. */
const smallHistogram = ({ p50, p99, steps }, noun) => {
  const most = Math.max(...steps.map(([, n]) => n), 1);
  const label = `${steps.filter(([, n]) => n > 0).map(([bound, n]) => `${formatCount(n)} up to ${formatNs(bound)}`).join(", ")}`;
  const bars = steps.map(([bound, n]) => {
    const bar = make("span", { title: `${plural(n, noun, formatCount(n))} up to ${formatNs(bound)}` });
    bar.style.height = n === 0 ? "1px" : `${Math.max(8, (n / most) * 100).toFixed(1)}%`;
    return bar;
  });
  const [first] = steps[0], [last] = steps[steps.length - 1];
  return [
    make("div", { class: "steps", role: "img", "aria-label": `How long they took: ${label}` }, ...bars),
    make("p", { class: "hint steps-hint" },
      make("span", {}, `≤ ${formatNs(first)}`), make("span", {}, `p50 ${formatNs(p50)} · p99 ${formatNs(p99)}`), make("span", {}, `≤ ${formatNs(last)}`)),
  ];
};
