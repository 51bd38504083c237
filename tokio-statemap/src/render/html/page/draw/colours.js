import { colourOf } from "./palette.js";

// The colours to paint with: as CSS text, and as the numbers that an image takes.

let colourProbe = null;

/** A CSS colour as `{css, r, g, b, pixel}`; `pixel` is little-endian RGBA, opaque. */
export const readColour = (css) => {
  if (colourProbe === null) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    colourProbe = canvas.getContext("2d", { willReadFrequently: true });
  }
  // What the canvas can't read leaves the grey in place.
  colourProbe.fillStyle = "#888888";
  colourProbe.fillStyle = css;
  colourProbe.fillRect(0, 0, 1, 1);
  const [r, g, b] = colourProbe.getImageData(0, 0, 1, 1).data;
  return { css, r, g, b, pixel: packPixel(r, g, b) };
};

/** The pixel of a colour as an image holds it. */
export const packPixel = (r, g, b) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** A colour of the style sheet, by its custom property. */
const themeColour = (styles, name) => readColour(styles.getPropertyValue(name).trim() || "#888888");

/** States that are drawn as a thin band where there is room: they are the background of what happens. */
const QUIET_ROLES = new Set(["waiting", "parked"]);

/** All that painting needs to know about colours, for one theme and one palette. */
export const paintColours = (model, theme, palette) => {
  const styles = getComputedStyle(document.documentElement);
  const names = ["paper", "raised", "ink", "quiet", "faint", "line", "line-strong", "accent", "focus", "mark", "select", "row-light", "hatch", "summed", "summed-bar"];
  const colours = Object.fromEntries(names.map((name) => [name, themeColour(styles, `--${name}`)]));
  // Translucent: only its text is of use.
  colours["row-light"].css = styles.getPropertyValue("--row-light").trim();
  colours.sections = model.sections.map((section) =>
    section.states.map((state) => {
      const css = colourOf(state, theme, palette);
      const colour = css === null ? { ...colours.paper, blank: true } : { ...readColour(css), blank: false };
      return { ...colour, thin: palette !== "statemap" && QUIET_ROLES.has(state.role) };
    }));
  const running = model.sections.flatMap((section, index) =>
    section.states.map((state, i) => (state.role === "running" ? colours.sections[index][i] : null))).find(Boolean);
  colours.running = running ?? readColour("#dc267f");
  return colours;
};
