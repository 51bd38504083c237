import { formatNs, formatShare } from "../format/numbers.js";
import { shorten, titleText, visible } from "../format/text.js";
import { make, swatchOf } from "./dom.js";

// Tables of the time in each state, and with each tag.

/** Builds a table of totals: ns by state, numbers or bigints. States that are drawn blank are left out. */
export const totalsTable = (view, section, totals, caption) => {
  const colours = view.colours.sections[section.index];
  const shown = [...section.states.keys()].filter((state) => !colours[state].blank);
  const all = shown.reduce((sum, state) => sum + Number(totals[state]), 0);
  return make("table", { class: "totals" },
    make("caption", { class: "unseen" }, caption),
    make("tbody", {}, ...shown.map((state) => {
      const ns = Number(totals[state]);
      return make("tr", { "data-state": section.states[state].name, "data-section": section.index, "data-ns": String(totals[state]) },
        make("td", {}, swatchOf(colours[state]), visible(section.states[state].name)),
        make("td", {}, formatNs(ns)),
        make("td", { class: "share" }, all > 0 ? formatShare(ns / all) : ""));
    })));
};

const MOST_TAGS = 30;

/** Builds the table of tags, with a heading. */
export const tagTable = (view, section, found) => {
  const heading = make("h2", {}, section.awaits === null ? "By tag" : "Waiting, by line");
  if (found === null) return [heading, make("p", { class: "hint" }, "Too many changes of state in this view to count the tags. Zoom in.")];
  if (found.length === 0) return [];
  const colours = view.colours.sections[section.index];
  const all = found.reduce((sum, { ns }) => sum + ns, 0);
  const rows = found.slice(0, MOST_TAGS).map(({ tag, ns }) => {
    const { state, tag: name, fields } = section.tags[tag];
    const about = (fields ?? []).map(([key, json]) => `${visible(key)}: ${visible(json)}`).join(", ");
    return make("tr", {},
      make("td", {}, swatchOf(colours[state] ?? { blank: true }), make("span", { title: titleText(about || name) }, shorten(visible(name), section.awaits === null ? 40 : 30))),
      make("td", {}, formatNs(ns)), make("td", { class: "share" }, formatShare(ns / all)));
  });
  const more = found.length > MOST_TAGS ? make("p", { class: "hint" }, `${found.length - MOST_TAGS} more tags are not listed.`) : null;
  return [heading, make("table", { class: "totals" }, make("tbody", {}, ...rows)), more];
};
