import { formatCount } from "../format/numbers.js";
import { plural, shorten } from "../format/text.js";
import { countRows, groupLabel } from "../model/names.js";
import { SpawnTree } from "../model/spawn_tree.js";
import { stretchTimes } from "../model/sums.js";
import { TaskList } from "../model/task_list.js";
import { TaskTable } from "../model/task_table.js";
import { momentText } from "../draw/describe.js";
import { detailHint } from "./detail_hint.js";
import { byId, make } from "./dom.js";
import { VirtualGrid } from "./grid.js";
import { inSlices } from "./slices.js";
import { fillNode, fillTask, TASK_GRID, TREE_GRID } from "./task_rows.js";

// The tasks tab: a table of all tasks, sorted and filtered, or the spawn tree. Nothing is counted before the tab is first
// opened.

/** Trees with at most this many nodes are open at first. */
const OPEN_AT_FIRST = 40;
/** The pause in typing after which the table is filtered, in ms. */
const TYPED_MS = 80;

/** The columns that are sorted in ascending order at first. */
const RISING_AT_FIRST = ["name", "location", "state", "parent"];

export class TasksTab {
  /** `actions`: `show(target)`, `zoomTo(target)`. */
  constructor(view, actions) {
    this.view = view;
    this.actions = actions;
    this.table = new TaskTable(view.model);
    this.list = new TaskList(this.table);
    this.tree = null;
    this.isTree = false;
    this.sort = { table: { key: "held", isDescending: true }, tree: { key: "below", isDescending: true } };
    /** If set, only the tasks of this node of the tree are listed. */
    this.only = null;
    /** Whether states are those at the time of the selection, and that time. */
    this.isAtSelection = false;
    this.moment = view.model.lengthNs;
    this.lines = [];
    this.open = null;
    this.wanted = 0;
    this.counting = null;
    this.isShown = false;
    if (this.table.sections.some(({ kind }) => kind === "other")) byId("tab-tasks").textContent = "Rows";
    view.on("tab", () => this.shown());
    view.on("selected", () => this.selected());
    view.on("filtered", () => this.filtered());
    view.on("colours", () => { if (this.isShown) this.grid().redraw(); });
    view.on("states", () => this.list.changeStates());
  }

  shown() {
    const isShown = this.view.tab === "tasks";
    byId("main").classList.toggle("of-tasks", isShown);
    this.isShown = isShown && this.table.n > 0;
    if (!isShown) return;
    if (this.table.n === 0) {
      byId("pane-tasks").replaceChildren(make("p", { class: "hint" }, "Tasks were not recorded."));
      return;
    }
    if (this.counting === null) {
      this.build();
      this.counting = inSlices(this.table.countColumns());
    }
    if (this.isAtSelection) this.moment = momentOf(this.view) ?? this.moment;
    this.refresh(this.grid().active, true);
  }

