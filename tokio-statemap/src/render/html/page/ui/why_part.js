import { formatCount, formatNs } from "../format/numbers.js";
import { plural, shorten, titleText, visible } from "../format/text.js";
import { buildFlame } from "../model/flame.js";
import { heldNs, isPoll } from "../model/polls.js";
import { excerptOfFrame } from "../model/excerpts.js";
import { whyOf } from "../model/why.js";
import { causeBar } from "./cause_bar.js";
import { make } from "./dom.js";
import { excerptPart } from "./excerpt.js";
import { sourceLink } from "./source_link.js";
import { flameGraph } from "./flame.js";

// Explains why a poll took long: what its time was spent on, what is blamed, and what the samples show.

/** Builds the part of the panel for the poll that a transition begins; empty if it isn't long. */
export const whyParts = (view, section, transition) => {
  if (section.why === null || !isPoll(section, transition)) return [];
  const poll = whyOf(section, transition);
  if (poll === null && heldNs(section, transition) <= view.model.meta.long) return [];
  const cause = poll?.cause ?? null;
  return [
    make("h2", {}, "Where its time went"),
    ...(cause === null ? [make("p", { class: "hint cause-unknown" }, "Unknown.")] : causeBar(cause)),
    ...blame(view.model, section, poll),
    ...samplesOf(section, poll),
  ];
};

const blame = (model, section, poll) => {
  // Other polls of its spawn location say nothing about this one.
  if (poll === null || poll.frame === null) return [make("p", { class: "hint no-function" }, "No stack was sampled, so what it did is unknown.")];
  return [blamed(poll.frame, poll.blockingCause), excerptPart(excerptOfFrame(model, section, poll.frame), "the blamed function")];
};

const blamed = (frame, blockingCause) => {
  const source = sourceLink(frame);
  return make("p", { class: "blamed" },
    make("b", { title: titleText(frame.name) }, shorten(frame.name, 120)), source && " at ", source,
    blockingCause && make("span", { class: "act" }, shorten(visible(blockingCause), 160)));
};

const samplesOf = (section, poll) => {
  if (poll === null || poll.samples.length === 0) return [];
  const root = buildFlame([{ why: section.why, polls: [poll] }]);
  return [
    make("h2", {}, "Samples", make("span", { class: "count" }, `${plural(root.samples, "sample", formatCount(root.samples))}, ${formatNs(root.ns)}`)),
    flameGraph(root),
  ];
};
