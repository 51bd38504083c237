import { cleanText } from "./time.js";

// Text that comes from a recorded program, made fit to be seen. Names and labels may hold anything:
// they only ever reach the page as `textContent` or as text on a canvas.

/** All of `text`, with what could hide in it or turn its direction escaped. */
export const visible = (text) => cleanText(text, Infinity);

/** Where so few characters fit, only one end is kept. */
const ONE_END = 18;

/**
 * At most `most` characters of `text`. What is left out is in the middle, as both ends tell more;
 * where there is room for one end only, it is a location's right, and of anything else the left.
 */
export const shorten = (text, most) => {
  if (text.length > most * 4) {
    // Cut before escaping: ten kilobytes need not be looked at for what fits in a line.
    text = `${text.slice(0, most * 2)}${text.slice(-most * 2)}`;
  }
  const seen = [...visible(text)];
  if (seen.length <= most) return seen.join("");
  const isPlace = /[/:\\]/.test(text);
  const tail = most <= ONE_END ? (isPlace ? most - 1 : 0) : Math.ceil((most - 1) * 0.6);
  return `${seen.slice(0, most - 1 - tail).join("")}…${seen.slice(seen.length - tail).join("")}`;
};

/** A label for a title attribute: enough to tell it apart, never pages of it. */
export const titleText = (text) => shorten(text, 300);

/** `n` of something: "1 task", "12 tasks". */
export const plural = (n, one, formatted) => `${formatted ?? n} ${one}${n === 1 ? "" : "s"}`;

/** A new element with attributes and children (strings become text). */
export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name === "class") element.className = value;
    else if (name === "onclick") element.addEventListener("click", value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

const measurer = { context: null, kept: new Map() };

/** `text` cut so that it is at most `width` px wide in `font`. Keeps its end, where a location's line is. */
export const fitText = (text, width, font) => {
  const key = `${font}\n${Math.floor(width)}\n${text}`;
  const known = measurer.kept.get(key);
  if (known !== undefined) return known;
  measurer.context ??= document.createElement("canvas").getContext("2d");
  measurer.context.font = font;
  let least = 0;
  let most = Math.min(text.length, 400);
  let fitted = shorten(text, 400);
  if (measurer.context.measureText(fitted).width > width) {
    while (least < most) {
      const middle = (least + most + 1) >> 1;
      const candidate = shorten(text, middle);
      if (measurer.context.measureText(candidate).width <= width) least = middle;
      else most = middle - 1;
    }
    fitted = least > 0 ? shorten(text, least) : "";
  }
  if (measurer.kept.size > 2000) measurer.kept.clear();
  measurer.kept.set(key, fitted);
  return fitted;
};
