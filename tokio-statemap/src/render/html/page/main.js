import { initialFolds } from "./draw/layout.js";
import { View } from "./draw/view.js";
import { actionsOn } from "./ui/actions.js";
import { Address } from "./ui/address.js";
import { announceSelection, followTheme, listenControls } from "./ui/controls.js";
import { findAgain } from "./ui/findings.js";
import { Frame } from "./ui/frame.js";
import { showAnswer, showWords, watchForEnd } from "./ui/head.js";
import { prepareHelp } from "./ui/help.js";
import { Input } from "./ui/input.js";
import { IssuesTab } from "./ui/issues_tab.js";
import { Legend } from "./ui/legend.js";
import { loadModel, showError } from "./ui/load.js";
import { LocationsTab } from "./ui/locations_tab.js";
import { PathLane } from "./ui/path_lane.js";
import { preparePrint } from "./ui/print.js";
import { prepareProfile } from "./ui/profile_tab.js";
import { prepareRequests } from "./ui/requests_tab.js";
import { SearchBox } from "./ui/search_box.js";
import { prepareSharing } from "./ui/share.js";
import { SelectionTab } from "./ui/selection_tab.js";
import { prepareSplitter } from "./ui/splitter.js";
import { Surface } from "./ui/surface.js";
import { listenTabs, showTab } from "./ui/tabs.js";
import { TasksTab } from "./ui/tasks_tab.js";
import { WaitsTab } from "./ui/waits_tab.js";

// The page: loads the data, builds its parts, and opens on what the headline is about.

const openPage = async (surface) => {
  const model = await loadModel();
  const view = new View(model);
  surface.attach(view);
  followTheme(view);
  const frame = new Frame(view, surface.frameTimes);
  frame.measure();
  const address = new Address(view, initialFolds(model, view.opening, view.height, view.charts, view.hiddenCharts));
  const given = address.restore();
  const parts = buildParts(view);
  frame.pathLane = new PathLane(view, parts.actions.show);
  // The parts take room from the lanes, and what the page opens on must be visible in the rest.
  frame.measure();
  surface.countWith(() => parts.legend.count());
  address.follow(parts.actions);
  prepareSharing(address);
  frame.followSize();
  preparePrint(view, frame, parts.actions.reveal);
  view.on("threshold", () => findAgain(view, parts));
  openOn(view, given, parts);
  // The initial view is not a step that could be undone.
  address.settle();
  view.paintNow();
  const opened = { selection: view.selection, scroll: view.scroll };
  findAgain(view, parts).then(() => {
    surface.finish();
    // The totals may have taken more room from the lanes.
    watchForEnd();
    frame.measure();
    const isAsOpened = view.selection === opened.selection && view.scroll === opened.scroll;
    if (isAsOpened && opened.selection !== null && !given.group) parts.actions.reveal(opened.selection);
  });
};

/** Builds the parts around the lanes. */
const buildParts = (view) => {
  const actions = actionsOn(view);
  const issues = new IssuesTab(view, actions);
  const locations = new LocationsTab(view, actions);
  new TasksTab(view, actions);
  const selection = new SelectionTab(view, actions);
  prepareProfile(view);
  prepareRequests(view, actions);
  new WaitsTab(view, actions);
  const legend = new Legend(view);
  const searchBox = new SearchBox(view, actions.show);
  new Input(view, { ...actions, search: () => searchBox.focus(), step: (by) => issues.step(by) });
  listenTabs(view);
  listenControls(view);
  prepareHelp(() => selection.redraw());
  prepareSplitter();
  announceSelection(view);
  showWords(view.model);
  showAnswer(view, actions);
  issues.draw();
  locations.draw();
  return { actions, issues, locations, legend };
};

/** Selects what the address names, or else what the headline is about. */
const openOn = (view, given, { actions }) => {
  const target = given.selection === undefined ? view.firstSelection : given.selection;
  if (target !== null) {
    view.select(target);
    // The selection of an address may be outside of its view; both are restored.
    if (target.kind !== "range" && !given.group) actions.show(target);
    if (given.t1 > given.t0) view.setTimes(given.t0, given.t1);
    view.forgetPast();
  }
  showTab(view, given.tab ?? "issues");
};

const startPage = () => {
  const surface = new Surface();
  window.statemap = surface;
  surface.open(openPage).catch(showError);
};

startPage();
