// The buttons above the lanes, the colours, and what a screen reader is read.

import { selectionSentence } from "../draw/describe.js";
import { hasLines } from "../model/by_line.js";
import { byId } from "./dom.js";

export const listenControls = (view) => {
  byId("fit").addEventListener("click", () => view.fit());
  byId("back").addEventListener("click", () => view.back());
  const palette = byId("palette");
  if (!view.model.sections.some(hasLines)) palette.querySelector('[value="lines"]').remove();
  palette.value = view.palette;
  palette.addEventListener("change", () => view.setPalette(palette.value));
  view.on("colours", () => { palette.value = view.palette; });
};

/** Keeps the view in the theme of the system. */
export const followTheme = (view) => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const themeNow = () => (dark.matches ? "dark" : "light");
  view.setTheme(themeNow());
  dark.addEventListener("change", () => view.setTheme(themeNow()));
};

/** Puts each selection into the live region. */
export const announceSelection = (view) => {
  view.on("selected", () => { byId("live").textContent = selectionSentence(view); });
};
