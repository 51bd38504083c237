import { formatNs } from "../../format/numbers.js";
import { CANVAS_FONT, fillBox, firstThatFits } from "../canvas.js";
import { partKey } from "./charts.js";
import { BIN_KEPT, BIN_SUMMED, BIN_UNKNOWN } from "./series.js";

// A chart between the lanes: an area over time. Where only sums are kept it shows these, on the background that sums have
// everywhere. Times of which nothing is known are hatched.

/** The free space above and below the area, in px. */
const ABOVE = 4, BELOW = 2;
/** The charts that can be drawn from sums, too. */
const IN_SUMS = new Set(["occupancy", "longest", "alive"]);

const roleColour = (view, kind, role) => {
  const section = view.model.sections.find((of) => of.kind === kind && of.states.some((state) => state.role === role));
  return section === undefined ? view.colours.faint : view.colours.sections[section.index][section.states.findIndex((state) => state.role === role)];
};

const coloursOf = (view, kind) => {
  switch (kind) {
    case "ready": return { area: roleColour(view, "tasks", "ready") };
    // Sums are drawn as the bars over the lanes are, so that they look like nothing else.
    case "occupancy": return { area: view.colours.running, summed: view.colours["summed-bar"] };
    case "longest": return { area: view.colours.faint, over: view.colours.accent };
    case "blocking": return { area: roleColour(view, "blocking", "blocking"), front: roleColour(view, "tasks", "ready") };
    default: return { area: view.colours.faint };
  }
};

/** Calls `each(from, to, what)` for each run of bins with the same `known`. */
const eachRun = (known, each) => {
  for (let from = 0; from < known.length;) {
    let to = from + 1;
    while (to < known.length && known[to] === known[from]) to++;
    each(from, to, known[from]);
    from = to;
  }
};

/** Draws a chart into its item; `hatching` fills times of which nothing is known. */
export const drawChart = (view, context, item, top, hatching) => {
  const chart = view.chartData.of(item.chart);
  const { kind, run } = partKey(view.model, item.chart);
  const place = placeOfChart(view, item, top);
  fillBox(context, view.colours.paper, 0, top, view.width, item.h);
  fillBox(context, view.colours.line, 0, top, view.width, 1);
  const x = (bin) => (bin / chart.bins) * view.width;
  eachRun(chart.known, (from, to, what) => {
    if (what === BIN_KEPT) return;
    context.fillStyle = what === BIN_SUMMED ? view.colours.summed.css : hatching;
    context.fillRect(x(from), top + 1, x(to) - x(from), item.h - 1);
  });
  fillBox(context, view.colours.line, 0, Math.round(place.y(0.5)), view.width, 1);
  if (chart.values === null) {
    drawNote(view, context, "Counting …", 8, place, view.colours.paper);
    return;
  }
  const colours = coloursOf(view, kind), threshold = view.thresholdOf({ run });
  const isDrawn = (bin) => chart.known[bin] === BIN_KEPT || (chart.known[bin] === BIN_SUMMED && IN_SUMS.has(kind));
  if (colours.summed) {
    drawArea(context, chart, chart.values, (bin) => chart.known[bin] === BIN_KEPT, x, place, colours.area.css);
    drawArea(context, chart, chart.values, (bin) => chart.known[bin] === BIN_SUMMED, x, place, colours.summed.css);
  } else drawArea(context, chart, chart.values, isDrawn, x, place, colours.area.css);
  if (colours.over) drawArea(context, chart, chart.values, (bin) => isDrawn(bin) && chart.values[bin] > threshold, x, place, colours.over.css);
  if (chart.front !== null) drawArea(context, chart, chart.front, isDrawn, x, place, colours.front.css);
  if (kind === "longest") drawThreshold(view, context, chart, place, threshold);
  drawSumsNote(view, context, kind, chart, x, place);
};

/** Returns the place of a chart's area; `y(share)` is in px of the screen. */
const placeOfChart = (view, item, top) => {
  const from = top + ABOVE, to = top + item.h - BELOW;
  return { from, to, y: (share) => to - share * (to - from) };
};

