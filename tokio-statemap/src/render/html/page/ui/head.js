import { formatNs } from "../format/numbers.js";
import { cleanText, shorten, titleText, visible } from "../format/text.js";
import { isOfCulprit, sentence } from "../model/issues.js";
import { readyMeanwhile } from "../model/waits.js";
import { byId, make } from "./dom.js";

// The head of the page: what was run, what the picture lacks, and the answer.

const MOST_NOTES = 40;

const utcText = ([seconds, ns]) => {
  const date = new Date(seconds * 1000 + Math.floor(ns / 1e6));
  return Number.isNaN(date.getTime()) ? null : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
};

/** Shows what the data says of itself; this needs no timeline. */
export const showFacts = (meta) => {
  const title = byId("title");
  title.textContent = shorten(meta.title, 160);
  title.title = titleText(meta.title);
  const facts = [
    meta.runtime ? `runtime ${shorten(meta.runtime, 60)}` : null,
    meta.host ? `on ${shorten(meta.host, 60)}` : null,
    Array.isArray(meta.start) ? utcText(meta.start) : null,
    formatNs(meta.length),
  ].filter(Boolean);
  byId("facts").textContent = facts.join(" · ");
  byId("facts").title = byId("facts").textContent;
  const notes = byId("notes");
  notes.replaceChildren(...meta.notes.slice(0, MOST_NOTES).map((note) => make("li", {}, shorten(note, 400))));
  notes.hidden = meta.notes.length === 0;
};

/** Words that fit data that isn't of Tokio. */
export const showWords = (model) => {
  const hasPolls = model.sections.some((section) => section.isRunning.includes(1));
  if (model.sections.some((section) => section.kind === "tasks")) return;
  byId("search").placeholder = "Search names  /";
  if (!hasPolls) byId("tab-locations").textContent = "Groups";
};

/** The answer: one sentence on the worst poll, its location standing out. */
export const showAnswer = (view, actions) => {
  const { model, worst } = view;
  const text = shorten(sentence(model, worst, worst === null ? null : readyMeanwhile(model, worst)), 600);
  // As the sentence has it: a label that is longer is cut there.
  const place = worst === null ? "" : cleanText(model.sections[worst.section].groups[worst.group].label, 120);
  const answer = byId("answer");
  if (place !== "" && text.startsWith(place)) answer.replaceChildren(make("strong", { class: "place" }, place), text.slice(place.length));
  else answer.textContent = visible(text);
  answer.title = text.length > 200 ? titleText(text) : "";
  const zoom = byId("answer-zoom");
  zoom.hidden = worst === null;
  zoom.addEventListener("click", () => actions.zoomTo(view.worstSpan()));
  // The report goes by the sum of a location's long polls: where that is another one, both are shown.
  const { verdict } = model.meta;
  const inAll = byId("verdict");
  inAll.hidden = worst === null || !verdict || isOfCulprit(model, worst);
  inAll.textContent = inAll.hidden ? "" : `By the sum of its long polls: ${shorten(verdict, 600)}`;
};
