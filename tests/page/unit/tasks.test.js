// The table of tasks equals a naive count of all spans, sorted and filtered; the spawn tree equals that of a naive walk.

import assert from "node:assert/strict";
import test from "node:test";

import { locationTable } from "../../../tokio-statemap/src/render/html/page/model/locations.js";
import { splitWaiting } from "../../../tokio-statemap/src/render/html/page/model/by_line.js";
import { SpawnTree } from "../../../tokio-statemap/src/render/html/page/model/spawn_tree.js";
import { sortSteps } from "../../../tokio-statemap/src/render/html/page/model/stable_sort.js";
import { TaskList } from "../../../tokio-statemap/src/render/html/page/model/task_list.js";
import { TaskTable } from "../../../tokio-statemap/src/render/html/page/model/task_table.js";
import { totalsOfRow } from "../../../tokio-statemap/src/render/html/page/model/totals.js";
import { TASK_STATES, grouped, modelOf, pictureOf, randomOf, spansOf } from "./random.js";

const SIZES = [{}, { tasks: 2, polls: 300, perLane: 20 }, { tasks: 60, polls: 4 }, { tasks: 6, polls: 500, workers: 1 }];
const WAITING = 2;

/** Runs steps to their end. */
function run(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

async function* cases(n = 12) {
  for (let seed = 0; seed < n; seed++) {
    const picture = pictureOf(seed, SIZES[seed % SIZES.length]);
    const model = await modelOf(picture, 300);
    const table = new TaskTable(model);
    run(table.countColumns());
    yield { seed, picture, model, table, section: model.sections[1], spans: spansOf(picture, 1), random: randomOf(seed + 900) };
  }
}

/** Computes the ready time of a task before polls on workers naively. */
function readyNs(spans) {
  return spans.reduce((sum, span, k) => {
    const next = span.isLast ? undefined : spans[k + 1];
    if (span.role !== "ready" && span.role !== "spawned") return sum;
    const counts = next?.role === "running" ? next.worker !== null : span.role === "spawned" && !span.root;
    return counts ? sum + span.end - span.start : sum;
  }, 0);
}

test("a stable sort, with unknown values last", () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = randomOf(seed);
    const n = [0, 1, 31, 32, 33, 64, 65, 1000, 5000][seed % 9];
    const keys = Float64Array.from({ length: n }, () => (random() < 0.1 ? NaN : random.below(seed % 2 ? 20 : 1e6)));
    const first = Array.from({ length: n }, (_, i) => i).sort(() => random() - 0.5);
    for (const descending of [false, true]) {
      const order = Uint32Array.from(first);
      run(sortSteps(order, keys, descending));
      const known = first.filter((i) => !Number.isNaN(keys[i])).sort((a, b) => (descending ? keys[b] - keys[a] : keys[a] - keys[b]));
      assert.deepEqual([...order], [...known, ...first.filter((i) => Number.isNaN(keys[i]))]);
    }
  }
});

test("the columns", async () => {
  for await (const { seed, picture, model, table, section, spans } of cases()) {
    // Odd ones have a gap in the recording.
    if (seed % 2) {
      model.meta.gaps = [[Math.floor(picture.length / 4), Math.floor(picture.length / 2)]];
      run(table.countColumns());
    }
    const { columns } = table;
    const rows = grouped(spans, (span) => span.row);
    assert.equal(table.n, section.nRows);
    const all = picture.sections[1].groups.flatMap(({ lanes }) => lanes.flat());
    for (let row = 0; row < section.nRows; row++) {
      const own = rows.get(row) ?? [], polls = own.filter((span) => span.held !== null).map((span) => span.held);
      assert.equal(columns.polls[row], polls.length);
      assert.equal(columns.held[row], polls.reduce((a, b) => a + b, 0));
      assert.deepEqual(columns.longest[row], polls.length ? Math.max(...polls) : NaN);
      assert.equal(columns.ready[row], readyNs(own));
      assert.equal(columns.waited[row], totalsOfRow(section, model.meta.gaps, row, 0, model.lengthNs)[WAITING], "as the selection tells it");
      assert.equal(columns.parent[row], all[row].parent === null ? -1 : all.indexOf(all[row].parent));
      assert.deepEqual(table.place(row), { section, row });
      assert.equal(table.taskOf(1, row), row);
    }
    // The tables agree with each other.
    for (const location of locationTable(model)) {
      const group = section.groups[location.group];
      const sum = (column) => column.subarray(group.firstRow, group.firstRow + group.rows).reduce((a, b) => a + b, 0);
      assert.equal(sum(columns.polls), location.polls);
      assert.equal(sum(columns.held), location.heldNs + location.offWorkerNs);
      assert.equal(sum(columns.ready), location.readyNs);
    }
    model.meta.readyKnown = false;
    run(table.countColumns());
    assert.ok(table.columns.ready.every(Number.isNaN));
  }
});

