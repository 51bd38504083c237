import { formatNs, formatShare } from "../format/numbers.js";
import { shorten, titleText, visible } from "../format/text.js";
import { make } from "./dom.js";

// Tables of how long something was in which state, and with which tag.

/** A table of totals: `totals` in ns by state, numbers or bigints. What is blank in the picture is left out. */
export const totalsTable = (view, section, totals, caption) => {
  const colours = view.colours.sections[section.index];
  const shown = [...section.states.keys()].filter((state) => !colours[state].blank);
  const all = shown.reduce((sum, state) => sum + Number(totals[state]), 0);
  return make("table", { class: "totals" },
    make("caption", { class: "unseen" }, caption),
    make("tbody", {}, ...shown.map((state) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = colours[state].css;
      const ns = Number(totals[state]);
      return make("tr", { "data-state": section.states[state].name, "data-section": section.index, "data-ns": String(totals[state]) },
        make("td", {}, swatch, visible(section.states[state].name)),
        make("td", {}, formatNs(ns)),
        make("td", { class: "share" }, all > 0 ? formatShare(ns / all) : ""));
    })));
};

const MOST_TAGS = 30;

/** The tags' table, with a heading. */
export const tagTable = (view, section, found) => {
  const heading = make("h2", {}, section.awaits === null ? "By tag" : "Waiting, by where");
  if (found === null) return [heading, make("p", { class: "hint" }, "Too many changes of state are in view to count the tags. Zoom in.")];
  if (found.length === 0) return [];
  const colours = view.colours.sections[section.index];
  const all = found.reduce((sum, { ns }) => sum + ns, 0);
  const rows = found.slice(0, MOST_TAGS).map(({ tag, ns }) => {
    const { state, tag: name, fields } = section.tags[tag];
    const swatch = make("span", { class: "swatch" });
    if (colours[state] && !colours[state].blank) swatch.style.background = colours[state].css;
    const about = (fields ?? []).map(([key, json]) => `${visible(key)}: ${visible(json)}`).join(", ");
    return make("tr", {},
      make("td", {}, swatch, make("span", { title: titleText(about || name) }, shorten(visible(name), section.awaits === null ? 40 : 30))),
      make("td", {}, formatNs(ns)), make("td", { class: "share" }, formatShare(ns / all)));
  });
  const more = found.length > MOST_TAGS ? make("p", { class: "hint" }, `${found.length - MOST_TAGS} more tags are not listed.`) : null;
  return [heading, make("table", { class: "totals" }, make("tbody", {}, ...rows)), ...(more ? [more] : [])];
};
