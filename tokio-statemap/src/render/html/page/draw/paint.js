import { formatNs } from "../format/numbers.js";
import { visible } from "../format/text.js";
import { shortName } from "../model/frames.js";
import { findTransition } from "../model/lanes.js";
import { groupLabel } from "../model/names.js";
import { heldNs, isPoll, nextLong } from "../model/polls.js";
import { isUnblamed, whyOf } from "../model/why.js";
import { CANVAS_FONT, clipTo, fillBox } from "./canvas.js";
import { drawChart } from "./charts/draw.js";
import { coarseColumns } from "./coarse.js";
import { inkOn } from "./colours.js";
import { laneColumns } from "./columns.js";
import { fitText } from "./fit.js";
import { LaneMarks } from "./marks.js";
import { drawSlight, PixelRow } from "./pixels.js";
import { drawStack } from "./stack.js";
import { drawDropped } from "./sums.js";
import { drawTaken } from "./taken.js";
import { tearEdges } from "./torn.js";
import { areUnblamed } from "./unblamed.js";
import { heldColumns, lastPollBefore } from "./worker_lane.js";

// Paints the lanes: one row of pixels is computed for each lane and copied to its height, into an image that is drawn in
// one piece. Text, hatching and folded groups are drawn over it.

/** The least height in px of a lane in which thin states are drawn thin, and of one with text. */
const THIN_FROM = 8;
const TEXT_FROM = 14;
/** The least width of a span with text, in px. */
const TEXT_WIDTH = 44;
/** The most spans of a lane that are looked at for text. */
const MOST_TEXT = 400;

export class LanePainter {
  constructor(view, stacks, canvas) {
    this.view = view;
    this.stacks = stacks;
    this.canvas = canvas;
    this.row = new PixelRow();
    this.marks = new LaneMarks();
    this.held = new Float64Array(0);
    this.image = null;
    this.pixels = null;
    this.hatch = null;
  }

  /** Paints the screen. `ticks` are those of the axis. */
  paint(ticks) {
    const { view, canvas } = this;
    const [width, height] = [Math.max(1, Math.round(view.width * view.ratio)), Math.max(1, Math.round(view.height * view.ratio))];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      this.image = null;
    }
    const context = canvas.getContext("2d");
    if (this.image === null) {
      this.image = context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(view.colours.paper.pixel);
    // The fixed parts come last, because they cover the scrolled ones.
    view.eachItem((item, top, clipTop) => {
      if (item.kind === "lanes") this.paintLanes(item, top, clipTop, width, height);
    });
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (view.isPrinted) context.drawImage(this.copy(), 0, 0);
    else context.putImageData(this.image, 0, 0);
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    this.drawOver(context, ticks);
  }

  /** Copies the image to a canvas: a browser that prints repeats drawing operations, but not image data. */
  copy() {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [this.image.width, this.image.height];
    copy.getContext("2d").putImageData(this.image, 0, 0);
    return copy;
  }

  paintLanes(item, top, clipTop, width, height) {
    const { view, row } = this;
    const { section, each } = item;
    const { ratio } = view;
    const colours = view.colours.sections[section.index];
    row.prepare(colours, view.colours.paper, width, (view.t1 - view.t0) / width);
    const gap = Math.max(1, Math.round(ratio));
    const columns = view.isMoving ? coarseColumns : laneColumns;
    const clip = Math.round(clipTop * ratio);
    this.eachLane(item, top, clipTop, (lane, at) => {
      const y0 = Math.round(at * ratio);
      const y1 = Math.max(y0 + 1, Math.round((at + each) * ratio) - gap);
      row.begin();
      columns(section, lane, view.t0, view.t1, width, row);
      if (section.workerPolls !== null && section.kind === "workers") this.coverPolls(section, lane, width);
      this.copyRows(y0, y1, clip, width, height, each >= THIN_FROM);
      if (row.isAnySlight) drawSlight(row, this.pixels, width, Math.max(y0, clip), Math.min(y1, height), gap);
      this.markLong(section, lane, y0, y1, clip, width, height);
    });
  }

