import { formatCount, formatNs } from "../format/numbers.js";
import { plural, shorten, titleText, visible } from "../format/text.js";
import { buildFlame } from "../model/flame.js";
import { heldNs, isPoll } from "../model/polls.js";
import { excerptOfFrame } from "../model/excerpts.js";
import { sourceOf } from "../model/frames.js";
import { whyOf } from "../model/why.js";
import { causeBar } from "./cause_bar.js";
import { make } from "./dom.js";
import { excerptPart } from "./excerpt.js";
import { flameGraph } from "./flame.js";

// Why a poll took long: what became of its time, whom to blame, and what was seen in it.

/** The parts of the panel for the poll that a transition begins; none if it isn't long. */
export const whyParts = (view, section, transition) => {
  if (section.why === null || !isPoll(section, transition)) return [];
  const poll = whyOf(section, transition);
  if (poll === null && heldNs(section, transition) <= view.model.meta.long) return [];
  const cause = poll?.cause ?? null;
  return [
    make("h2", {}, "What took its time"),
    ...(cause === null ? [make("p", { class: "hint cause-unknown" }, "What took its time isn't known.")] : causeBar(cause)),
    ...blame(view.model, section, poll),
    ...samplesOf(section, poll),
  ];
};

const blame = (model, section, poll) => {
  // That others of its spawn location did something says nothing of it.
  if (poll === null || poll.frame === null) return [make("p", { class: "hint no-function" }, "No function was seen in it: what it did isn't known.")];
  return [blamed(poll.frame, poll.act), excerptPart(excerptOfFrame(model, section, poll.frame), "the function to blame")];
};

const blamed = (frame, act) => {
  const source = sourceOf(frame);
  return make("p", { class: "blamed", title: titleText(`${frame.name} ${source}`) },
    make("b", {}, shorten(frame.name, 120)), source && ` at ${shorten(source, 120)}`,
    act && make("span", { class: "act" }, shorten(visible(act), 160)));
};

const samplesOf = (section, poll) => {
  if (poll === null || poll.samples.length === 0) return [];
  const root = buildFlame([{ why: section.why, polls: [poll] }]);
  return [
    make("h2", {}, "What was seen in it", make("span", { class: "count" }, `${plural(root.samples, "sample", formatCount(root.samples))}, ${formatNs(root.ns)}`)),
    flameGraph(root),
  ];
};
