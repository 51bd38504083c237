// Reads the page's data, and shows the progress.

import { load } from "../data/decode.js";
import { canInflate } from "../data/inflate.js";
import { buildCumulative } from "../model/lanes.js";
import { findAwaits } from "../model/awaits.js";
import { findWhy } from "../model/why.js";
import { buildWorkerPolls } from "../model/worker_polls.js";
import { byId } from "./dom.js";
import { showFacts } from "./head.js";

/** The time after which reading lets the page show its progress, in ms. */
const READING_MS = 50;

/** Lets the browser handle other events. */
export const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Yields the texts of the data's chunks, which leave the document before they are decoded. */
async function* takeChunks() {
  let until = performance.now() + READING_MS;
  for (;;) {
    const element = document.querySelector("script.statemap-chunk");
    if (element === null) return;
    if (performance.now() > until) {
      await nextTask();
      until = performance.now() + READING_MS;
    }
    const text = element.textContent;
    element.remove();
    yield text;
  }
}

const readJson = (id) => {
  try {
    return JSON.parse(byId(id).textContent);
  } catch {
    throw new Error("This page is damaged: a part of its data is missing. The file may have been cut off when it was copied.");
  }
};

/** Loads the model. The facts about the run are shown as soon as they are known. */
export const loadModel = async () => {
  const meta = readJson("statemap-meta");
  showFacts(meta);
  const tail = readJson("statemap-tail");
  if (!canInflate()) {
    throw new Error("This browser is too old for this page, which needs Chrome 103, Firefox 113, Safari 16.4 or later.");
  }
  const progress = byId("progress");
  const model = await load(meta, tail, takeChunks(), (share) => { progress.value = share; });
  for (const section of model.sections) buildCumulative(section);
  buildWorkerPolls(model);
  model.sections.forEach(findWhy);
  model.sections.forEach(findAwaits);
  hideProgress(model);
  return model;
};

const hideProgress = (model) => {
  byId("loading").hidden = model.sections.some((section) => section.nLanes > 0);
  byId("loading-text").textContent = "Nothing was recorded.";
  for (const id of ["progress", "loading-hint"]) byId(id).hidden = true;
};

/** Shows why there is no picture. */
export const showError = (error) => {
  byId("main").classList.add("failed");
  const box = byId("error");
  box.textContent = error instanceof Error ? error.message : String(error);
  box.hidden = false;
};