  copyRows(y0, y1, clipTop, width, height, thin) {
    const { row, pixels } = this;
    const inset = thin ? Math.round((y1 - y0) * 0.3) : 0;
    const end = Math.min(y1, height);
    for (let y = Math.max(y0, clipTop); y < end; y++) {
      pixels.set(y < y0 + inset || y >= y1 - inset ? row.lean : row.full, y * width);
    }
  }

  /** Paints the polls that a worker ran over its states. */
  coverPolls(section, lane, width) {
    const { view, row } = this;
    const { tasks, rows } = section.workerPolls;
    if (this.held.length !== width) this.held = new Float64Array(width);
    const pixel = (view.t1 - view.t0) / width;
    for (let r = section.laneFirstRow[lane]; r < section.laneFirstRow[lane + 1]; r++) {
      heldColumns(tasks, rows[r], view.t0, view.t1, this.held);
      for (let x = 0; x < width; x++) {
        if (this.held[x] > 0) row.cover(x, view.colours.running, this.held[x] / pixel);
      }
    }
  }

  markLong(section, lane, y0, y1, clipTop, width, height) {
    const { view, marks } = this;
    const { t0, t1 } = view;
    const onWorkers = view.longOnWorkers[section.index];
    if (onWorkers !== null) {
      for (let r = section.laneFirstRow[lane]; r < section.laneFirstRow[lane + 1]; r++) {
        marks.ofWorker(section.workerPolls.tasks, onWorkers[r], t0, t1, width);
        this.drawMarks(y0, y1, clipTop, width, height);
      }
      return;
    }
    const long = view.long[section.index];
    if (!long || long.laneFirst[lane] === long.laneFirst[lane + 1]) return;
    marks.ofLane(section, long, lane, t0, t1, width);
    this.drawMarks(y0, y1, clipTop, width, height);
  }

  drawMarks(y0, y1, clipTop, width, height) {
    const { running, mark, paper } = this.view.colours;
    this.marks.draw(this.pixels, width, height, y0, y1, clipTop, { fill: running.pixel, edge: mark.pixel, paper: paper.pixel, ratio: this.view.ratio });
  }

  drawOver(context, ticks) {
    const { view } = this;
    view.eachItem((item, top, clipTop) => clipTo(context, 0, clipTop, view.width, view.height - clipTop, () => this.drawItem(context, item, top, clipTop)));
    drawTaken(view, context);
    this.drawGrid(context, ticks);
    this.drawGaps(context);
    drawDropped(view, context);
    this.drawCharts(context, ticks);
    if (view.pinned > 0) this.drawLine(context, "line-strong", view.pinned - 1);
  }

  /** Draws a horizontal line over the whole width. */
  drawLine(context, colour, y) {
    fillBox(context, this.view.colours[colour], 0, y, this.view.width, 1);
  }

  drawItem(context, item, top, clipTop) {
    const { view } = this;
    const fill = (colour) => fillBox(context, view.colours[colour], 0, top, view.width, item.h);
    if (item.kind === "section" || item.kind === "charts" || item.kind === "group") {
      fill("raised");
      this.drawLine(context, item.kind === "group" ? "line" : "line-strong", top);
    } else if (item.kind === "stack") {
      // It covers the lanes that scroll below it.
      fill("paper");
      this.drawFolded(context, item, top);
    } else if (item.kind === "lanes") {
      if (item.solo) this.drawLine(context, "line", top);
      if (item.each >= THIN_FROM) this.drawEdges(context, item, top, clipTop);
      if (item.each >= TEXT_FROM) this.drawText(context, item, top, clipTop);
    }
    if (item === view.stuck?.item) this.drawLine(context, "line-strong", top + item.h - 1);
  }

  /** Draws the charts, over the background of sums: they show more than the lanes there. */
  drawCharts(context, ticks) {
    const { view } = this;
    view.eachItem((item, top, clipTop) => {
      if (item.kind !== "chart" || (item.isHidden && view.model.meta.gaps.length === 0)) return;
      clipTo(context, 0, clipTop, view.width, view.height - clipTop, () => {
        if (item.isHidden) {
          fillBox(context, view.colours.paper, 0, top, view.width, item.h);
          return;
        }
        drawChart(view, context, item, top, this.hatching(context));
        this.drawGrid(context, ticks, top, item.h);
      });
    });
  }