const drawArea = (context, { bins, scale }, values, isDrawn, x, place, css) => {
  context.fillStyle = css;
  context.beginPath();
  for (let bin = 0; bin < bins; bin++) {
    const value = values[bin];
    if (!(value > 0) || !isDrawn(bin)) continue;
    let end = bin + 1;
    while (end < bins && values[end] === value && isDrawn(end)) end++;
    // Any value above 0 is visible.
    const height = Math.max(1, scale.share(value) * (place.to - place.from));
    context.rect(x(bin), place.to - height, x(end) - x(bin), height);
    bin = end - 1;
  }
  context.fill();
};

/** Draws a dashed line at the length from which a poll counts as long. */
const drawThreshold = (view, context, { scale }, place, threshold) => {
  if (threshold <= scale.bottom || threshold >= scale.top) return;
  const y = Math.round(place.y(scale.share(threshold))) + 0.5;
  context.strokeStyle = view.colours.quiet.css;
  context.lineWidth = 1;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(view.width, y);
  context.stroke();
  context.setLineDash([]);
};

const drawNote = (view, context, text, left, place, ground) => {
  context.font = CANVAS_FONT;
  context.textBaseline = "top";
  context.globalAlpha = 0.8;
  fillBox(context, ground, left - 3, place.from - 1, context.measureText(text).width + 6, 14);
  context.globalAlpha = 1;
  context.fillStyle = view.colours.quiet.css;
  context.fillText(text, left, place.from);
  context.textBaseline = "middle";
};

/** Writes once, where there is most room, that only sums are kept of that time. */
const drawSumsNote = (view, context, kind, chart, x, place) => {
  if (!view.model.meta.sums) return;
  let widest = null;
  eachRun(chart.known, (from, to, what) => {
    if (what === BIN_SUMMED && (widest === null || to - from > widest[1] - widest[0])) widest = [from, to];
  });
  if (widest === null) return;
  const stretch = formatNs(view.model.meta.sums.stretch);
  const words = IN_SUMS.has(kind) ? [`sums: one value for each ${stretch}`, `sums of ${stretch}`, "sums"] : ["not in the sums of the run", "not in sums"];
  context.font = CANVAS_FONT;
  const text = firstThatFits(context, words, x(widest[1]) - x(widest[0]) - 12);
  if (text !== undefined) drawNote(view, context, text, x(widest[0]) + 6, place, view.colours.summed);
};

/** Returns the value of a chart at a position of the plot, in words. */
export const chartText = (view, key, x) => {
  const chart = view.chartData.of(key);
  const { kind } = partKey(view.model, key);
  if (chart.values === null) return "…";
  const bin = view.chartData.binAt(chart, x);
  const known = chart.known[bin];
  if (known === BIN_UNKNOWN) return "not recorded";
  if (known === BIN_SUMMED && !IN_SUMS.has(kind)) return "not in sums";
  const value = chart.values[bin];
  if (Number.isNaN(value)) return "not recorded";
  const front = chart.front === null || known !== BIN_KEPT ? "" : `, ${chart.scale.text(chart.front[bin])} waiting`;
  const text = kind === "longest" && value === 0 ? "no poll" : chart.scale.text(value);
  return `${text}${front}${known === BIN_SUMMED ? " (sums)" : ""}`;
};

/** Draws the charts' values beside the pointer, on the overlay: they change with every move. */
export const drawChartValues = (view, context, x) => {
  view.eachItem((item, top, clipTop) => {
    if (item.kind !== "chart" || item.isHidden || top + ABOVE < clipTop) return;
    const text = chartText(view, item.chart, x);
    context.font = CANVAS_FONT.replace("11px", "600 11px");
    context.textBaseline = "middle";
    const width = context.measureText(text).width + 10;
    const left = x + 6 + width > view.width ? x - 6 - width : x + 6;
    const middle = top + ABOVE + 9;
    context.globalAlpha = 0.85;
    fillBox(context, view.colours.ink, left, middle - 8, width, 16);
    context.globalAlpha = 1;
    context.fillStyle = view.colours.paper.css;
    context.fillText(text, left + 5, middle + 0.5);
  });
};
