import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { plural, shorten, visible } from "../format/text.js";
import { shortName, sourceOf } from "../model/frames.js";
import { countRows, groupText, workerName } from "../model/names.js";
import { takenNs, whyOf } from "../model/why.js";
import { isDropped, stretchInfo } from "../model/sums.js";
import { countText } from "../draw/charts/scale.js";
import { describeSpan, momentText, spanText } from "../draw/describe.js";
import { stackOrder } from "../draw/stack.js";
import { longestText, shareText } from "../draw/sums.js";
import { byId, make, swatchOf } from "./dom.js";

// The tooltip: describes what is under the pointer, beside it.

const tooltipLine = (colour, ...text) => make("div", { class: "line" }, swatchOf(colour), ...text);

const quiet = (...text) => make("div", { class: "quiet" }, ...text);

/** Describes a span: its row, its state, since when and for how long, and the spawn location. */
const spanLines = (view, section, transition, onWorkerLane = false) => {
  const span = describeSpan(view, section, transition);
  const colour = view.colours.sections[section.index][section.state[transition]];
  const lines = [
    make("div", { class: "head" }, shorten(span.name, 120)),
    tooltipLine(colour, `${span.state} for ${span.length}`),
  ];
  if (span.waitsAt !== null) lines.push(make("div", {}, shorten(span.waitsAt, 160)));
  if (span.place !== null) lines.push(make("div", { class: span.waitsAt === null ? null : "quiet" }, shorten(span.place, 160)));
  if (span.worker !== null && !onWorkerLane) lines.push(quiet(`on ${workerName(view.model, section, span.worker)}`));
  if (span.offWorkers) lines.push(quiet("on a thread that isn't a worker"));
  const tag = section.tag ? section.tag[transition] : 0;
  if (tag > 0 && section.kind !== "tasks") lines.push(quiet(`tag ${shorten(visible(section.tags[tag - 1].tag), 100)}`));
  lines.push(quiet(`since ${momentText(view, span.start)}`), ...whyLines(section, transition));
  return lines;
};

/** Names what a poll is blamed on, and explains the hatching in it. */
const whyLines = (section, transition) => {
  const poll = whyOf(section, transition);
  if (poll === null) return [];
  const taken = takenNs(poll);
  return [
    poll.frame === null ? null : make("div", {}, make("b", {}, shorten(shortName(poll.frame.name), 60)), ` ${shorten(visible(poll.blockingCause), 100)}`),
    poll.frame === null ? null : quiet(shorten(sourceOf(poll.frame), 100)),
    taken === 0 ? null : quiet(`The machine took the processor for ${formatNs(taken)} of it: hatched at the end, as only the amount is known, not when.`),
  ].filter(Boolean);
};

/** Lists the states of a pixel; `shares` is ns by state of `section`. */
const shareLines = (view, section, shares) => {
  const colours = view.colours.sections[section.index];
  const all = shares.reduce((sum, ns, state) => (colours[state].blank ? sum : sum + ns), 0);
  return [...shares.keys()]
    .filter((state) => shares[state] > 0 && !colours[state].blank)
    .sort((a, b) => shares[b] - shares[a])
    .slice(0, 6)
    .map((state) => tooltipLine(colours[state], visible(section.states[state].name), make("span", { class: "quiet" }, formatShare(shares[state] / all))));
};

/** Lists how many lanes of a folded group were in each state. */
const countLines = (view, { section, shares, ns }) => {
  const colours = view.colours.sections[section.index];
  return stackOrder(section).filter((state) => shares[state] > 0)
    .map((state) => tooltipLine(colours[state], `${countText(shares[state] / ns)} ${visible(section.states[state].name)}`));
};

/** Describes a stretch of the run's sums. */
const stretchLines = (view, index) => {
  const info = stretchInfo(view.model, index);
  const longest = longestText(info.longest, info.place);
  return [
    make("div", { class: "head" }, info.share === null ? "Recording was stopped" : `In polls: ${shareText(view, info.share)}`),
    make("div", {}, `${plural(info.polls, "poll", formatCount(info.polls))} began${longest === null ? "" : `, the longest ${longest}`}`),
    make("div", {}, `${plural(info.alive, "task", formatCount(info.alive))} alive at the end`),
    quiet(spanText(info.from, info.to)),
    quiet(isDropped(view.model, (info.from + info.to) / 2) ? "No detail is kept of this time, only these sums." : "This time is kept in detail."),
  ];
};

/** Returns the content of the tooltip for what `hitAt` found. */
const tooltipContent = (view, hit) => {
  // Its value is drawn beside the pointer already.
  if (hit.kind === "chart") return [];
  if (hit.kind === "stretch") return stretchLines(view, hit.stretch);
  if (hit.kind === "stack") {
    return [
      make("div", { class: "head" }, shorten(groupText(hit.group), 160)),
      quiet(`${countRows(hit.section, hit.group.rows)}, folded · around ${momentText(view, hit.t)}`),
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
    lines.push(quiet(`This pixel (${formatNs((view.t1 - view.t0) / view.width)}) has several states:`), ...shareLines(view, hit.section, hit.shares));
  }
  return lines;
};

/** Shows the tooltip for `hit` beside the pointer; hides it if there is nothing to show. */
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

/** Hides the tooltip. */
export const hideTooltip = () => {
  byId("tooltip").hidden = true;
};
