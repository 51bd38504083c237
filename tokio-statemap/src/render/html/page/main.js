import { formatNs } from "./time.js";
import { load } from "./decode.js";
import { canInflate } from "./inflate.js";
import { buildCumulative } from "./lanes.js";
import { longPolls } from "./polls.js";
import { buildWorkerPolls } from "./worker_polls.js";
import { locationTable } from "./locations.js";
import { findIssues, worstPoll } from "./issues.js";
import { initialFolds } from "./layout.js";
import { paintColours } from "./colours.js";
import { drawAxis } from "./axis.js";
import { Stacks } from "./stack.js";
import { LanePainter } from "./paint.js";
import { longOnWorkers } from "./worker_lane.js";
import { Minimap } from "./minimap.js";
import { drawOverlay } from "./overlay.js";
import { View } from "./view.js";
import { Gutter } from "./gutter.js";
import { Legend, statusText } from "./legend.js";
import { Input } from "./input.js";
import { SearchBox } from "./search_box.js";
import { Address } from "./address.js";
import { listenTabs, showTab } from "./tabs.js";
import { IssuesTab } from "./issues_tab.js";
import { LocationsTab } from "./locations_tab.js";
import { SelectionTab } from "./selection_tab.js";
import { prepareHelp } from "./help.js";
import { showAnswer, showFacts, showWords } from "./head.js";
import { actionsOn } from "./actions.js";
import { Surface } from "./surface.js";
import { selectionSentence } from "./describe.js";
import { byId } from "./text.js";

// The page: reads the data, puts the parts together, and opens on the worst poll.

/** How many times of frames are kept for whoever measures. */
const MOST_FRAMES = 2000;

/** How long reading goes on before the page may show how far it is, in ms. */
const READING_MS = 50;

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

const loadModel = async () => {
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
  return model;
};

/** Looks up again what depends on the threshold and is drawn. */
const markLong = (view) => {
  view.long = view.model.sections.map((section) => (section.isRunning.includes(1) ? longPolls(section, view.threshold) : null));
  const all = view.model.workerPolls;
  view.longOnWorkers = all ? longOnWorkers(view.model, view.long[all.tasks]) : null;
};

/** Takes the sizes of the page over into the view. */
const measure = (view, gutter) => {
  const lanes = byId("lanes");
  const styles = getComputedStyle(document.documentElement);
  view.gutter = parseFloat(styles.getPropertyValue("--gutter")) || 0;
  view.width = Math.max(20, lanes.clientWidth - view.gutter - (parseFloat(styles.getPropertyValue("--bar")) || 0));
  view.height = Math.max(20, lanes.clientHeight);
  view.ratio = Math.min(3, window.devicePixelRatio || 1);
  for (const id of ["lanes-canvas", "overlay"]) {
    byId(id).style.width = `${view.width}px`;
    byId(id).style.height = `${view.height}px`;
  }
  gutter.reset();
  view.touch("layout");
};

/** Connects the parts of the page; returns the function that paints a frame. */
const assemble = (view, frameTimes) => {
  const stacks = new Stacks(view, () => view.touch("lanes"));
  const painter = new LanePainter(view, stacks, byId("lanes-canvas"));
  const minimap = new Minimap(view, stacks);
  const gutter = new Gutter(view);
  const scrollbar = byId("scrollbar");
  scrollbar.addEventListener("scroll", () => {
    if (Math.abs(scrollbar.scrollTop - view.scroll) > 1) view.scrollTo(scrollbar.scrollTop);
  });
  let labels = true;
  view.on("selected", () => { labels = true; });
  view.paint = ({ lanes }) => {
    const from = performance.now();
    if (lanes) {
      const ticks = drawAxis(view, byId("axis"));
      painter.paint(ticks);
    }
    drawOverlay(view, byId("overlay"));
    if (lanes || labels) {
      minimap.draw();
      gutter.draw();
      byId("spacer").style.height = `${view.layout.height}px`;
      if (Math.abs(scrollbar.scrollTop - view.scroll) > 1) scrollbar.scrollTop = view.scroll;
      byId("scale").textContent = `${formatNs(view.t1 - view.t0)} in view`;
      byId("back").disabled = view.past.length === 0;
      byId("status").textContent = statusText(view);
      labels = false;
    }
    if (lanes && frameTimes.push(performance.now() - from) > MOST_FRAMES) frameTimes.shift();
  };
  return gutter;
};

const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Finds the issues and the table of locations, a piece at a time. */
const research = async (view, issuesTab, locationsTab) => {
  const { threshold } = view;
  await nextTask();
  if (view.threshold !== threshold) return;
  view.issues = findIssues(view.model, threshold);
  issuesTab.draw();
  view.touch("lanes");
  await nextTask();
  if (view.threshold !== threshold) return;
  locationsTab.setRows(locationTable(view.model, threshold));
};

