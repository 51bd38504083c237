import { formatMoment, formatNs, setOrigin } from "../format/numbers.js";
import { cleanText, shorten, titleText } from "../format/text.js";
import { sentence } from "../model/issues.js";
import { readyMeanwhile } from "../model/waits.js";
import { firstNames } from "../model/told.js";
import { sourceOf } from "../model/frames.js";
import { judgedSection } from "../model/why.js";
import { byId, make } from "./dom.js";

// The head of the page: what was run, what the picture lacks, and the answer.

const MOST_NOTES = 40;
/** How long an answer may be. */
const MOST_ANSWER = 900;

const utcText = ([seconds, ns]) => {
  const date = new Date(seconds * 1000 + Math.floor(ns / 1e6));
  return Number.isNaN(date.getTime()) ? null : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
};

/** Shows what the data says of itself; this needs no timeline. */
export const showFacts = (meta) => {
  setOrigin(meta.origin ?? 0);
  const title = byId("title");
  title.textContent = shorten(meta.title, 160);
  title.title = titleText(meta.title);
  const facts = [
    meta.runtime ? `${meta.runs.length > 1 ? "runtimes" : "runtime"} ${shorten(meta.runtime, 60)}` : null,
    meta.host ? `on ${shorten(meta.host, 60)}` : null,
    Array.isArray(meta.start) ? utcText(meta.start) : null,
    formatNs(meta.length),
    meta.origin > 0 ? `from ${formatMoment(0)} to ${formatMoment(meta.length)}` : null,
  ].filter(Boolean);
  byId("facts").textContent = facts.join(" · ");
  byId("facts").title = byId("facts").textContent;
  const detail = byId("detail");
  detail.hidden = !meta.detail;
  // "In detail: …. In sums only: …."
  const [kept, summed] = (meta.detail ?? "").split(/(?<=\.) (?=In )/);
  byId("detail-kept").textContent = kept;
  byId("detail-summed").textContent = summed ?? "";
  const notes = byId("notes");
  // That not all is here comes first, and is seen first.
  notes.replaceChildren(...meta.notes.slice(0, MOST_NOTES).map((note, n) => make("li", { class: meta.cut && n === 0 ? "cut" : null }, shorten(note, 400))));
  notes.hidden = meta.notes.length === 0;
  if (meta.cut) byId("whole-label").textContent = "All that is kept";
};

/** Says, once the file has been read, whether its end is missing: all may be drawn by then. */
export const watchForEnd = () => {
  const look = () => {
    if (document.getElementById("statemap-end") !== null) return;
    const notes = byId("notes");
    notes.prepend(make("li", { class: "cut" }, "This file is cut off: its end is missing. What is drawn is all there, but no command can read it. Copy it again, all of it."));
    notes.hidden = false;
  };
  if (document.readyState === "complete") look();
  else window.addEventListener("load", look);
};

/** Words that fit data that isn't of Tokio. */
export const showWords = (model) => {
  const hasPolls = model.sections.some((section) => section.isRunning.includes(1));
  if (model.sections.some((section) => section.kind === "tasks")) return;
  byId("search").placeholder = "Search names  /";
  if (!hasPolls) byId("tab-locations").textContent = "Groups";
};

/** The answer: the report's verdict, that is, its first issue, with whom it names standing out; without one a sentence on the worst poll. */
export const showAnswer = (view, actions) => {
  const { model, worst } = view;
  const text = model.meta.verdict ?? sentence(model, worst, worst === null ? null : readyMeanwhile(model, worst));
  const shown = shorten(text, MOST_ANSWER);
  const name = namesIn(view).find((one) => one !== "" && shown.includes(one)) ?? "";
  const at = shown.indexOf(name);
  // Who did what stands out; how bad that was comes behind.
  const first = /[.:] (?=[A-Z]|$)/g;
  first.lastIndex = at + name.length;
  const end = (first.exec(shown)?.index ?? shown.length) + 1;
  const answer = byId("answer");
  answer.replaceChildren(shown.slice(0, at), ...(name === "" ? [] : [make("strong", { class: "place" }, ...breakable(name))]), shown.slice(at + name.length, end),
    ...(end < shown.length ? [make("span", { class: "rest" }, shown.slice(end))] : []));
  answer.title = text.length > 200 ? shorten(text, MOST_ANSWER) : "";
  const zoom = byId("answer-zoom");
  const target = view.firstSelection;
  zoom.hidden = target === null;
  zoom.addEventListener("click", () => actions.zoomTo(target));
};

/** A place breaks between its folders, not within a name or a number. */
const breakable = (place) => place.split(/(?<=[/\\])/).flatMap((part, i) => (i === 0 ? [part] : [make("wbr"), part]));

/** How the answer may name whom it is about. */
const namesIn = ({ model, worst }) => {
  const culprit = judgedSection(model)?.why.culprits[0];
  const frame = culprit?.frame ?? null;
  const places = culprit ? [culprit.place] : worst === null ? [] : [model.sections[worst.section].groups[worst.group].label];
  const functions = frame === null ? [] : [`${frame.name} at ${sourceOf(frame)}`, `${frame.name} in ${sourceOf(frame)}`, frame.name];
  // As the sentence has it: a label that is longer is cut there.
  return [...firstNames(model), ...functions, ...places].map((name) => cleanText(name, 120));
};
