import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { plural, shorten, visible } from "../format/text.js";
import { shortName, sourceOf } from "../model/frames.js";
import { countRows, groupLabel, workerName } from "../model/names.js";
import { takenNs, whyOf } from "../model/why.js";
import { isDropped, stretchInfo } from "../model/sums.js";
import { countText } from "../draw/charts/scale.js";
import { describeSpan, momentText, spanText } from "../draw/describe.js";
import { stackOrder } from "../draw/stack.js";
import { longestText, shareText } from "../draw/sums.js";
import { byId, make } from "./dom.js";

// What is under the pointer, in a small box beside it.

const tooltipLine = (colour, ...text) => {
  const swatch = colour === null ? null : make("span", { class: `swatch${colour.blank ? " blank" : ""}` });
  if (colour !== null && !colour.blank) swatch.style.background = colour.css;
  return make("div", { class: "line" }, swatch, ...text);
};

/** The lines on a span: who, in which state, since when and for how long, where it comes from. */
const spanLines = (view, section, transition, onWorkerLane = false) => {
  const span = describeSpan(view, section, transition);
  const colour = view.colours.sections[section.index][section.state[transition]];
  const lines = [
    make("div", { class: "head" }, shorten(span.name, 120)),
    tooltipLine(colour, `${span.state} for ${span.length}`),
  ];
  if (span.waitsAt !== null) lines.push(make("div", {}, shorten(span.waitsAt, 160)));
  if (span.place !== null) lines.push(make("div", { class: span.waitsAt === null ? null : "quiet" }, shorten(span.place, 160)));
  if (span.worker !== null && !onWorkerLane) lines.push(make("div", { class: "quiet" }, `on ${workerName(view.model, section, span.worker)}`));
  if (span.offWorkers) lines.push(make("div", { class: "quiet" }, "on a thread that is no worker"));
  const tag = section.tag ? section.tag[transition] : 0;
  if (tag > 0 && section.kind !== "tasks") lines.push(make("div", { class: "quiet" }, `tag ${shorten(visible(section.tags[tag - 1].tag), 100)}`));
  lines.push(make("div", { class: "quiet" }, `since ${momentText(view, span.start)}`), ...whyLines(section, transition));
  return lines;
};

/** Whom a poll is blamed on, and what the hatching in it means. */
const whyLines = (section, transition) => {
  const poll = whyOf(section, transition);
  if (poll === null) return [];
  const taken = takenNs(poll);
  return [
    poll.frame === null ? null : make("div", {}, make("b", {}, shorten(shortName(poll.frame.name), 60)), ` ${shorten(visible(poll.act), 100)}`),
    poll.frame === null ? null : make("div", { class: "quiet" }, shorten(sourceOf(poll.frame), 100)),
    taken === 0 ? null : make("div", { class: "quiet" }, `The machine took the processor for ${formatNs(taken)} of it: hatched at its end, as it isn't known when, only how much.`),
  ].filter(Boolean);
};

/** The shares of a pixel or a stack's bin: `shares` in ns by state of `section`. */
const shareLines = (view, section, shares) => {
  const colours = view.colours.sections[section.index];
  const all = shares.reduce((sum, ns, state) => (colours[state].blank ? sum : sum + ns), 0);
  return [...shares.keys()]
    .filter((state) => shares[state] > 0 && !colours[state].blank)
    .sort((a, b) => shares[b] - shares[a])
    .slice(0, 6)
    .map((state) => tooltipLine(colours[state], visible(section.states[state].name), make("span", { class: "quiet" }, formatShare(shares[state] / all))));
};

/** How many lanes of a folded group were in which state. */
const countLines = (view, { section, shares, ns }) => {
  const colours = view.colours.sections[section.index];
  return stackOrder(section).filter((state) => shares[state] > 0)
    .map((state) => tooltipLine(colours[state], `${countText(shares[state] / ns)} ${visible(section.states[state].name)}`));
};

/** The lines on a stretch of the run's sums. */
const stretchLines = (view, index) => {
  const info = stretchInfo(view.model, index);
  const longest = longestText(info.longest, info.place);
  const quiet = (text) => make("div", { class: "quiet" }, text);
  return [
    make("div", { class: "head" }, info.share === null ? "Recording was stopped" : `In polls: ${shareText(view, info.share)}`),
    make("div", {}, `${plural(info.polls, "poll", formatCount(info.polls))} began${longest === null ? "" : `, the longest ${longest}`}`),
    make("div", {}, `${plural(info.alive, "task", formatCount(info.alive))} alive at the end`),
    quiet(spanText(info.from, info.to)),
    quiet(isDropped(view.model, (info.from + info.to) / 2) ? "No detail is kept of it, only these sums." : "It is kept in detail."),
  ];
};

/** The content of the tooltip for what `Hits.at` found. */
const tooltipContent = (view, hit) => {
  // What it shows stands beside the pointer already.
  if (hit.kind === "chart") return [];
  if (hit.kind === "stretch") return stretchLines(view, hit.stretch);
  if (hit.kind === "stack") {
    return [
      make("div", { class: "head" }, shorten(groupLabel(hit.group), 160)),
      make("div", { class: "quiet" }, `${countRows(hit.section, hit.group.rows)}, folded · around ${momentText(view, hit.t)}`),
      ...countLines(view, hit),
    ];
  }
  const lines = [];
  if (hit.poll) {
    const isWorker = hit.section.kind === "workers";
    lines.push(...spanLines(view, hit.poll.section, hit.poll.transition, isWorker));
    if (isWorker) lines[0].textContent += ` on ${shorten(visible(hit.section.name(hit.row)), 60)}`;
  } else if (hit.transition >= 0) {
    lines.push(...spanLines(view, hit.section, hit.transition));
  }
  if (hit.shares) {
    lines.push(make("div", { class: "quiet" }, `This pixel (${formatNs((view.t1 - view.t0) / view.width)}) holds several states:`));
    lines.push(...shareLines(view, hit.section, hit.shares));
  }
  return lines;
};

/** Shows the tooltip for `hit` beside the pointer; hides it if there is nothing to say. */
export const showTooltip = (view, hit, clientX, clientY) => {
  const box = byId("tooltip");
  const lines = hit === null ? [] : tooltipContent(view, hit);
  if (lines.length === 0) {
    box.hidden = true;
    return;
  }
  box.replaceChildren(...lines);
  box.hidden = false;
  const [width, height] = [box.offsetWidth, box.offsetHeight];
  const left = clientX + 14 + width > innerWidth - 8 ? clientX - 14 - width : clientX + 14;
  const top = clientY + 18 + height > innerHeight - 8 ? clientY - 12 - height : clientY + 18;
  box.style.left = `${Math.max(8, left)}px`;
  box.style.top = `${Math.max(8, top)}px`;
};

/** Takes the tooltip away. */
export const hideTooltip = () => {
  byId("tooltip").hidden = true;
};
