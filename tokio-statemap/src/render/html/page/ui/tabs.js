import { byId } from "./dom.js";

// The panel's tabs: the arrow keys go from one to the next, as in the ARIA pattern.

const TABS = ["issues", "requests", "locations", "tasks", "waits", "selection", "profile"];

/** The requests tab is hidden if there are none. */
const shownTabs = () => TABS.filter((tab) => !byId(`tab-${tab}`).hidden);

/** Shows the pane of a tab. */
export const showTab = (view, name, focus = false) => {
  const shown = shownTabs().includes(name) ? name : TABS[0];
  for (const tab of TABS) {
    const button = byId(`tab-${tab}`);
    const isShown = tab === shown;
    button.setAttribute("aria-selected", String(isShown));
    button.tabIndex = isShown ? 0 : -1;
    byId(`pane-${tab}`).hidden = !isShown;
    if (isShown && focus) button.focus();
  }
  view.setTab(shown);
};

export const listenTabs = (view) => {
  view.on("picked", () => { if (view.tab !== "selection") showTab(view, "selection"); });
  for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => showTab(view, tab));
  byId("tabs").addEventListener("keydown", (event) => {
    const tabs = shownTabs();
    const at = tabs.indexOf(view.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    showTab(view, tabs[(to + tabs.length) % tabs.length], true);
  });
};
