import { formatMoment, formatNs, setOrigin } from "../format/numbers.js";
import { cleanText, shorten, titleText } from "../format/text.js";
import { sizeSentence } from "../model/names.js";
import { firstNames, isVerdictListed } from "../model/reported.js";
import { byId, make } from "./dom.js";

// The head of the page: the program that ran, what the picture lacks, and the verdict.

const MOST_NOTES = 40;
/** The greatest length of a verdict. */
const MOST_ANSWER = 900;

const utcText = ([seconds, ns]) => {
  const date = new Date(seconds * 1000 + Math.floor(ns / 1e6));
  return Number.isNaN(date.getTime()) ? null : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
};

/** Shows the facts about the run, which are known before its columns are decoded. */
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
  const [kept, summed] = meta.detail ?? ["", ""];
  byId("detail-kept").textContent = kept;
  byId("detail-summed").textContent = summed;
  const notes = byId("notes");
  // That this is only a part of the run is the first note, and stands out.
  notes.replaceChildren(...meta.notes.slice(0, MOST_NOTES).map((note, n) => make("li", { class: meta.cut && n === 0 ? "cut" : null }, shorten(note, 400))));
  notes.hidden = meta.notes.length === 0;
  if (meta.cut) byId("whole-label").textContent = "Everything kept";
};

/** Says, once the file is loaded, if its end is missing: everything may be drawn even so. */
export const watchForEnd = () => {
  const look = () => {
    if (document.getElementById("statemap-end") !== null) return;
    const notes = byId("notes");
    notes.prepend(make("li", { class: "cut" }, "This file is cut off: its end is missing. The picture is complete, but the command can't read the file. Copy it again, all of it."));
    notes.hidden = false;
  };
  if (document.readyState === "complete") look();
  else window.addEventListener("load", look);
};

/** Adapts some words to data that isn't of Tokio. */
export const showWords = (model) => {
  const hasPolls = model.sections.some((section) => section.isRunning.includes(1));
  if (model.sections.some((section) => section.kind === "tasks")) return;
  byId("search").placeholder = "Search names  /";
  if (!hasPolls) byId("tab-locations").textContent = "Groups";
};

/**
 * Shows the headline of the report, and highlights the name of what it is about; of data without a report, its size. The rest of the
 * verdict follows it, unless the list of issues says that.
 */
export const showAnswer = (view, actions) => {
  const { verdict, headline } = view.model.meta;
  const text = verdict ?? sizeSentence(view.model), isListed = isVerdictListed(view.model);
  const shown = shorten(isListed ? headline : text, MOST_ANSWER);
  // A label that is longer than that is cut in the sentence.
  const name = firstNames(view.model).map((one) => cleanText(one, 120)).find((one) => one !== "" && shown.includes(one)) ?? "";
  const at = shown.indexOf(name);
  // The headline is large; the sentences that follow it are smaller.
  const end = Math.max(at + name.length, Math.min((headline ?? text).length, shown.length));
  const answer = byId("answer");
  answer.replaceChildren(shown.slice(0, at), ...(name === "" ? [] : [make("strong", { class: "place" }, ...breakable(name))]), shown.slice(at + name.length, end),
    ...(end < shown.length ? [make("span", { class: "rest" }, shown.slice(end))] : []));
  answer.title = isListed || text.length > 200 ? shorten(text, MOST_ANSWER) : "";
  foldAnswer(answer);
  const zoom = byId("answer-zoom");
  const target = view.firstSelection;
  zoom.hidden = target === null;
  zoom.addEventListener("click", () => actions.zoomTo(target));
};

/** Shows the first two lines of a longer verdict, and a button for the others. */
const foldAnswer = (answer) => {
  const more = byId("answer-more");
  const fold = (isWhole) => {
    more.hidden = true;
    answer.classList.remove("whole");
    const isLong = answer.scrollHeight > answer.clientHeight + 2;
    answer.classList.toggle("whole", isLong && isWhole);
    more.hidden = !isLong;
    more.textContent = isLong && isWhole ? "Less" : "More";
    more.setAttribute("aria-label", `${more.textContent} of the verdict`);
  };
  const isWhole = () => answer.classList.contains("whole");
  more.addEventListener("click", () => fold(!isWhole()));
  // In a frame of its own, as this changes the size that is observed.
  new ResizeObserver(() => requestAnimationFrame(() => fold(isWhole()))).observe(byId("answer-line"));
};

/** Lets a path break between its folders or modules, not within a name or a number. */
const breakable = (place) => place.split(/(?<=[/\\]|::)/).flatMap((part, i) => (i === 0 ? [part] : [make("wbr"), part]));
