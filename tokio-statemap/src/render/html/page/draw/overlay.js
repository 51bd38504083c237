import { formatNs } from "../format/numbers.js";
import { shorten } from "../format/text.js";
import { workerName } from "../model/names.js";
import { heldNs, isPoll } from "../model/polls.js";
import { shortName, sourceOf } from "../model/frames.js";
import { whyOf } from "../model/why.js";
import { wakerOf, wokenAt } from "../model/wakers.js";
import { workerOfPoll } from "../model/worker_polls.js";
import { BOLD_FONT, CANVAS_FONT, clipTo, fillBox, sizeCanvas } from "./canvas.js";
import { drawChartValues } from "./charts/draw.js";
import { describeSpan, momentText } from "./describe.js";
import { itemOfGroup } from "./layout.js";
import { drawStretch } from "./sums.js";

// The overlay of the lanes: the selection, what is under the pointer, what belongs to either, and the measured range. It is
// redrawn with every move of the pointer, so it must never cost more than a few hundred strokes.

/** Returns the row of a selection or of what is under the pointer, as `{section, row}`; null if it has none. */
const rowOfTarget = (view, target) => {
  if (target?.kind !== "row" && target?.kind !== "span") return null;
  const section = view.model.sections[target.section];
  return { section, row: target.kind === "row" ? target.row : section.rowOf(target.transition) };
};

export const drawOverlay = (view, canvas) => {
  // On paper, a cleared canvas would be white.
  if (view.isPrinted) canvas.width = 0;
  const context = sizeCanvas(canvas, view.width, view.height, view.ratio);
  if (!view.isPrinted) context.clearRect(0, 0, view.width, view.height);
  const chosen = rowOfTarget(view, view.selection);
  const hovered = rowOfTarget(view, view.hover);
  view.setChosenRows(chosen === null ? [] : [chosen, ...workerOfSelection(view, chosen)]);
  if (view.hover !== null) drawHover(view, context, hovered);
  if (view.selection !== null) drawSelection(view, context, chosen);
  if (view.range !== null) drawRange(view, context, view.range);
  if (view.hover?.x !== undefined) drawChartValues(view, context, view.hover.x);
};

/** Returns the worker that ran a poll; null for other spans, and if that isn't known. */
const workerOf = (section, transition) => (isPoll(section, transition) ? workerOfPoll(section, transition) : null);

const workerOfSelection = ({ selection }, { section }) => {
  const worker = selection.kind === "span" ? workerOf(section, selection.transition) : null;
  return worker === null ? [] : [worker];
};

/** Calls `draw`, and keeps what it draws off the pinned rows unless it is about one of them. */
const clipped = (view, context, fixed, draw) => {
  const top = fixed ? 0 : view.covered;
  clipTo(context, 0, top, view.width, view.height - top, draw);
};

const laneOf = (view, { section, row }) => view.placeOf(section, section.rowLane[row]);

/** Returns the parts of the screen in which detail is kept: from and to, in px. */
const keptOnScreen = (view) => {
  const found = [];
  let from = 0;
  for (const [gap, end] of view.model.meta.gaps) {
    if (gap >= view.t1) break;
    if (view.x(gap) > from) found.push([from, view.x(gap)]);
    from = Math.max(0, view.x(end));
  }
  if (from < view.width) found.push([from, view.width]);
  return found;
};

/** Highlights a whole lane except for one span, whose colour stays as it is. */
const lightLane = (view, context, place, from, to) => {
  if (place === null || !place.visible) return;
  const box = spanBox(view, place, from, to);
  const [left, right] = [Math.max(0, Math.min(box.left, view.width)), Math.max(0, Math.min(box.left + box.width, view.width))];
  clipped(view, context, place.fixed, () => {
    const light = (x0, x1) => { if (x1 > x0) fillBox(context, view.colours["row-light"], x0, place.top - 1, x1 - x0, place.h + 1); };
    for (const [from, to] of keptOnScreen(view)) {
      light(from, Math.min(to, left));
      light(Math.max(from, right), to);
    }
  });
};

/** Returns the place of the lane of the worker that ran a poll. */
const workerPlace = (view, section, transition) => {
  const worker = workerOf(section, transition);
  return worker === null ? null : laneOf(view, worker);
};

/** Returns when a poll stopped holding its worker: `block_in_place` hands the worker on before the poll ends. */
const heldUntil = (section, transition) =>
  (isPoll(section, transition) ? section.time[transition] + heldNs(section, transition) : section.endOf(transition));

/** Returns the box of a span on the screen, at least 3 px wide. */
const spanBox = (view, place, from, to) => {
  const x0 = view.x(from);
  const x1 = view.x(to);
  const width = Math.max(3, x1 - x0);
  const left = width > x1 - x0 ? (x0 + x1) / 2 - width / 2 : x0;
  return { left, width, top: place.top, h: Math.max(2, place.h - (place.h > 3 ? 1 : 0)) };
};

