// Decoded data equals the encoded data, whatever the chunks; damaged data is refused with a sentence.

import assert from "node:assert/strict";
import test from "node:test";

import { decodeBase64, decodeByAtob } from "../../../tokio-statemap/src/render/html/page/data/base64.js";
import { load } from "../../../tokio-statemap/src/render/html/page/data/decode.js";
import { canInflate } from "../../../tokio-statemap/src/render/html/page/data/inflate.js";
import { encode, pack } from "./encode.js";
import { TASK_STATES, modelOf, randomOf, randomPicture } from "./random.js";

/** Returns the model as plain objects, as the encoder takes them. */
function plain(section, rows) {
  return rows.map((_, row) => {
    const transitions = [];
    for (let i = section.rowFirst[row]; i < section.rowFirst[row + 1]; i++) {
      const t = { time: section.time[i], state: section.state[i] };
      if (section.worker && section.isRunning[t.state]) t.worker = section.worker[i] ? section.worker[i] - 1 : null;
      const handed = section.handed.at.indexOf(i);
      if (handed >= 0) t.handed = section.handed.ns[handed];
      if (section.tag?.[i]) t.tag = section.tag[i] - 1;
      if (section.waker?.[i]) t.waker = section.waker[i];
      transitions.push(t);
    }
    return { name: section.name(row), root: section.isRoot[row] === 1, parent: section.parent[row], description: section.description(row),
      lane: section.rowLane[row], group: section.laneGroup[section.rowLane[row]], transitions };
  });
}

function wanted(section) {
  const rows = section.groups.flatMap((group) => group.lanes.flat());
  let lane = -1;
  return section.groups.flatMap((group, g) => group.lanes.flatMap((lanes) => {
    lane++;
    return lanes.map((row) => ({
      name: row.name, root: Boolean(row.root), parent: row.parent ? rows.indexOf(row.parent) : -1, description: row.description ?? null,
      lane, group: g,
      transitions: row.transitions.map(({ time, state, worker, handed, tag, waker }) => {
        const t = { time, state };
        if (section.hasWorkers && section.states[state].role === "running") t.worker = worker ?? null;
        if (handed !== undefined) t.handed = handed;
        if (tag !== undefined) t.tag = tag;
        if (waker) t.waker = typeof waker === "number" ? waker : 5 + rows.indexOf(waker);
        return t;
      }),
    }));
  }));
}

test("random pictures are decoded as encoded, in chunks of any size", async () => {
  for (let seed = 0; seed < 60; seed++) {
    const picture = randomPicture(seed);
    const model = await modelOf(picture, [1, 2, 7, 1000, 100000][seed % 5]);
    picture.sections.forEach((section, index) => {
      const rows = wanted(section);
      assert.deepEqual(plain(model.sections[index], rows), rows, `seed ${seed}`);
      assert.equal(model.sections[index].nRows, rows.length);
    });
  }
});

test("large numbers, many states and hostile names are decoded", async () => {
  const states = Array.from({ length: 300 }, (_, i) => ({ name: `s${i}`, colour: null, role: "other" }));
  const names = ["task-18446744073709551615", "task-9007199254740993", "task-007", "task-0", "</script>\u202e", "x".repeat(10000), "", "\ufeffbom"];
  const far = 9_007_199_254_740_000;
  const lanes = names.map((name, i) => [{ name, transitions: [{ time: 0, state: 299 - i }, { time: 300, state: 128 }, { time: far + i, state: 1 }] }]);
  const model = await modelOf({ length: far + 10, sections: [{ kind: "other", states, groups: [{ label: "", lanes }] }] });
  const [section] = model.sections;
  assert.deepEqual(names.map((_, row) => section.name(row)), names);
  assert.equal(section.time[section.rowFirst[2] + 2], far + 2);
  assert.equal(section.state[0], 299);
});

test("a worker past 255, and rows without transitions", async () => {
  const rows = [[{ name: "a", transitions: [] }], [{ name: "b", transitions: [{ time: 1, state: 1, worker: 3 }, { time: 2, state: 2 }, { time: 3, state: 1, worker: 60000 }] }], [{ name: "c", transitions: [] }]];
  const { sections: [section] } = await modelOf({ length: 9, sections: [{ kind: "tasks", states: TASK_STATES, hasWorkers: true, groups: [{ label: "", lanes: rows }, { label: "none", lanes: [] }] }] });
  assert.deepEqual([...section.worker], [4, 0, 60001]);
  assert.deepEqual([section.rowBegin(0), section.rowEnd(0), section.rowBegin(1), section.rowEnd(1)], [9, 9, 1, 9]);
  assert.equal(section.rowOf(0), 1);
  assert.equal(section.endOf(2), 9);
});

test("progress rises to 1", async () => {
  const { meta, tail, chunks } = encode(randomPicture(1), 10);
  const shares = [];
  await load(meta, tail, (async function* () { yield* chunks; })(), (share) => shares.push(share));
  assert.equal(shares.length, chunks.length);
  assert.equal(shares.at(-1), 1);
  assert.deepEqual(shares, shares.toSorted((a, b) => a - b));
});

test("an empty picture loads", async () => {
  const model = await modelOf({ length: 0, sections: [] });
  assert.deepEqual(model.sections, []);
  await modelOf({ length: 5, sections: [{ kind: "tasks", states: TASK_STATES, groups: [] }] });
});