test("states and ages at a time", async () => {
  for await (const { picture, table, section, spans, random } of cases()) {
    const rows = grouped(spans, (span) => span.row);
    for (const t of [0, picture.length, random.below(picture.length), random.below(picture.length)]) {
      const at = run(table.countAt(t));
      for (let row = 0; row < section.nRows; row++) {
        const own = rows.get(row) ?? [];
        const now = own.filter((span) => span.start <= t).at(-1);
        assert.equal(at.state[row], now?.state ?? -1);
        const end = own.find((span) => span.role === "completed")?.start ?? Infinity;
        assert.deepEqual(at.age[row], now === undefined ? NaN : Math.min(t, end, own.at(-1).end) - own[0].start);
      }
    }
  }
});

const STATE_RANK = ["running", "ready", "spawned", "waiting", "completed"];

test("sorted by any column, in both directions", async () => {
  for await (const { picture, table, section, random } of cases()) {
    const { columns } = table;
    const at = run(table.countAt(random.below(picture.length + 1)));
    const name = (row) => section.name(row);
    const compareNames = (a, b) => {
      const [[x, m], [y, n]] = [name(a), name(b)].map((text) => [text.replace(/\d*$/, ""), Number(/\d*$/.exec(text)[0] || -1)]);
      return x < y ? -1 : x > y ? 1 : m - n;
    };
    const label = (row) => section.groups[section.groupOfRow(row)].label;
    const number = (column) => [(row) => Number.isNaN(column[row]), (a, b) => column[a] - column[b]];
    const wanted = {
      name: [() => false, compareNames],
      location: [() => false, (a, b) => (label(a) < label(b) ? -1 : label(a) > label(b) ? 1 : 0)],
      state: [(row) => at.state[row] < 0, (a, b) => STATE_RANK.indexOf(TASK_STATES[at.state[a]].role) - STATE_RANK.indexOf(TASK_STATES[at.state[b]].role)],
      parent: [(row) => columns.parent[row] < 0, (a, b) => compareNames(columns.parent[a], columns.parent[b])],
      age: number(at.age), ...Object.fromEntries(["polls", "held", "longest", "waited", "ready"].map((key) => [key, number(columns[key])])),
    };
    for (const [key, [isUnknown, compare]] of Object.entries(wanted)) {
      for (const descending of [false, true]) {
        const all = Array.from({ length: table.n }, (_, row) => row);
        const known = all.filter((row) => !isUnknown(row)).sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
        assert.deepEqual([...run(table.sorted(key, descending, at))], [...known, ...all.filter(isUnknown)], key);
      }
    }
  }
});

test("filtered by text", async () => {
  let some = 0;
  for await (const { picture, table, section, random } of cases()) {
    const at = run(table.countAt(picture.length));
    const order = run(table.sorted("held", true, at));
    for (const text of ["", "  ", "TASK-1", "place_1", "completed", "place_2 task", "waiting place_1", "no such thing", `${random.below(30)}`, "zeile <&>"]) {
      const words = text.toLowerCase().split(" ").filter(Boolean);
      const wanted = [...order].filter((row) => {
        const parts = [section.name(row), section.groups[section.groupOfRow(row)].label, at.state[row] < 0 ? "" : TASK_STATES[at.state[row]].name];
        return words.every((word) => parts.some((part) => part.toLowerCase().includes(word)));
      });
      assert.deepEqual([...run(table.matching(order, text, at))], wanted, text);
      if (wanted.length > 0 && wanted.length < table.n) some++;
    }
    assert.deepEqual([...run(table.matching(order, "", at, (row) => row % 3 === 0))], [...order].filter((row) => row % 3 === 0));
  }
  assert.ok(some > 20);
});

test("waiting split by line counts the same", async () => {
  const picture = pictureOf(2, SIZES[2]);
  const model = await modelOf(picture, 300);
  const [, section] = model.sections;
  const table = new TaskTable(model);
  run(table.countColumns());
  const before = table.columns.waited;
  section.awaits = { places: [{ label: "a", functions: [{}] }], lines: [] };
  splitWaiting(section, true);
  run(table.countColumns());
  assert.deepEqual(table.columns.waited, before);
  assert.ok(before.some((ns) => ns > 0));
});

/**
 * Computes the spawn tree naively: the place of each task is the list of the locations above it, with repetitions removed.
 */
function naiveTree(picture) {
  const { groups } = picture.sections[1];
  const all = groups.flatMap(({ lanes }, group) => lanes.flat().map((row) => ({ row, group })));
  const groupOf = new Map(all.map(({ row, group }) => [row, group]));
  return all.map(({ row }) => {
    const path = [];
    for (let at = row; at; at = at.parent) if (path[0] !== groupOf.get(at)) path.unshift(groupOf.get(at));
    return path.join(">");
  });
}

