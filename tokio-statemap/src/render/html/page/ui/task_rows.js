import { formatCount, formatNs } from "../format/numbers.js";
import { shorten, titleText, visible } from "../format/text.js";
import { awaitOf } from "../model/awaits.js";
import { groupLabel } from "../model/names.js";
import { transitionAt } from "../model/task_table.js";
import { make } from "./dom.js";
import { putText } from "./grid.js";

// Fills the rows of the table of tasks, and of the spawn tree.

/** The columns, see `VirtualGrid`. Their keys are those of `TaskTable`. */
export const TASK_GRID = [
  { key: "name", label: "Task", title: "Its id, and its name if it has one", isText: true },
  { key: "location", label: "Spawned at", title: "Where it was spawned", isText: true },
  { key: "state", label: "State", title: "Its state at the end, or at the time of the selection", isText: true },
  { key: "age", label: "Age", title: "Its age at that time" },
  { key: "polls", label: "Polls", title: "Number of polls" },
  { key: "held", label: "Held", title: "Total time in polls" },
  { key: "longest", label: "Longest", title: "Its longest poll, without what the machine took" },
  { key: "waited", label: "Waited", title: "Total time waiting" },
  { key: "ready", label: "Ready", title: "Total time ready, before polls" },
  { key: "parent", label: "Spawned by", title: "The task that spawned it", isText: true },
];

export const TREE_GRID = [
  { key: "location", label: "Spawned at", title: "Spawn location; the tasks one level above spawned these", isText: true },
  { key: "tasks", label: "Tasks", title: "Number of tasks" },
  { key: "below", label: "Total", title: "Number of tasks, with all their descendants" },
  { key: "alive", label: "At end", title: "Number of tasks that had not ended" },
  { key: "polls", label: "Polls", title: "Number of polls" },
  { key: "held", label: "Held", title: "Total time in polls" },
  { key: "longest", label: "Longest", title: "Their longest poll, without what the machine took" },
];

/** The most characters of a location that fit into its column. */
const MOST_OF_LABEL = 25;

const orDash = (value, format) => (Number.isNaN(value) ? "–" : format(value));

/** Writes a task into its cells. */
export const fillTask = (view, table, at, task, cells) => {
  const { section, row } = table.place(task);
  const { columns } = table;
  const texts = {
    polls: orDash(columns.polls[task], formatCount),
    held: orDash(columns.held[task], formatNs),
    longest: orDash(columns.longest[task], formatNs),
    waited: orDash(columns.waited[task], formatNs),
    ready: orDash(columns.ready[task], formatNs),
    age: orDash(at.age[task], formatNs),
  };
  const parent = columns.parent[task];
  TASK_GRID.forEach(({ key }, index) => {
    const cell = cells[index];
    if (key === "name") put(cell, visible(section.name(row)) || "unnamed", 60);
    else if (key === "location") put(cell, section.isRoot[row] ? "the root future" : groupLabel(section.groups[section.groupOfRow(row)]), MOST_OF_LABEL);
    else if (key === "state") putState(view, cell, section, row, at.t);
    else if (key === "parent") putParent(cell, table, parent);
    else putText(cell, texts[key]);
  });
};

const put = (cell, text, most) => {
  putText(cell, shorten(text, most));
  putTitle(cell, text);
};

const putTitle = (cell, text) => {
  const title = titleText(text);
  if (cell.title !== title) cell.title = title;
};

/** Writes the state with its current name and colour: waiting may be split by line. */
const putState = (view, cell, section, row, t) => {
  const i = transitionAt(section, row, t);
  if (i < 0) {
    put(cell, "not spawned yet", 30);
    return;
  }
  const state = section.state[i];
  const colour = view.colours.sections[section.index][state];
  const name = section.states[state].line === undefined ? visible(section.states[state].name) : "waiting";
  const place = awaitOf(section, i);
  // Reuses the elements of the cell.
  if (cell.children.length === 0) cell.replaceChildren(make("span", { class: "swatch" }), make("span", {}));
  const [swatch, text] = cell.children;
  swatch.classList.toggle("blank", colour.blank === true);
  swatch.style.background = colour.blank ? "" : colour.css;
  putText(text, shorten(name, 30));
  putTitle(cell, place === null ? name : `${name} at ${visible(place.label)}`);
};

const putParent = (cell, table, parent) => {
  if (parent < 0) {
    put(cell, "–", 1);
    return;
  }
  const { section, row } = table.place(parent);
  const name = visible(section.name(row)) || "unnamed";
  putTitle(cell, name);
  if (cell.children.length === 0) cell.replaceChildren(make("button", { type: "button", tabindex: -1, "data-act": "parent" }));
  putText(cell.firstChild, shorten(name, 40));
};

/** Writes a line of the tree into its cells. */
export const fillNode = (table, tree, line, cells) => {
  const node = tree.nodes[line.node];
  const section = table.sections[node.section];
  const group = section.groups[node.group];
  const label = section.isRoot[group.firstRow] ? "the root future" : groupLabel(group);
  const name = make("span", { class: "name" }, shorten(label, MOST_OF_LABEL));
  const again = node.again === 0 ? null : make("span", { class: "again" }, `${formatCount(node.again)} recursive`);
  const fold = make("span", { class: "fold", "aria-hidden": "true" }, line.isParent ? (line.isOpen ? "▼" : "▶") : "");
  cells[0].replaceChildren(fold, name, ...(again === null ? [] : [again]));
  cells[0].style.paddingLeft = `${8 + (line.level - 1) * 14}px`;
  cells[0].title = titleText(again === null ? label : `${label}: tasks of the same location spawned ${formatCount(node.again)} of these`);
  const texts = [
    formatCount(node.tasks), formatCount(node.below), formatCount(node.alive), orDash(node.polls, formatCount),
    orDash(node.held, formatNs), orDash(node.longest, formatNs),
  ];
  texts.forEach((text, index) => {
    if (index === 0) cells[1].replaceChildren(make("button", { type: "button", tabindex: -1, "data-act": "list", title: "List these tasks" }, text));
    else putText(cells[index + 1], text);
  });
};