const outline = (view, context, place, from, to, colour, thickness) => {
  if (place === null || !place.visible) return;
  const box = spanBox(view, place, from, to);
  if (box.left > view.width || box.left + box.width < 0) return;
  clipped(view, context, place.fixed, () => {
    const by = thickness / 2;
    const [left, right] = [Math.max(box.left, -10), Math.min(box.left + box.width, view.width + 10)];
    context.lineWidth = thickness;
    context.strokeStyle = colour;
    context.strokeRect(left - by, box.top - by, right - left + thickness, box.h + thickness);
  });
};

const drawHover = (view, context, hovered) => {
  const { hover } = view;
  if (hover.x !== undefined) {
    context.globalAlpha = 0.18;
    fillBox(context, view.colours.ink, Math.round(hover.x), 0, 1, view.height);
    context.globalAlpha = 1;
  }
  if (hover.kind === "stretch") drawStretch(view, context, hover.stretch, view.colours.focus.css, 1.5);
  if (hovered === null) return;
  if (hover.kind !== "span") lightLane(view, context, laneOf(view, hovered), view.t1, view.t1);
  else drawSpan(view, context, hovered, hover.transition, view.colours.focus.css, 1.5);
};

/** Outlines a span in its own lane and in its worker's, and highlights both lanes. Returns the two places. */
const drawSpan = (view, context, { section, row }, transition, colour, thickness) => {
  const place = laneOf(view, { section, row }), onWorker = workerPlace(view, section, transition);
  const [from, to, until] = [section.time[transition], section.endOf(transition), heldUntil(section, transition)];
  lightLane(view, context, place, from, to);
  lightLane(view, context, onWorker, from, until);
  outline(view, context, onWorker, from, until, colour, thickness);
  outline(view, context, place, from, to, colour, thickness);
  return [place, onWorker];
};

const drawSelection = (view, context, chosen) => {
  const { selection } = view;
  if (selection.kind === "stretch") drawStretch(view, context, selection.stretch, view.colours.select.css, 2);
  if (selection.kind === "group") drawGroup(view, context, selection);
  if (chosen === null) return;
  const place = laneOf(view, chosen);
  const { section, row } = chosen;
  drawParent(view, context, section, row, place);
  if (selection.kind === "row") {
    outline(view, context, place, section.rowBegin(row), section.rowEnd(row), view.colours.select.css, 2);
    return;
  }
  const { transition } = selection;
  drawLink(view, context, section, transition, place);
  drawWake(view, context, section, transition, place);
  const places = drawSpan(view, context, chosen, transition, view.colours.select.css, 2);
  const pointed = places.find((each) => each !== null && each.visible);
  if (pointed !== undefined) drawCallout(view, context, section, transition, pointed, section.time[transition], section.endOf(transition));
};

/** Draws a frame around a group. */
const drawGroup = (view, context, { section, group }) => {
  const item = itemOfGroup(view.layout, view.model.sections[section], group);
  if (item === null) return;
  const isStuck = view.stuck?.item === item;
  const fixed = item.y < view.pinned || isStuck;
  const top = isStuck ? view.stuck.y - view.scroll : view.screenY(item.y);
  clipped(view, context, fixed, () => {
    context.lineWidth = 2;
    context.strokeStyle = view.colours.select.css;
    context.strokeRect(1, top + 1, view.width - 2, item.h - 2);
  });
};

/** Draws an arrow from the lane of the parent to this row, at the time of the spawn. */
const drawParent = (view, context, section, row, place) => {
  const parent = section.parent[row];
  if (parent >= 0) drawArrow(view, context, section.rowBegin(row), laneOf(view, { section, row: parent }), place);
};

/** Draws an arrow from the poll that woke this task, if it is known when that was. */
const drawWake = (view, context, section, transition, place) => {
  const waker = wakerOf(section, transition);
  const at = waker === null ? null : wokenAt(section, waker);
  if (at !== null) drawArrow(view, context, at, laneOf(view, { section, row: waker.row }), place);
};

/** Draws an arrow from one lane to another at a time. */
const drawArrow = (view, context, at, from, place) => {
  if (place === null) return;
  const x = Math.round(view.x(at)) + 0.5;
  if (from === null || x < 0 || x > view.width || (!from.visible && !place.visible)) return;
  const down = from.top < place.top;
  const y0 = down ? from.top + from.h : from.top;
  const y1 = down ? place.top - 1 : place.top + place.h + 1;
  if (Math.abs(y1 - y0) < 3) return;
  clipped(view, context, false, () => {
    context.strokeStyle = context.fillStyle = view.colours.focus.css;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, y0);
    context.lineTo(x, y1);
    context.stroke();
    const tip = down ? -6 : 6;
    context.beginPath();
    context.moveTo(x, y1);
    context.lineTo(x - 4, y1 + tip);
    context.lineTo(x + 4, y1 + tip);
    context.fill();
    context.beginPath();
    context.arc(x, y0, 2.5, 0, 7);
    context.fill();
  });
};

