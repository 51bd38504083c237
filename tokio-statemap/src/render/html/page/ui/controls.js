// The buttons above the lanes, the colours, and the live region for screen readers.

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

/** Follows the colours of the system: light, dark, or those that its user forces. */
export const followTheme = (view) => {
  const [dark, forced] = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));
  const follow = () => view.setTheme(dark.matches ? "dark" : "light");
  follow();
  for (const query of [dark, forced]) query.addEventListener("change", follow);
};

/** Writes each selection into the live region. */
export const announceSelection = (view) => {
  view.on("selected", () => { byId("live").textContent = selectionSentence(view); });
};
