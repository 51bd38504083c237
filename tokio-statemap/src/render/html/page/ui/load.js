// Reads the data that stands in the page, and shows how far that is.

import { load } from "../data/decode.js";
import { canInflate } from "../data/inflate.js";
import { buildCumulative } from "../model/lanes.js";
import { findAwaits } from "../model/awaits.js";
import { findWhy } from "../model/why.js";
import { buildWorkerPolls } from "../model/worker_polls.js";
import { byId } from "./dom.js";
import { showFacts } from "./head.js";

/** How long reading goes on before the page may show how far it is, in ms. */
const READING_MS = 50;

/** Lets the browser do what it has to do. */
export const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

/** The texts of the data's chunks; each leaves the document before it is decoded. */
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
    throw new Error("This page is damaged: a part of its data is missing. Was the file cut off when it was copied?");
  }
};

/** The model of the page's data; its facts are shown as soon as they are known. */
export const loadModel = async () => {
  const meta = readJson("statemap-meta");
  showFacts(meta);
  const tail = readJson("statemap-tail");
  if (!canInflate()) {
    throw new Error("This browser is too old for the picture: it can't inflate raw deflate streams (Chrome 103, Firefox 113, Safari 16.4 can).");
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
