import { findTransition, recordedTotals, recordedWithin, rowTotals } from "./lanes.js";
import { formatNs, formatShare } from "./time.js";
import { make, shorten, visible } from "./text.js";

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

/** The totals of one row from `t0` to `t1`, without the gaps in the recording. */
export const totalsOfRow = (section, gaps, row, t0, t1) => {
  const totals = new Float64Array(section.states.length);
  for (const [from, to] of recordedWithin(gaps, t0, t1)) rowTotals(section, row, from, to, totals);
  return totals;
};

/** The totals of a group's lanes. */
export const totalsOfGroup = (section, gaps, group, t0, t1) =>
  recordedTotals(section, gaps, t0, t1, (lane) => lane >= group.firstLane && lane < group.endLane);

/** How many transitions are looked at for the time by tag. */
const MOST_TAGGED = 4000000;

/** How long each tag took in lanes `from..to` between `t0` and `t1`, the longest first; null if that is too much to count. */
export const tagTotals = (section, from, to, t0, t1) => {
  const sums = new Float64Array(section.tags.length + 1);
  let looked = 0;
  for (let lane = from; lane < to; lane++) {
    const end = section.laneBegin(lane + 1);
    let i = Math.max(section.laneBegin(lane), findTransition(section, lane, t0));
    for (; i < end && section.time[i] < t1; i++) {
      if (++looked > MOST_TAGGED) return null;
      if (section.tag[i] === 0) continue;
      sums[section.tag[i]] += Math.max(0, Math.min(section.endOf(i), t1) - Math.max(section.time[i], t0));
    }
  }
  return [...sums.keys()].filter((tag) => sums[tag] > 0).map((tag) => ({ tag: tag - 1, ns: sums[tag] })).sort((a, b) => b.ns - a.ns);
};

const MOST_TAGS = 30;

/** The tags' table, with a heading. */
export const tagTable = (view, section, found) => {
  if (found === null) return [make("h2", {}, "By tag"), make("p", { class: "hint" }, "Too many changes of state are in view to count the tags. Zoom in.")];
  if (found.length === 0) return [];
  const colours = view.colours.sections[section.index];
  const all = found.reduce((sum, { ns }) => sum + ns, 0);
  const rows = found.slice(0, MOST_TAGS).map(({ tag, ns }) => {
    const { state, tag: name, fields } = section.tags[tag];
    const swatch = make("span", { class: "swatch" });
    if (colours[state] && !colours[state].blank) swatch.style.background = colours[state].css;
    const about = (fields ?? []).map(([key, json]) => `${visible(key)}: ${visible(json)}`).join(", ");
    return make("tr", {},
      make("td", {}, swatch, make("span", { title: shorten(about, 300) }, shorten(visible(name), 40))),
      make("td", {}, formatNs(ns)), make("td", { class: "share" }, formatShare(ns / all)));
  });
  const more = found.length > MOST_TAGS ? make("p", { class: "hint" }, `${found.length - MOST_TAGS} more tags are not listed.`) : null;
  return [make("h2", {}, "By tag"), make("table", { class: "totals" }, make("tbody", {}, ...rows)), ...(more ? [more] : [])];
};