const openPage = async (surface) => {
  const model = await loadModel();
  const view = new View(model);
  surface.attach(view);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const recolour = () => {
    view.theme = dark.matches ? "dark" : "light";
    view.colours = paintColours(model, view.theme, view.palette);
    view.touch("lanes");
  };
  recolour();
  dark.addEventListener("change", () => view.tell("colours"));
  view.on("colours", recolour);

  const actions = actionsOn(view);
  byId("loading").hidden = model.sections.some((section) => section.nLanes > 0);
  byId("loading-text").textContent = "Nothing was recorded.";
  for (const id of ["progress", "loading-hint"]) byId(id).hidden = true;
  const gutter = assemble(view, surface.frameTimes);
  measure(view, gutter);
  view.worst = worstPoll(model);
  const initial = initialFolds(model, view.worst, view.height);
  const address = new Address(view, initial);
  const given = address.read();
  view.folded = given.folds ? address.folds(given.folds) : new Set(initial);
  if (given.threshold > 0) view.threshold = given.threshold;
  if (given.palette) view.palette = given.palette;
  if (given.group) view.filter = given.group;
  if (given.t1 > given.t0) [view.t0, view.t1] = [given.t0, given.t1];
  recolour();
  markLong(view);
  view.relayout();

  const issuesTab = new IssuesTab(view, actions);
  const locationsTab = new LocationsTab(view);
  new SelectionTab(view, actions);
  const legend = new Legend(view);
  surface.count = () => legend.count();
  const searchBox = new SearchBox(view, actions.show);
  Object.assign(actions, { search: () => searchBox.focus(), step: (by) => issuesTab.step(by) });
  new Input(view, actions);
  listenTabs(view);
  prepareHelp();
  listenControls(view);
  view.on("selected", () => { byId("live").textContent = selectionSentence(view); });
  view.on("threshold", () => { markLong(view); research(view, issuesTab, locationsTab); });
  for (const what of ["moved", "selected", "filtered", "threshold", "folds", "colours", "tab"]) view.on(what, () => address.later());
  // A link that is opened where the page is open already.
  window.addEventListener("hashchange", () => {
    const asked = address.read();
    view.folded = asked.folds ? address.folds(asked.folds) : new Set(initial);
    view.filter = asked.group ?? null;
    view.setPalette(asked.palette ?? "page");
    byId("palette").value = view.palette;
    view.setThreshold(asked.threshold > 0 ? asked.threshold : model.meta.long);
    view.relayout();
    view.refold();
    view.tell("filtered");
    const selected = asked.selection === undefined ? worst : asked.selection;
    view.select(selected);
    if (selected !== null && selected.kind !== "range" && !asked.group) actions.show(selected);
    if (asked.t1 > asked.t0) view.jumpTo(asked.t0, asked.t1);
    else view.fit();
    showTab(view, asked.tab ?? "issues");
  });
  new ResizeObserver(() => measure(view, gutter)).observe(byId("lanes"));

  showWords(model);
  showAnswer(model, view.worst);
  const worst = view.worst === null ? null : { kind: "span", section: view.worst.section, transition: view.worst.transition };
  byId("answer-zoom").addEventListener("click", () => actions.zoomTo(worst));
  const target = given.selection === undefined ? worst : given.selection;
  issuesTab.draw();
  locationsTab.draw();
  if (target !== null) {
    view.select(target);
    // A selection of the address may lie outside its view; then both stay as they were.
    if (target.kind !== "range" && !given.group) actions.show(target);
    if (given.t1 > given.t0) view.setTimes(given.t0, given.t1);
    view.past.length = 0;
  }
  showTab(view, given.tab ?? "issues");
  cancelAnimationFrame(view.frame);
  view.paintFrame();
  research(view, issuesTab, locationsTab).then(() => {
    surface.count();
    surface.settle();
  });
};

const listenControls = (view) => {
  byId("fit").addEventListener("click", () => view.fit());
  byId("back").addEventListener("click", () => view.back());
  byId("palette").value = view.palette;
  byId("palette").addEventListener("change", (event) => view.setPalette(event.target.value));
};

const startPage = () => {
  const surface = new Surface();
  window.statemap = surface;
  surface.ready = openPage(surface);
  surface.ready.catch((error) => {
    byId("main").classList.add("failed");
    const box = byId("error");
    box.textContent = error instanceof Error ? error.message : String(error);
    box.hidden = false;
  });
};

startPage();
