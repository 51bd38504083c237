// Converts the view to the URL's hash and back, so that a link shows the same view. Invalid parts are ignored.

import { lastNotAfter } from "../data/section.js";
import { chartsOf } from "../draw/charts/charts.js";
import { hasLines } from "../model/by_line.js";
import { stretchAt, stretchTimes } from "../model/sums.js";

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{stretch: number}|{section: number, row: number}|{section: number, group: number}|{section: number, transition: number}|{t0: number, t1: number}} Selection
 *   a stretch of the run's sums; a row; a group; the span that a transition begins; a range of time
 * @typedef {{
 *   t0?: number, t1?: number, sel?: Selection|"none"|null, group?: {section: number, group: number}|null,
 *   threshold?: number, folds?: string[], hide?: string[], palette?: "page"|"lines"|"statemap", tab?: string,
 * }} View times in ns; `folds`: "section" or "section.group", of those whose fold differs from what it is at first; `hide`:
 *   the keys of charts that are hidden, or shown if they are hidden at first
 */

/** The greatest length of a hash that is read. */
const LONGEST_HASH = 100_000;

/**
 * Converts a view to a hash.
 * @param {View} view
 * @param {Model} model
 * @returns {string} the value of `location.hash`, without the `#`
 */
export function encodeView(view, model) {
  const parts = new URLSearchParams();
  if (Number.isFinite(view.t0) && Number.isFinite(view.t1)) parts.set("t", rangeText(view.t0, view.t1));
  if (view.sel) parts.set("sel", view.sel === "none" ? "none" : selectionText(view.sel, model));
  if (view.group) parts.set("group", `${view.group.section}.${view.group.group}`);
  if (Number.isFinite(view.threshold)) parts.set("long", String(Math.round(view.threshold)));
  if (view.folds?.length) parts.set("folds", view.folds.join("_"));
  if (view.hide?.length) parts.set("hide", view.hide.join("_"));
  for (const key of ["palette", "tab"]) if (view[key]) parts.set(key, view[key]);
  return parts.toString();
}

function rangeText(t0, t1) {
  return `${Math.round(t0)}_${Math.round(t1)}`;
}

function selectionText(sel, model) {
  // By its time: another recording has other stretches.
  if (sel.stretch !== undefined) return `sum.${Math.round(stretchTimes(model, sel.stretch)[0])}`;
  if (sel.section === undefined) return `range.${rangeText(sel.t0, sel.t1)}`;
  const section = model.sections[sel.section];
  if (sel.group !== undefined) return `of.${sel.section}.${sel.group}`;
  if (sel.transition === undefined) return `row.${sel.section}.${section.name(sel.row)}`;
  // By row and time, not by an index, which depends on the file.
  return `at.${sel.section}.${section.time[sel.transition]}.${section.name(section.rowOf(sel.transition))}`;
}

/**
 * Reads a view as far as it fits the model. Times are limited to it.
 * @param {string} text `location.hash`, with or without the `#`
 * @param {Model} model
 * @returns {View} the parts that could be read
 */
export function decodeView(text, model) {
  const view = {};
  if (text.length > LONGEST_HASH) return view;
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const range = readRange(parts.get("t"), model.lengthNs);
  if (range) Object.assign(view, range);
  const sel = parts.get("sel") === "none" ? "none" : readSelection(parts.get("sel") ?? "", model);
  if (sel) view.sel = sel;
  const group = /^(\d{1,9})\.(\d{1,9})$/.exec(parts.get("group") ?? "");
  if (group && model.sections[group[1]]?.groups[group[2]]) view.group = { section: +group[1], group: +group[2] };
  const threshold = parts.get("long") ?? "";
  if (/^\d{1,15}$/.test(threshold)) view.threshold = Number(threshold);
  if (parts.has("folds")) view.folds = parts.get("folds").split("_").filter((key) => isFold(key, model));
  if (parts.has("hide")) {
    const named = new Set(parts.get("hide").split("_"));
    view.hide = chartsOf(model).filter((key) => named.has(key));
  }
  const palette = parts.get("palette"), tab = parts.get("tab");
  if (palette === "page" || palette === "statemap" || (palette === "lines" && model.sections.some(hasLines))) view.palette = palette;
  if (/^[a-z-]{1,20}$/.test(tab ?? "")) view.tab = tab;
  return view;
}

function readRange(text, length) {
  const match = /^(-?\d{1,15})_(-?\d{1,15})$/.exec(text ?? "");
  if (!match) return null;
  const t0 = Math.min(Math.max(0, Number(match[1])), length), t1 = Math.min(Math.max(0, Number(match[2])), length);
  return t0 < t1 ? { t0, t1 } : null;
}

function isFold(key, model) {
  const match = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(key);
  const section = match && model.sections[match[1]];
  return Boolean(section && (match[2] === undefined || section.groups[match[2]]));
}

function readSelection(text, model) {
  if (text.startsWith("range.")) return readRange(text.slice(6), model.lengthNs);
  const ofSum = /^sum\.(\d{1,15})$/.exec(text);
  if (ofSum) {
    const stretch = stretchAt(model, Number(ofSum[1]) + 1);
    return stretch < 0 ? null : { stretch };
  }
  const ofGroup = /^of\.(\d{1,9})\.(\d{1,9})$/.exec(text);
  if (ofGroup) return model.sections[ofGroup[1]]?.groups[ofGroup[2]] ? { section: +ofGroup[1], group: +ofGroup[2] } : null;
  const ofRow = /^row\.(\d{1,9})\.([^]*)$/.exec(text), ofSpan = /^at\.(\d{1,9})\.(\d{1,16})\.([^]*)$/.exec(text);
  const section = model.sections[(ofRow ?? ofSpan)?.[1]];
  const row = section ? rowNamed(section, ofRow ? ofRow[2] : ofSpan[3]) : -1;
  if (row < 0) return null;
  if (ofRow) return { section: section.index, row };
  const t = Number(ofSpan[2]);
  const i = lastNotAfter(section.time, section.rowFirst[row], section.rowFirst[row + 1], t);
  // Otherwise the row is still right.
  if (i < section.rowFirst[row] || section.time[i] !== t) return { section: section.index, row };
  return { section: section.index, transition: i };
}

function rowNamed(section, name) {
  for (let row = 0; row < section.nRows; row++) if (section.name(row) === name) return row;
  return -1;
}
