import { firstIndex } from "../data/section.js";
import { visible } from "../format/text.js";
import { CANVAS_FONT, fillBox, sizeCanvas } from "./canvas.js";
import { inkOn } from "./colours.js";
import { fitText } from "./fit.js";

// The lane of a critical path: at each time, the state of the task on which the length depended.

/** The least width of a stretch with text, in px. */
const NAMED_WIDTH = 44;

/** Returns the index of the first stretch that ends after `t`. */
const firstEndingAfter = ({ to }, t) => firstIndex(0, to.length, (i) => to[i] > t);

/** Returns the index of the stretch at the time `t`; −1 if there is none. */
export const stretchOfPath = (way, t) => {
  const i = firstEndingAfter(way, t);
  return i < way.to.length && way.from[i] <= t ? i : -1;
};

/**
 * Draws the path of a section. A pixel with several stretches has the colour of the longest of them.
 * @param {import("./view.js").View} view
 * @param {HTMLCanvasElement} canvas
 * @param {import("../data/section.js").Section} section
 * @param {import("../model/critical_path.js").PathWay} way
 */
export const drawPathLane = (view, canvas, section, way) => {
  const height = canvas.clientHeight;
  const context = sizeCanvas(canvas, view.width, height, view.ratio);
  context.clearRect(0, 0, view.width, height);
  context.font = CANVAS_FONT;
  context.textBaseline = "middle";
  const colours = view.colours.sections[section.index];
  let longest = { pixel: -1, length: 0 };
  for (let i = firstEndingAfter(way, view.t0); i < way.to.length && way.from[i] < view.t1; i++) {
    if (!way.isKnown[i]) continue;
    const colour = colours[section.state[way.transition[i]]];
    const [x0, x1] = [Math.max(0, view.x(way.from[i])), Math.min(view.width, view.x(way.to[i]))];
    const [pixel, length] = [Math.floor(x0), x1 - x0];
    if (length < 1 && pixel === longest.pixel && length <= longest.length) continue;
    // A long one may end within a pixel.
    longest = length < 1 ? { pixel, length } : { pixel: Math.floor(x1), length: x1 - Math.floor(x1) };
    fillBox(context, colour, length < 1 ? pixel : x0, 0, Math.max(1, length), height - 1);
    if (length < NAMED_WIDTH) continue;
    // Each stretch is told from the one before it.
    fillBox(context, view.colours.paper, x0, 0, 1, height - 1);
    context.fillStyle = inkOn(colour);
    context.fillText(fitText(visible(section.name(section.rowOf(way.transition[i]))), length - 8, CANVAS_FONT), x0 + 5, height / 2);
  }
};