  drawFolded(context, item, top) {
    const { view } = this;
    const data = this.stacks.window(item.section, item.group, Math.max(1, Math.round(view.width / 2)));
    this.drawLine(context, "line", top);
    drawStack(context, data, item.section, view.colours.sections[item.section.index],
      { t0: view.t0, t1: view.t1, left: 0, width: view.width, top: top + 4, height: item.h - 5 });
    this.drawFoldedLong(context, item, top);
  }

  /** Draws a tick along the upper edge of a folded group for each of its long polls. */
  drawFoldedLong(context, item, top) {
    const { view } = this;
    const { section, group } = item;
    const long = view.long[section.index];
    if (!long) return;
    const [from, to] = [long.laneFirst[group.firstLane], long.laneFirst[group.endLane]];
    if (from === to) return;
    const width = Math.ceil(view.width);
    // 1: nothing is blamed; 2: something is.
    const marked = new Uint8Array(width);
    // All are drawn, but those that end in a pixel that is marked already are skipped.
    let left = width;
    for (let lane = group.firstLane; lane < group.endLane && left > 0; lane++) {
      const last = long.laneFirst[lane + 1];
      if (long.laneFirst[lane] === last) continue;
      for (let k = nextLong(section, long, lane, view.t0); k < last;) {
        const i = long.poll[k];
        if (section.time[i] >= view.t1) break;
        const x0 = Math.max(0, Math.floor(view.x(section.time[i])));
        const x1 = Math.max(x0 + 1, Math.ceil(view.x(section.endOf(i))));
        const behind = view.time(x1);
        const first = k++;
        if (k < last && section.endOf(long.poll[k]) <= behind) k = Math.max(k, nextLong(section, long, lane, behind));
        const as = areUnblamed(section, long.poll, first, k) ? 1 : 2;
        for (let x = x0; x < x1 && x < width; x++) {
          if (marked[x] !== 2 && as === 2) left--;
          marked[x] = Math.max(marked[x], as);
        }
      }
    }
    const ticks = (each) => {
      for (let x = 0; x < width;) {
        const from = x, as = marked[x];
        while (x < width && marked[x] === as) x++;
        if (as !== 0) each(from, x - from, as);
      }
    };
    context.fillStyle = view.colours.mark.css;
    ticks((x, px) => context.fillRect(x - 1, top + 1, px + 2, 8));
    context.fillStyle = view.colours.running.css;
    ticks((x, px) => context.fillRect(x, top + 2, px, 6));
    context.fillStyle = view.colours.paper.css;
    ticks((x, px, as) => { if (as === 1) context.fillRect(x, top + 4, px, 2); });
  }

  /** Calls `each(lane, top)` for the lanes of an item that are on the screen. */
  eachLane(item, top, clipTop, each) {
    const first = item.firstLane + Math.max(0, Math.floor((clipTop - top) / item.each));
    for (let lane = first; lane < item.endLane; lane++) {
      const at = top + (lane - item.firstLane) * item.each;
      if (at >= this.view.height) break;
      each(lane, at);
    }
  }

  drawEdges(context, item, top, clipTop) {
    this.eachLane(item, top, clipTop, (lane, at) => tearEdges(this.view, context, item.section, lane, at, at + item.each - 1));
  }

  /** Draws text into spans that are wide enough: the length, and on workers the spawn location. */
  drawText(context, item, top, clipTop) {
    const { section, each } = item;
    context.font = CANVAS_FONT;
    context.textBaseline = "middle";
    this.eachLane(item, top, clipTop, (lane, at) => {
      const y = at + (each - 1) / 2 + 0.5;
      if (section.kind === "workers") this.drawWorkerText(context, item, lane, y);
      else this.drawLaneText(context, section, lane, y);
    });
  }

  drawLaneText(context, section, lane, y) {
    const { view } = this;
    const colours = view.colours.sections[section.index];
    const end = section.laneBegin(lane + 1);
    let i = Math.max(findTransition(section, lane, view.t0), section.laneBegin(lane));
    for (let n = 0; i < end && n < MOST_TEXT && section.time[i] < view.t1; i++, n++) {
      const colour = colours[section.state[i]];
      if (colour.blank || colour.thin) continue;
      this.label(context, section.time[i], section.endOf(i), y, colour, this.isBarred(section, i), (width) => wholeText(context, formatNs(section.endOf(i) - section.time[i]), width));
    }
  }

