import { colourOf, readPalette } from "./palette.js";

// The colours to paint with: as CSS text, and as numbers for image data.

let colourProbe = null;

/** Converts a CSS colour to `{css, r, g, b, pixel}`; `pixel` is opaque little-endian RGBA. */
const readColour = (css) => {
  if (colourProbe === null) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    colourProbe = canvas.getContext("2d", { willReadFrequently: true });
  }
  // A colour that the canvas can't read leaves the grey in place.
  colourProbe.fillStyle = "#888888";
  colourProbe.fillStyle = css;
  colourProbe.fillRect(0, 0, 1, 1);
  const [r, g, b] = colourProbe.getImageData(0, 0, 1, 1).data;
  return { css, r, g, b, pixel: packPixel(r, g, b) };
};

/** Returns a colour as a pixel of image data. */
export const packPixel = (r, g, b) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** Returns black or white, whichever is readable on a colour; white if both are. */
export const inkOn = ({ r, g, b }) => {
  const light = (channel) => (channel <= 10 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  return 1.05 / (luminance + 0.05) >= 4.5 ? "#ffffff" : "#000000";
};

/**
 * Returns a reader of the page's custom properties as colours. If the user forces colours these are system colours, which
 * only an element of the page can resolve, not a canvas.
 */
const propertyReader = () => {
  const styles = getComputedStyle(document.documentElement);
  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.forcedColorAdjust = "none";
  document.body.append(probe);
  const property = (name) => {
    const css = styles.getPropertyValue(name).trim();
    if (css === "" || css.startsWith("#")) return css || "#888888";
    probe.style.color = css;
    return getComputedStyle(probe).color;
  };
  return { property, done: () => probe.remove() };
};

/** States that are drawn as a thin band if there is room: the background of the others. */
const QUIET_ROLES = new Set(["waiting", "parked"]);
/** Colours that are painted besides those of states. */
const PAINTED = ["paper", "raised", "ink", "quiet", "faint", "line", "line-strong", "accent", "focus", "mark", "select", "hatch", "summed", "summed-bar", "state-running"];

/** Returns all colours for painting, for one palette on this screen. */
export const paintColours = (model, palette) => {
  const { property, done } = propertyReader();
  const colours = Object.fromEntries(PAINTED.map((name) => [name, readColour(property(`--${name}`))]));
  // It is translucent: only its CSS text is used.
  colours["row-light"] = { css: property("--row-light") };
  const own = readPalette(property);
  done();
  colours.sections = model.sections.map((section) =>
    section.states.map((state) => {
      const css = colourOf(state, own, palette);
      const colour = css === null ? { ...colours.paper, blank: true } : { ...readColour(css), blank: false };
      return { ...colour, thin: palette !== "statemap" && QUIET_ROLES.has(state.role), isPoll: state.role === "running" };
    }));
  const running = model.sections.flatMap((section, index) =>
    section.states.map((state, i) => (state.role === "running" ? colours.sections[index][i] : null))).find(Boolean);
  colours.running = running ?? colours["state-running"];
  return colours;
};