test("the spawn tree", async () => {
  let deepest = 0, again = 0;
  for await (const { picture, table, section } of cases(16)) {
    const tree = new SpawnTree(table);
    run(tree.build());
    const paths = naiveTree(picture);
    const all = picture.sections[1].groups.flatMap(({ lanes }) => lanes.flat());
    const pathOf = (node) => (tree.nodes[node].up < 0 ? "" : `${pathOf(tree.nodes[node].up)}>`) + tree.nodes[node].group;
    assert.deepEqual([...tree.nodeOf].map(pathOf), paths);
    assert.equal(tree.nodes.length, new Set(paths).size);
    tree.nodes.forEach((node, index) => {
      const path = pathOf(index);
      const rows = [...paths.keys()].filter((row) => paths[row] === path);
      const under = paths.filter((other) => other === path || other.startsWith(`${path}>`));
      assert.equal(node.tasks, rows.length);
      assert.equal(node.below, under.length);
      assert.equal(node.again, rows.filter((row) => all[row].parent && paths[all.indexOf(all[row].parent)] === path).length);
      assert.equal(node.alive, rows.filter((row) => all[row].transitions.at(-1).state !== 3).length);
      assert.equal(node.polls, rows.reduce((sum, row) => sum + table.columns.polls[row], 0));
      assert.equal(node.held, rows.reduce((sum, row) => sum + table.columns.held[row], 0));
      deepest = Math.max(deepest, path.split(">").length);
      again += node.again;
    });
    const lines = tree.lines(() => true, (a, b) => tree.nodes[b].below - tree.nodes[a].below || a - b);
    assert.deepEqual(lines.map(({ node }) => node).sort((a, b) => a - b), [...tree.nodes.keys()]);
    const stack = [];
    for (const { node, level, isParent, place, of } of lines) {
      stack.length = level;
      stack[level - 1] = node;
      assert.equal(tree.nodes[node].up, level === 1 ? -1 : stack[level - 2], "below what it stands below");
      const siblings = tree.under(tree.nodes[node].up).map((other) => tree.nodes[other].below).sort((a, b) => b - a);
      assert.deepEqual([of, tree.nodes[node].below], [siblings.length, siblings[place - 1]]);
      assert.equal(isParent, tree.under(node).length > 0);
    }
    assert.deepEqual(tree.lines(() => false, (a, b) => a - b).map(({ node }) => node), [...tree.under(-1)].sort((a, b) => a - b));
    assert.equal(section.nRows, paths.length);
  }
  assert.ok(deepest > 2 && again > 3, `${deepest} ${again}`);
});

test("data with circular parents has a tree, too", async () => {
  const model = await modelOf(pictureOf(0, SIZES[0]), 300);
  const [, section] = model.sections;
  for (let row = 0; row < section.nRows; row++) section.parent[row] = (row + 1) % section.nRows;
  section.parent[0] = 0;
  const table = new TaskTable(model);
  run(table.countColumns());
  const tree = new SpawnTree(table);
  run(tree.build());
  assert.equal(tree.nodes.reduce((sum, { tasks }) => sum + tasks, 0), section.nRows);
  assert.ok([...tree.nodeOf].every((node) => node >= 0));
});

test("a hundred thousand generations are one place of the tree", async () => {
  const model = await modelOf(pictureOf(0, SIZES[0]), 300);
  const [, section] = model.sections;
  const n = 100_000;
  section.nRows = n;
  section.parent = Int32Array.from({ length: n }, (_, row) => n - row === 1 ? -1 : row + 1);
  section.rowFirst = new Uint32Array(n + 1);
  section.rowLane = new Uint32Array(n);
  section.namePrefix = new Uint32Array(n).fill(1);
  section.nameNumber = Float64Array.from({ length: n }, (_, row) => row);
  const table = new TaskTable(model);
  run(table.countColumns());
  const tree = new SpawnTree(table);
  run(tree.build());
  assert.deepEqual([tree.nodes.length, tree.nodes[0].tasks, tree.nodes[0].again], [1, n, n - 1]);
});

test("a count that is interrupted by replaced states starts again", async () => {
  const model = await modelOf(pictureOf(2, SIZES[2]), 300);
  const [, section] = model.sections;
  const table = new TaskTable(model);
  run(table.countColumns());
  const list = new TaskList(table);
  const wanted = { moment: model.lengthNs, key: "state", isDescending: false, text: "" };
  run(list.find(wanted));
  const before = [...list.found];
  // The states are others than before, and in another order.
  section.setStates(section.states.toReversed());
  for (let i = 0; i < section.nTransitions; i++) section.state[i] = section.states.length - 1 - section.state[i];
  list.changeStates();
  list.find({ ...wanted, text: "e" }).next();
  run(list.find(wanted));
  assert.deepEqual([...list.at.state], [...run(table.countAt(model.lengthNs)).state]);
  assert.notDeepEqual([...list.at.state].every((state) => state < 0), true);
  // They are replaced during the count.
  const steps = list.find({ ...wanted, moment: model.lengthNs - 1 });
  steps.next();
  list.changeStates();
  run(steps);
  const { at } = list;
  run(list.find({ ...wanted, moment: model.lengthNs - 1 }));
  assert.notEqual(list.at, at);
  assert.equal(before.length, list.found.length);
});