test("base64 equals that of Node", () => {
  const random = randomOf(1);
  for (let n = 0; n < 200; n++) {
    const bytes = Uint8Array.from({ length: n }, () => random.below(256));
    const text = Buffer.from(bytes).toString("base64");
    assert.deepEqual(decodeByAtob(text), bytes);
    assert.deepEqual(decodeBase64(text), bytes);
  }
  for (const text of ["A", "AAA", "AA=A", "====", "AA\u0141A", "AA A", "A===", "AAA\n", "AA==AAAA", "AA-_", "\u20acAAA"]) {
    assert.throws(() => decodeBase64(text), /isn't base64/, text);
  }
});

const DAMAGED = /^The page's data is damaged: .+\.$/;

test("damaged data is refused with a sentence", async () => {
  const good = () => structuredClone(encode(randomPicture(3), 50));
  const damage = {
    "no chunks": (data) => (data.chunks = []),
    "one less": (data) => data.chunks.pop(),
    "one twice": (data) => data.chunks.push(data.chunks.at(-1)),
    "swapped": (data) => data.chunks.reverse(),
    "not base64": (data) => (data.chunks[1] = "?" + data.chunks[1].slice(1)),
    "cut base64": (data) => (data.chunks[1] = data.chunks[1].slice(0, 8)),
    "cut deflate": (data) => (data.chunks[1] = Buffer.from(data.chunks[1], "base64").subarray(0, -6).toString("base64")),
    "empty chunk": (data) => (data.chunks[1] = ""),
    "more transitions": (data) => data.tail.sections[1].transitions++,
    "fewer transitions": (data) => data.tail.sections[1].transitions--,
    "more rows": (data) => data.tail.sections[1].rows++,
    "too many": (data) => (data.tail.sections[1].transitions = 1e15),
    "negative": (data) => (data.tail.sections[1].rows = -1),
    "no tail": (data) => (data.tail = null),
    "no prefixes": (data) => (data.tail.sections[1].prefixes = []),
    "length": (data) => (data.meta.length = 10),
    "no length": (data) => (data.meta.length = "10"),
    "states": (data) => data.meta.sections[1].states.splice(2),
    "lanes": (data) => data.meta.sections[1].groups[0].lanes++,
    "group's rows": (data) => { data.meta.sections[1].groups[0].rows++; data.meta.sections[1].groups[1].rows--; },
    "workers": (data) => (data.meta.sections[1].hasWorkers = false),
    "tags": (data) => (data.meta.sections[1].tags = []),
  };
  for (const [what, change] of Object.entries(damage)) {
    const data = good();
    change(data);
    await assert.rejects(load(data.meta, data.tail, data.chunks), { message: DAMAGED }, what);
  }
  await assert.rejects(load({ ...good().meta, format: 2 }, {}, []), /another version/);
});

test("any flipped or cut byte of a chunk ends in a model or a sentence", async () => {
  const random = randomOf(7);
  const { meta, tail, chunks } = encode(randomPicture(5), 100000);
  const { inflateRawSync } = await import("node:zlib");
  const bytes = inflateRawSync(Buffer.from(chunks[1], "base64"));
  for (let n = 0; n < 1000; n++) {
    let changed = Uint8Array.from(bytes);
    for (let k = random.below(3); k >= 0; k--) changed[random.below(changed.length)] = random() < 0.3 ? 255 : random.below(256);
    if (n % 5 === 0) changed = changed.subarray(0, random.below(changed.length));
    try {
      await load(meta, tail, [chunks[0], pack(changed)]);
    } catch (error) {
      assert.match(error.message, DAMAGED);
    }
  }
});

test("a chunk that inflates without end is cut off", async () => {
  const { meta, tail, chunks } = encode(randomPicture(3), 100000);
  await assert.rejects(load(meta, tail, [pack(new Uint8Array(2 ** 28 + 1)), ...chunks]), /too large/);
});

test("a lane that goes back in time is refused", async () => {
  const row = (...times) => ({ name: "task-1", transitions: times.map((time) => ({ time, state: 2 })) });
  const load = (lanes, perChunk) => modelOf({ length: 9, sections: [{ kind: "tasks", states: TASK_STATES, groups: [{ label: "", lanes }] }] }, perChunk);
  await assert.rejects(load([[row(3, 4), row(2)]]), /back in time/);
  await assert.rejects(load([[row(3, 2)]], 1), /back in time/);
  await load([[row(3, 4), row(4)], [row(2)]], 1);
});

test("times beyond the exact range of doubles come in larger units, and none is rounded", async () => {
  const row = { name: "task-1", transitions: [{ time: 0, state: 0 }, { time: 3, state: 1, worker: 0, handed: 5 }, { time: 2 ** 53 - 1, state: 2 }] };
  const picture = { unit: 2 ** 11, length: (2 ** 53 - 1) * 2 ** 11, sections: [{ kind: "tasks", states: TASK_STATES, hasWorkers: true, groups: [{ label: "", lanes: [[row]] }] }] };
  const model = await modelOf(picture);
  const [section] = model.sections;
  assert.deepEqual([...section.time], [0, 3 * 2 ** 11, model.lengthNs]);
  assert.deepEqual([...section.handed.ns], [5 * 2 ** 11]);
  for (const unit of [0, -1, 0.5, 2 ** 12, "1"]) {
    await assert.rejects(modelOf({ ...picture, unit }), /damaged/);
  }
});

test("a browser that can't inflate the format is detected in advance", () => {
  const real = globalThis.DecompressionStream;
  // Chrome 80 to 102 has the class, but not this format.
  const old = class {
    constructor(format) {
      if (format === "deflate-raw") throw new TypeError(`Unsupported compression format: '${format}'`);
    }
  };
  try {
    assert.equal(canInflate(), true);
    for (const found of [old, undefined]) {
      globalThis.DecompressionStream = found;
      assert.equal(canInflate(), false);
    }
  } finally {
    globalThis.DecompressionStream = real;
  }
});
