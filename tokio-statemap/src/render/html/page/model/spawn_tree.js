// The spawn tree, folded by location: tasks that were spawned at one location by tasks of one location are one node. A
// location whose tasks spawn others there again is one node, not one for each generation.

/**
 * @typedef {import("./task_table.js").TaskTable} TaskTable
 * @typedef {{
 *   section: number, group: number, up: number, tasks: number, again: number, below: number, alive: number, polls: number,
 *   held: number, longest: number,
 * }} SpawnNode `section`: its index in the table; `up`: the node of the tasks that spawned these, −1 at the top; `tasks`: their number;
 *   `again`: how many of these were spawned by others of these; `below`: the number of tasks in it and below it; `alive`: how many
 *   have no end; times in ns, of its own tasks
 * @typedef {{node: number, level: number, isOpen: boolean, isParent: boolean, place: number, of: number}} SpawnLine `level` from 1 on;
 *   `place`, `of`: the position among its siblings, from 1 on, and their number
 */

/** The number of tasks after which a step ends. */
const NODES_A_STEP = 8192;
/** Marks tasks without a node, and those on the path that is being walked. */
const NO_NODE = -1, ON_THE_WAY = -2;

export class SpawnTree {
  /** @param {TaskTable} table whose columns are summed */
  constructor(table) {
    this.table = table;
    /** @type {SpawnNode[]} each behind its parent */
    this.nodes = [];
    /** The node of each task. */
    this.nodeOf = new Int32Array(table.n).fill(NO_NODE);
    /** The children of each node, and as the last element those at the top. @type {number[][]} */
    this.below = [];
  }

  /** Builds the tree. @returns {Generator<void, void, void>} */
  *build() {
    for (const [s, section] of this.table.sections.entries()) {
      const byPlace = new Map();
      for (let row = 0; row < section.nRows; row++) {
        if (row % NODES_A_STEP === 0) yield;
        this.put(s, section, row, byPlace);
      }
    }
    yield;
    this.sumUp();
  }

  /** Finds the node of a row, and of all its ancestors that have none. @private */
  put(s, section, row, byPlace) {
    const { nodeOf, nodes } = this;
    const first = this.table.first[s];
    const way = [];
    let at = row;
    for (; at >= 0 && nodeOf[first + at] === NO_NODE; at = section.parent[at]) {
      nodeOf[first + at] = ON_THE_WAY;
      way.push(at);
    }
    // No task spawns its own ancestors, but data may say so.
    let node = at < 0 || nodeOf[first + at] === ON_THE_WAY ? -1 : nodeOf[first + at];
    for (const each of way.reverse()) {
      const group = section.groupOfRow(each);
      const isAgain = node >= 0 && nodes[node].group === group;
      if (!isAgain) node = this.nodeAt(s, group, node, byPlace, section.groups.length);
      nodeOf[first + each] = node;
      this.count(nodes[node], section, first + each, each, isAgain);
    }
  }

  /** Returns the node of a location below another node. @private */
  nodeAt(section, group, up, byPlace, nGroups) {
    const key = (up + 1) * nGroups + group;
    const known = byPlace.get(key);
    if (known !== undefined) return known;
    const node = this.nodes.push({ section, group, up, tasks: 0, again: 0, below: 0, alive: 0, polls: 0, held: 0, longest: NaN }) - 1;
    byPlace.set(key, node);
    return node;
  }

  /** @private */
  count(node, section, task, row, isAgain) {
    const { columns } = this.table;
    const last = section.rowFirst[row + 1] - 1;
    node.tasks++;
    if (isAgain) node.again++;
    if (last < section.rowFirst[row] || section.isEnd[section.state[last]] === 0) node.alive++;
    node.polls += columns.polls[task];
    node.held += columns.held[task];
    if (!(columns.longest[task] <= node.longest) && !Number.isNaN(columns.longest[task])) node.longest = columns.longest[task];
  }

  /** @private */
  sumUp() {
    const { nodes } = this;
    this.below = Array.from({ length: nodes.length + 1 }, () => []);
    for (let node = nodes.length - 1; node >= 0; node--) {
      const { up } = nodes[node];
      nodes[node].below += nodes[node].tasks;
      if (up >= 0) nodes[up].below += nodes[node].below;
      this.below[up < 0 ? nodes.length : up].push(node);
    }
  }

  /** Returns the children of a node; −1 stands for the top. @param {number} node @returns {number[]} */
  under(node) {
    return this.below[node < 0 ? this.nodes.length : node];
  }

  /**
   * Returns the visible lines of the tree.
   * @param {(node: number) => boolean} isOpen
   * @param {(a: number, b: number) => number} compare sorts the children of a node
   * @returns {SpawnLine[]}
   */
  lines(isOpen, compare) {
    const lines = [];
    const push = (stack, node, level) => {
      const sorted = [...this.under(node)].sort(compare);
      for (let k = sorted.length - 1; k >= 0; k--) stack.push({ node: sorted[k], level, place: k + 1, of: sorted.length });
    };
    const stack = [];
    push(stack, -1, 1);
    while (stack.length > 0) {
      const { node, level, place, of } = stack.pop();
      const isParent = this.under(node).length > 0, isNodeOpen = isParent && isOpen(node);
      lines.push({ node, level, place, of, isParent, isOpen: isNodeOpen });
      if (isNodeOpen) push(stack, node, level + 1);
    }
    return lines;
  }
}
