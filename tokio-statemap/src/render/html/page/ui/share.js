import { byId } from "./dom.js";

// Copies the address of what is shown, or an image of it: the title, the sentence, and the timeline with its labels and its legend.

const MARGIN = 16;
const MOST_PIXELS = 60_000_000;

/** How long the button says what happened, in ms. */
const SAID_MS = 2000;

/** Listens to the buttons. `address` writes the address of the view. */
export const prepareSharing = (address) => {
  onShare("share", async () => {
    const image = drawShown();
    const blob = await new Promise((resolve) => { image.toBlob(resolve, "image/png"); });
    if (blob === null) throw new Error("the image is too large");
    return await give(blob) ? ["Copied", "The image is on the clipboard."] : ["Saved", "The image is saved as a file."];
  });
  onShare("link", async () => {
    const url = new URL(address.write(), location.href).href;
    if (navigator.clipboard === undefined) throw new Error("the browser doesn't let this page copy");
    await navigator.clipboard.writeText(url);
    return ["Copied", "The address is on the clipboard."];
  });
};

/** Has a button do something, and say for a while what came of it. */
const onShare = (id, act) => {
  const button = byId(id), label = button.textContent;
  button.addEventListener("click", async () => {
    const failed = (error) => ["Failed", `Nothing was copied: ${error.message}`];
    const [word, sentence] = await act().catch(failed);
    button.textContent = word;
    byId("live").textContent = sentence;
    setTimeout(() => { button.textContent = label; }, SAID_MS);
  });
};

/** Puts an image on the clipboard. Where that isn't allowed it is saved as a file, and `false` is returned. */
async function give(blob) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
    return true;
  } catch {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${document.title.replaceAll(/[^\w.-]+/g, "-") || "statemap"}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return false;
  }
}

/** Draws the head and the timeline as they are shown. */
function drawShown() {
  const picture = byId("picture"), bounds = picture.getBoundingClientRect();
  if (bounds.width < 1 || bounds.height < 1) throw new Error("the timeline is hidden");
  const canvas = document.createElement("canvas"), g = canvas.getContext("2d");
  const style = getComputedStyle(document.body);
  const head = [[byId("title"), byId("facts")], [byId("answer")]].map((parts) => linesOf(g, parts, bounds.width - 2 * MARGIN));
  const headHeight = MARGIN + head.flat().reduce((sum, line) => sum + line.height, 0) + MARGIN / 2;
  const scale = Math.min(devicePixelRatio, Math.sqrt(MOST_PIXELS / (bounds.width * (bounds.height + headHeight))));
  canvas.width = Math.ceil(bounds.width * scale);
  canvas.height = Math.ceil((bounds.height + headHeight) * scale);
  g.scale(scale, scale);
  g.fillStyle = style.backgroundColor;
  g.fillRect(0, 0, bounds.width, bounds.height + headHeight);
  g.textBaseline = "middle";
  let y = MARGIN;
  for (const { words, height } of head.flat()) {
    let x = MARGIN;
    for (const { text, font, colour, width } of words) {
      [g.font, g.fillStyle] = [font, colour];
      g.fillText(text, x, y + height / 2);
      x += width;
    }
    y += height;
  }
  g.translate(-bounds.left, headHeight - bounds.top);
  drawElement(g, picture, bounds);
  return canvas;
}

/** Breaks the text of some elements into lines of words. */
function linesOf(g, elements, most) {
  const lines = [];
  let words = [], x = 0, height = 0;
  const flush = () => {
    if (words.length > 0) lines.push({ words, height });
    [words, x, height] = [[], 0, 0];
  };
  for (const element of elements) {
    const style = getComputedStyle(element), { color: colour, fontSize } = style;
    const font = fontOfStyle(style);
    g.font = font;
    for (const word of element.textContent.split(/\s+/).filter(Boolean)) {
      const text = `${word} `, { width } = g.measureText(text);
      if (x + width > most) flush();
      words.push({ text, font, colour, width });
      x += width;
      height = Math.max(height, Number.parseFloat(fontSize) * 1.4);
    }
  }
  flush();
  return lines;
}

/** The shorthand is empty if a part of it, such as the kind of digits, can't be written in it. */
const fontOfStyle = ({ fontStyle, fontWeight, fontSize, fontFamily }) => `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;

/** Draws the background of an element, a pattern in the first of its colours, and its border. */
function drawBox(g, { left, top, width, height }, { backgroundColor, backgroundImage, borderTopWidth, borderTopColor, borderLeftWidth }) {
  const isClear = (colour) => colour === "transparent" || /^rgba\(.*, 0\)$/.test(colour);
  const colours = [backgroundColor, ...(backgroundImage.match(/rgba?\([^)]*\)/g) ?? [])].filter((colour) => !isClear(colour));
  if (colours.length > 0) {
    g.fillStyle = colours.at(-1);
    g.fillRect(left, top, width, height);
  }
  if (Number.parseFloat(borderTopWidth) > 0 && Number.parseFloat(borderLeftWidth) > 0) {
    g.strokeStyle = borderTopColor;
    g.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  }
}

/** Draws an element and what it has, as far as it is within `clip`. */
function drawElement(g, element, clip) {
  const bounds = element.getBoundingClientRect(), style = getComputedStyle(element);
  // What is only for screen readers takes a pixel.
  if (bounds.width < 2 || bounds.height < 1 || style.visibility === "hidden" || !overlaps(bounds, clip)) return;
  drawBox(g, bounds, style);
  if (element instanceof HTMLCanvasElement) g.drawImage(element, bounds.left, bounds.top, bounds.width, bounds.height);
  const inner = style.overflowX === "visible" ? clip : common(clip, bounds);
  for (const child of element.childNodes) {
    if (child.nodeType === Node.ELEMENT_NODE) drawElement(g, child, inner);
    else if (child.nodeType === Node.TEXT_NODE) drawText(g, child, style, inner);
  }
}

/** Draws a text word by word: it may be broken into lines. */
function drawText(g, node, style, clip) {
  const range = document.createRange();
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const bounds = range.getBoundingClientRect();
    if (bounds.width === 0 || bounds.top < clip.top - 1 || bounds.bottom > clip.bottom + 1 || bounds.right > clip.right + 1) continue;
    [g.font, g.fillStyle] = [fontOfStyle(style), style.color];
    g.fillText(word, bounds.left, (bounds.top + bounds.bottom) / 2);
  }
}

const overlaps = (a, b) => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;

const common = (a, b) => ({
  left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
});