  drawWorkerText(context, item, lane, y) {
    const { section } = item;
    const { view } = this;
    if (section.workerPolls === null) return;
    const { tasks, rows } = section.workerPolls;
    const rowPolls = rows[section.laneFirstRow[lane]];
    if (rowPolls === undefined) return;
    let k = Math.max(0, lastPollBefore(tasks, rowPolls, view.t0));
    for (let n = 0; k < rowPolls.poll.length && n < MOST_TEXT; k++, n++) {
      const i = rowPolls.poll[k];
      const start = tasks.time[i];
      if (start >= view.t1) break;
      const held = heldNs(tasks, i);
      // Polls follow each other closely: an edge separates them.
      if (view.x(start + held) - view.x(start) > 3) fillBox(context, view.colours.paper, Math.round(view.x(start)), y - item.each / 2, 1, item.each - 1);
      this.label(context, start, start + held, y, view.colours.running, this.isBarred(tasks, i), (width) => {
        const length = formatNs(held);
        if (width < 110) return wholeText(context, length, width);
        return fitText(`${pollName(tasks, i)} · ${length}`, width, CANVAS_FONT);
      });
    }
  }

  /** Returns whether a transition begins a long poll that nothing is blamed for. */
  isBarred(section, i) {
    return isPoll(section, i) && heldNs(section, i) > this.view.thresholdOf(section) && isUnblamed(section, i);
  }

  /** Draws text into a span of this colour. On stripes the text has a background. */
  label(context, from, to, y, colour, isBarred, text) {
    const { view } = this;
    const x0 = Math.max(0, view.x(from));
    const x1 = Math.min(view.width, view.x(to));
    if (x1 - x0 < TEXT_WIDTH) return;
    const words = text(x1 - x0 - 8);
    if (words === "") return;
    if (isBarred) fillBox(context, view.colours.paper, x0 + 2, y - 7, context.measureText(words).width + 6, 13);
    context.fillStyle = isBarred ? view.colours.ink.css : inkOn(colour);
    context.fillText(words, x0 + 5, y);
  }

  drawGrid(context, ticks, top = 0, height = this.view.height) {
    const { view } = this;
    context.fillStyle = view.colours.ink.css;
    context.globalAlpha = 0.07;
    for (const tick of ticks.ticks) context.fillRect(Math.round(view.x(tick)), top, 1, height);
    context.globalAlpha = 1;
    const end = view.x(view.model.lengthNs);
    if (end < view.width - 0.5) fillBox(context, view.colours["line-strong"], Math.round(end), top, 1, height);
  }

  /** Hatches the times of which nothing is known. */
  drawGaps(context) {
    const { view } = this;
    for (const [from, to] of view.model.meta.gaps) {
      if (to <= view.t0 || from >= view.t1) continue;
      const x0 = Math.max(0, view.x(from));
      const width = Math.max(1, Math.min(view.width, view.x(to)) - x0);
      context.globalAlpha = 0.75;
      fillBox(context, view.colours.paper, x0, 0, width, view.height);
      context.globalAlpha = 1;
      context.fillStyle = this.hatching(context);
      context.fillRect(x0, 0, width, view.height);
    }
  }

  hatching(context) {
    const colour = this.view.colours.hatch.css;
    if (this.hatch?.colour === colour) return this.hatch.pattern;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const ink = tile.getContext("2d");
    ink.strokeStyle = colour;
    ink.lineWidth = 1.2;
    ink.beginPath();
    for (const shift of [-8, 0, 8]) {
      ink.moveTo(shift, 8);
      ink.lineTo(shift + 8, 0);
    }
    ink.stroke();
    this.hatch = { colour, pattern: context.createPattern(tile, "repeat") };
    return this.hatch.pattern;
  }
}

/** Returns a number, or nothing if it doesn't fit as a whole. */
const wholeText = (context, text, width) => (context.measureText(text).width <= width ? text : "");

/** Returns the blamed function of a poll, or else where its task was spawned. */
function pollName(section, poll) {
  const frame = whyOf(section, poll)?.frame ?? null;
  return frame === null ? groupLabel(section.groups[section.groupOfRow(section.rowOf(poll))]) : visible(shortName(frame.name));
}