  build() {
    const what = countRows(this.table.sections[0], 2).replace(/^.*?\s/, "");
    this.filter = make("input", { id: "task-filter", type: "search", autocomplete: "off", spellcheck: "false", maxlength: 200, placeholder: "Filter by name, location, state", "aria-label": `Filter ${what} by name, location or state` });
    this.filter.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.refresh(), TYPED_MS);
    });
    this.filter.addEventListener("keydown", (event) => this.onFilterKey(event));
    this.when = make("select", { id: "task-moment", "aria-label": "State when", title: "The time of State and Age" },
      make("option", { value: "end" }, "State at the end"), make("option", { value: "selection" }, "State at the selection"));
    this.when.addEventListener("change", () => {
      this.isAtSelection = this.when.value === "selection";
      this.moment = this.isAtSelection ? momentOf(this.view) ?? this.view.model.lengthNs : this.view.model.lengthNs;
      this.refresh();
    });
    this.toggle = make("button", { id: "task-tree", type: "button", "aria-pressed": false, title: "Which tasks spawned which, by location", onclick: () => this.setTree(!this.isTree) }, "Spawn tree");
    this.status = make("p", { id: "task-status", class: "hint", role: "status" }, "Counting …");
    this.all = make("button", { id: "task-all", type: "button", hidden: "", onclick: () => this.showAll() }, "Show all");
    this.tasks = new VirtualGrid({
      id: "task-grid", label: `All ${what}`, columns: TASK_GRID,
      fill: (index, cells) => this.fillTask(index, cells), choose: (index) => this.choose(this.list.found[index]),
      act: (index) => this.actions.show(this.target(this.table.columns.parent[this.list.found[index]])), sort: (key) => this.sortBy("table", key),
    });
    this.nodes = new VirtualGrid({
      id: "spawn-tree", role: "treegrid", label: "Which tasks spawned which, by location", columns: TREE_GRID,
      fill: (index, cells) => this.fillNode(index, cells), choose: (index) => this.chooseNode(index), act: (index) => this.setOnly(this.lines[index].node),
      key: (event, index) => this.onTreeKey(event, index), sort: (key) => this.sortBy("tree", key),
    });
    const hint = detailHint(this.view.model);
    byId("pane-tasks").replaceChildren(
      ...(hint === null ? [] : [make("div", { class: "task-controls" }, hint)]),
      make("div", { class: "task-controls" }, this.filter, this.when, this.toggle),
      make("div", { class: "task-controls" }, this.status, this.all), this.tasks.element, this.nodes.element);
    this.showGrid();
  }

  grid() {
    return this.isTree ? this.nodes : this.tasks;
  }

  showGrid() {
    this.tasks.element.hidden = this.isTree;
    this.nodes.element.hidden = !this.isTree;
    this.filter.disabled = this.when.disabled = this.isTree;
    this.all.hidden = this.isTree || (this.only === null && this.location() === null);
    this.toggle.setAttribute("aria-pressed", String(this.isTree));
    for (const [of, grid] of [["table", this.tasks], ["tree", this.nodes]]) grid.setSort(this.sort[of].key, this.sort[of].isDescending);
  }

  /**
   * Updates the list, and stops when something else is wanted meanwhile. Keys start from the row `active`; `isInPlace`
   * keeps the scroll position.
   */
  async refresh(active = -1, isInPlace = false) {
    const wanted = ++this.wanted;
    const isWanted = () => this.wanted === wanted && this.isShown;
    if (this.table.columns === null) await this.counting;
    if (!isWanted()) return;
    const steps = this.isTree ? this.findLines() : this.findTasks();
    if ((await inSlices(steps, isWanted)) === undefined) return;
    this.showGrid();
    this.status.textContent = this.isTree ? this.aboutTree() : this.aboutTasks();
    this.grid().setRows(this.isTree ? this.lines.length : this.list.found.length, active, isInPlace);
  }

  findTasks() {
    const { moment, only, tree } = this;
    const of = this.location();
    const isIn = only !== null ? (task) => tree.nodeOf[task] === only : of !== null ? (task) => task >= of.first && task < of.end : undefined;
    return this.list.find({ moment, ...this.sort.table, text: this.filter.value, isIn });
  }

  /** Returns the tasks of the location that is chosen in the tab of locations; null if none is, or it has no tasks. */
  location() {
    const { filter } = this.view;
    return filter === null ? null : this.table.ofGroup(filter.section, filter.group);
  }

  *findLines() {
    if (this.tree === null) {
      const tree = new SpawnTree(this.table);
      yield* tree.build();
      this.tree = tree;
    }
    this.open ??= new Set(this.tree.nodes.length <= OPEN_AT_FIRST ? this.tree.nodes.keys() : this.tree.under(-1));
    this.lines = this.tree.lines((node) => this.open.has(node), this.compareNodes());
    return true;
  }

  compareNodes() {
    const { key, isDescending } = this.sort.tree;
    const { nodes } = this.tree;
    const value = key === "location" ? ({ section, group }) => this.table.sections[section].groups[group].label : (node) => (Number.isNaN(node[key]) ? -1 : node[key]);
    const sign = isDescending ? -1 : 1;
    return (a, b) => {
      const [of, than] = [value(nodes[a]), value(nodes[b])];
      return of < than ? -sign : of > than ? sign : a - b;
    };
  }

  aboutTasks() {
    const [section] = this.table.sections;
    const { n } = this.table;
    const found = this.list.found.length;
    const shown = found === n ? countRows(section, n) : `${formatCount(found)} of ${countRows(section, n)}`;
    const node = this.only === null ? null : this.tree.nodes[this.only];
    const of = this.location();
    const spawned = node !== null ? `, of node ${shorten(groupLabel(this.table.sections[node.section].groups[node.group]), 40)}`
      : of !== null ? `, spawned at ${shorten(groupLabel(of.group), 40)}` : "";
    return `${shown}${spawned}. ${this.moment === this.view.model.lengthNs ? "" : `State at ${momentText(this.view, this.moment)}. `}Click a row to show its task, and again to zoom to it.`;
  }

  aboutTree() {
    const places = this.tree.nodes.length;
    return `${countRows(this.table.sections[0], this.table.n)} in ${plural(places, "node", formatCount(places))}. Those at the top have no known parent. Click a number of tasks to list them.`;
  }

  fillTask(index, cells) {
    const task = this.list.found[index];
    fillTask(this.view, this.table, this.list.at, task, cells);
    return { isSelected: this.selectedTask() === task };
  }

  fillNode(index, cells) {
    const line = this.lines[index];
    fillNode(this.table, this.tree, line, cells);
    return { level: line.level, isOpen: line.isParent ? line.isOpen : null, place: line.place, of: line.of };
  }

  /** Returns the selected task; −1 if none is. */
  selectedTask() {
    const { selection, model } = this.view;
    if (selection?.kind === "row") return this.table.taskOf(selection.section, selection.row);
    return selection?.kind === "span" ? this.table.taskOf(selection.section, model.sections[selection.section].rowOf(selection.transition)) : -1;
  }

  selected() {
    if (!this.isShown) return;
    if (this.isAtSelection) {
      const moment = momentOf(this.view);
      if (moment !== null && moment !== this.moment) {
        this.moment = moment;
        this.refresh(this.tasks.active, true);
        return;
      }
    }
    this.grid().redraw();
  }

  target(task) {
    const { section, row } = this.table.place(task);
    return { kind: "row", section: section.index, row };
  }

  /** Shows a task; a second time, zooms to it. */
  choose(task) {
    const target = this.target(task);
    const { selection } = this.view;
    const isSelected = selection?.kind === "row" && this.selectedTask() === task;
    if (isSelected) this.actions.zoomTo(target);
    else this.actions.show(target);
  }

  sortBy(of, key) {
    const now = this.sort[of];
    this.sort[of] = { key, isDescending: now.key === key ? !now.isDescending : !RISING_AT_FIRST.includes(key) };
    this.refresh();
  }

  setTree(isTree) {
    this.isTree = isTree;
    this.showGrid();
    this.refresh();
  }

  /** Lists only the tasks of the location that is chosen in the tab of locations. */
  filtered() {
    if (this.view.filter !== null) this.only = null;
    if (this.isShown) this.refresh();
  }

  showAll() {
    if (this.view.filter !== null) this.view.setFilter(null);
    this.setOnly(null);
  }

  /** Lists the tasks of a node of the tree, or of all if null. The last choice counts, so a location is no longer chosen. */
  setOnly(node) {
    if (node !== null && this.view.filter !== null) this.view.setFilter(null);
    const hadFocus = document.activeElement === this.all || document.activeElement === this.nodes.element;
    this.only = node;
    this.isTree = false;
    this.showGrid();
    this.refresh(0);
    if (hadFocus) this.tasks.element.focus();
  }

  chooseNode(index) {
    const { node, isParent } = this.lines[index];
    if (isParent) this.setOpen(index, !this.open.has(node));
    else this.setOnly(node);
  }

  setOpen(index, isOpen) {
    const { node } = this.lines[index];
    if (isOpen) this.open.add(node);
    else this.open.delete(node);
    this.refresh(index, true);
  }

  /** As in the ARIA tree pattern: right opens a node or goes to its first child; left closes it or goes to its parent. */
  onTreeKey(event, index) {
    const line = this.lines[index];
    if (line === undefined) return false;
    if (event.key === "ArrowRight" && line.isParent) {
      if (line.isOpen) this.nodes.activate(index + 1);
      else this.setOpen(index, true);
    } else if (event.key === "ArrowLeft") {
      if (line.isOpen) this.setOpen(index, false);
      else this.nodes.activate(this.lines.findLastIndex(({ level }, at) => at < index && level < line.level));
    } else if (event.key === "t") this.setOnly(line.node);
    else return false;
    return true;
  }

  onFilterKey(event) {
    if (event.key === "ArrowDown" || event.key === "Enter") this.tasks.element.focus();
    else if (event.key === "Escape" && this.filter.value !== "") {
      this.filter.value = "";
      this.refresh();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Returns the time of the selection; null if it has none, or is a whole task. */
const momentOf = ({ selection, model }) => {
  if (selection?.kind === "span") return model.sections[selection.section].time[selection.transition];
  if (selection?.kind === "range") return selection.t1;
  return selection?.kind === "stretch" ? stretchTimes(model, selection.stretch)[1] : null;
};