/** Draws a dashed line from the selected poll to the lane of the worker that ran it. */
const drawLink = (view, context, section, transition, place) => {
  const lane = workerPlace(view, section, transition);
  if (place === null || lane === null || (!lane.visible && !place.visible)) return;
  const [from, to] = [Math.max(section.time[transition], view.t0), Math.min(heldUntil(section, transition), view.t1)];
  if (to <= from) return;
  const x = Math.round(view.x((from + to) / 2)) + 0.5;
  context.save();
  context.strokeStyle = view.colours.running.css;
  context.globalAlpha = 0.8;
  context.lineWidth = 1.5;
  context.setLineDash([3, 3]);
  context.beginPath();
  // A lane that is scrolled out of view is linked from the edge.
  context.moveTo(x, Math.min(Math.max(lane.top + lane.h, 0), view.height));
  context.lineTo(x, Math.min(Math.max(place.top, view.covered), view.height));
  context.stroke();
  context.restore();
};

/** Draws the label of the selected span beside it. */
const drawCallout = (view, context, section, transition, place, from, to) => {
  const box = spanBox(view, place, from, to);
  if (box.left > view.width || box.left + box.width < 0) return;
  const span = describeSpan(view, section, transition);
  // The blamed function, or where the task waits, says more than the spawn location.
  const frame = whyOf(section, transition)?.frame;
  const what = frame ? [shortName(frame.name), sourceOf(frame)].filter(Boolean).join(", ") : (span.waitsAt ?? span.place);
  const strong = `${span.state === "running" ? "" : `${span.state} `}${span.length}${what ? ` · ${shorten(what, view.width < 500 ? 34 : 70)}` : ""}`;
  const on = span.worker === null ? (span.offWorkers ? ", not on a worker" : "") : ` on ${shorten(workerName(view.model, section, span.worker), 40)}`;
  const quiet = `${shorten(span.name, 40)}${on}, at ${momentText(view, span.start)}`;
  context.font = BOLD_FONT;
  const strongWidth = context.measureText(strong).width;
  context.font = CANVAS_FONT;
  const width = Math.min(view.width - 8, Math.max(strongWidth, context.measureText(quiet).width) + 18);
  const height = 40;
  const middle = Math.min(Math.max((Math.max(box.left, 0) + Math.min(box.left + box.width, view.width)) / 2, 6), view.width - 6);
  const below = place.top + place.h + 12 + height < view.height;
  const top = Math.round(below ? place.top + place.h + 12 : Math.max(2, place.top - 12 - height));
  const left = Math.round(Math.min(Math.max(middle - 24, 4), view.width - width - 4));
  context.save();
  context.shadowColor = "rgba(0, 0, 0, 0.3)";
  context.shadowBlur = 10;
  context.shadowOffsetY = 2;
  context.fillStyle = view.colours.ink.css;
  context.beginPath();
  context.roundRect(left, top, width, height, 5);
  const [tip, foot] = below ? [place.top + place.h + 3, top + 1] : [place.top - 3, top + height - 1];
  context.moveTo(middle, tip);
  const base = Math.min(Math.max(middle, left + 12), left + width - 12);
  context.lineTo(base + (below ? 7 : -7), foot);
  context.lineTo(base - (below ? 7 : -7), foot);
  context.closePath();
  context.fill();
  context.shadowColor = "transparent";
  context.fillStyle = view.colours.paper.css;
  context.textBaseline = "middle";
  context.font = BOLD_FONT;
  context.fillText(strong, left + 9, top + 13, width - 18);
  context.font = CANVAS_FONT;
  context.globalAlpha = 0.8;
  context.fillText(quiet, left + 9, top + 29, width - 18);
  context.restore();
};

const drawRange = (view, context, { t0, t1 }) => {
  const [x0, x1] = [view.x(t0), view.x(t1)];
  context.globalAlpha = 0.1;
  fillBox(context, view.colours.focus, x0, 0, x1 - x0, view.height);
  context.globalAlpha = 1;
  for (const x of [x0, x1]) context.fillRect(Math.round(x), 0, 1, view.height);
  const label = formatNs(t1 - t0);
  context.font = BOLD_FONT;
  const width = context.measureText(label).width + 12;
  const left = Math.min(Math.max((Math.max(x0, 0) + Math.min(x1, view.width)) / 2 - width / 2, 2), view.width - width - 2);
  context.beginPath();
  context.roundRect(left, 4, width, 20, 4);
  context.fill();
  context.fillStyle = view.colours.paper.css;
  context.textBaseline = "middle";
  context.fillText(label, left + 6, 14.5);
};
