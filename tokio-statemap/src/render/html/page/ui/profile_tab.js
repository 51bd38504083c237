import { formatCount, formatNs, formatSetting } from "../format/numbers.js";
import { plural } from "../format/text.js";
import { buildFlame } from "../model/flame.js";
import { byId, make } from "./dom.js";
import { flameGraph } from "./flame.js";
import { CallsTable } from "./calls_table.js";

// The profile tab: async functions, and what long polls did.

/** Fills the tab when it is first shown. */
export const prepareProfile = (view) => {
  let samples = null;
  const draw = () => {
    samples ??= ofSamples(view.model);
    byId("pane-profile").replaceChildren(...functions.draw(), ...samples);
  };
  const functions = new CallsTable(view.model, draw);
  view.on("tab", () => { if (samples === null && view.tab === "profile") draw(); });
};

/** Builds one flame graph of all samples. */
const ofSamples = (model) => {
  const parts = model.sections.filter((section) => section.why !== null).map(({ why }) => ({ why, polls: [...why.polls.values()] }));
  const root = buildFlame(parts);
  if (root.samples === 0) return [make("p", { class: "hint" }, "This data has no stacks of long polls, so it has no profile.")];
  const polls = parts.reduce((sum, part) => sum + part.polls.filter(({ samples }) => samples.length > 0).length, 0);
  return [
    make("h2", {}, "Long polls"),
    make("p", { class: "selection-title" }, formatNs(root.ns)),
    make("p", { class: "selection-sub" }, `${plural(root.samples, "sample", formatCount(root.samples))} of ${plural(polls, "poll", formatCount(polls))}`),
    make("p", { class: "hint" }, `Only polls longer than ${formatSetting(model.meta.long)} are sampled. A sample stands for the time since the one before it in the same poll.`),
    flameGraph(root),
  ];
};
