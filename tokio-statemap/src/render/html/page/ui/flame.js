import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { plural, shorten, titleText, visible } from "../format/text.js";
import { layOutFlame } from "../model/flame.js";
import { shortName, sourceOf } from "../model/frames.js";
import { make } from "./dom.js";

// A flame graph with the outermost function at the top; each box is as wide as its time. A click gives a function the full
// width.

/** The least share of the width of a box, and the height of a row in px. */
const LEAST_SHARE = 0.004;
const ROW_PX = 20;

/** The owner of a function, in words. */
const ORIGIN_TEXTS = {
  program: "a function of the program", dependency: "a function of a dependency", std: "a function of the standard library", runtime: "a function of the runtime",
  system: "a function of the system", blocked: "the system call in which it was blocked", unknown: "",
};

/** Describes a box on one line. */
const boxText = (node, root) => {
  const source = sourceOf(node);
  return `${titleText(node.name)}${source && ` at ${titleText(source)}`}: ${boxTime(node, root)}`;
};

const boxTime = (node, root) => {
  const share = root.ns > 0 ? `, ${formatShare(node.ns / root.ns)}` : "";
  return `${formatNs(node.ns)}${share}, ${plural(node.samples, "sample", formatCount(node.samples))}`;
};

/** Builds the flame graph of `root`, with a key of its colours. */
export const flameGraph = (root) => {
  const plot = make("div", { class: "flame", role: "tree", "aria-label": "Flame graph: which function called which, and for how long" });
  const out = make("button", { type: "button", class: "flame-out", onclick: () => draw(root, true) }, "Show all");
  const draw = (shown, focus) => {
    const boxes = layOutFlame(shown, LEAST_SHARE);
    plot.style.height = `${(1 + Math.max(0, ...boxes.map(({ depth }) => depth))) * ROW_PX}px`;
    plot.replaceChildren(...boxes.map((box) => flameBox(box, root, shown, draw)));
    out.hidden = shown === root;
    const main = plot.querySelector("[aria-selected=true]") ?? plot.firstElementChild;
    if (main !== null) main.tabIndex = 0;
    if (focus) main?.focus({ preventScroll: true });
  };
  plot.addEventListener("keydown", (event) => moveInFlame(plot, event));
  draw(root, false);
  return make("div", { class: "flame-part" }, plot, flameKey(root, out));
};

const flameBox = ({ node, depth, left, width }, root, shown, draw) => {
  const text = boxText(node, root);
  const source = sourceOf(node);
  const origin = ORIGIN_TEXTS[node.origin] ?? "";
  const name = shorten(node.origin === "blocked" ? `blocked: ${visible(node.name)}` : visible(shortName(node.name)), 60);
  const file = source && shorten(fileName(source), 40);
  // The accessible name begins with the visible text.
  const label = `${file ? `${name} ${file}` : name}: ${boxTime(node, root)}`;
  const box = make("button", {
    type: "button", class: `of-${node.origin}${depth < depthOf(shown) ? " above" : ""}`, role: "treeitem", tabindex: -1, "aria-level": depth + 1,
    "aria-selected": node === shown, "aria-expanded": node.calls.length > 0 ? true : null, "aria-label": label,
    title: `${text}${origin && `\n${origin}`}`,
    // A second click goes back to the caller.
    onclick: () => draw(node === shown ? node.within : node, true),
  }, make("span", {}, name), ...(file ? [" ", make("span", { class: "source" }, file)] : []));
  box.style.left = `${left * 100}%`;
  box.style.width = `${width * 100}%`;
  box.style.top = `${depth * ROW_PX}px`;
  return box;
};

/** Returns the number of a function's callers. */
const depthOf = (node) => {
  let depth = -1;
  for (let at = node; at.within !== null; at = at.within) depth++;
  return depth;
};

/** Returns the end of a path, which says more than its beginning. */
const fileName = (source) => visible(source.slice(source.lastIndexOf("/", source.lastIndexOf("/") - 1) + 1));

/** Moves the focus with the arrow keys: to the caller, to what was called, and to the neighbours. */
const moveInFlame = (plot, event) => {
  const boxes = [...plot.children];
  const at = boxes.indexOf(document.activeElement);
  const level = (box) => Number(box.getAttribute("aria-level"));
  if (at < 0) return;
  const beside = (step) => {
    for (let k = at + step; k >= 0 && k < boxes.length; k += step) if (level(boxes[k]) === level(boxes[at])) return boxes[k];
    return undefined;
  };
  const to = {
    ArrowDown: () => (boxes[at + 1] && level(boxes[at + 1]) > level(boxes[at]) ? boxes[at + 1] : undefined),
    ArrowUp: () => boxes.slice(0, at).findLast((box) => level(box) < level(boxes[at])),
    ArrowRight: () => beside(1), ArrowLeft: () => beside(-1), Home: () => boxes[0], End: () => boxes.at(-1),
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const box = to();
  if (box === undefined) return;
  for (const other of boxes) other.tabIndex = other === box ? 0 : -1;
  box.focus();
};

/** Builds the key of the colours that occur. */
const flameKey = (root, out) => {
  const found = new Set();
  const look = (node) => {
    found.add(node.origin);
    node.calls.forEach(look);
  };
  root.calls.forEach(look);
  const names = { program: "program", dependency: "dependency", std: "std", runtime: "runtime", system: "system", blocked: "blocked in" };
  const keys = Object.entries(names).filter(([origin]) => found.has(origin));
  return make("div", { class: "flame-key" },
    ...keys.map(([origin, name]) => make("span", { class: "key" }, make("span", { class: `swatch of-${origin}` }), name)), out);
};
