// Random pictures for tests, from a seed: tasks that workers poll, without two polls on one worker at once.

import { encode } from "./encode.js";
import { load } from "../../../tokio-statemap/src/render/html/page/data/decode.js";
import { buildCumulative } from "../../../tokio-statemap/src/render/html/page/model/lanes.js";
import { findAwaits } from "../../../tokio-statemap/src/render/html/page/model/awaits.js";
import { findWhy } from "../../../tokio-statemap/src/render/html/page/model/why.js";
import { buildWorkerPolls } from "../../../tokio-statemap/src/render/html/page/model/worker_polls.js";

export const TASK_STATES = ["spawned", "running", "waiting", "completed", "ready"].map((role) => ({ name: role, colour: "#123456", role }));
export const WORKER_STATES = ["awake", "parked", "stopped"].map((role) => ({ name: role, colour: null, role }));
const [SPAWNED, RUNNING, WAITING, COMPLETED, READY] = [0, 1, 2, 3, 4];

/** The state of a worker that a poll holds to the end. */
const FOR_EVER = Infinity;

/** Pseudorandom numbers from a seed (mulberry32). */
export function randomOf(seed) {
  const next = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  /** Returns an integer below `n`. */
  next.below = (n) => Math.floor(next() * n);
  return next;
}

/** Returns a picture of up to `tasks` tasks with up to `polls` polls each on `workers` workers. */
export function randomPicture(seed, { tasks = 20, polls = 12, workers = 3, step = 1000, perLane = 3 } = {}) {
  const random = randomOf(seed);
  // The times from which each worker is free; the last entry is a thread that isn't a worker.
  const free = new Array(workers + 1).fill(0);
  const groups = [];
  let number = 1, latest = 0;
  const all = [];
  for (let g = 1 + random.below(4); g > 0; g--) {
    const lanes = [];
    for (let l = random.below(Math.ceil(tasks / 4) + 1); l >= 0; l--) {
      const lane = [];
      let now = random.below(step * 4);
      for (let r = 1 + random.below(perLane); r > 0; r--) {
        const isLast = r === 1;
        const row = randomRow(random, now, free, { polls, step, isLast });
        row.name = random() < 0.1 ? `Zeile ${number} <&>` : `task-${number}`;
        number += 1 + random.below(5);
        row.parent = all.length && random() < 0.5 ? all[random.below(all.length)] : null;
        row.root = random() < 0.05;
        if (random() < 0.1) row.description = `describes ${number}`;
        all.push(row);
        lane.push(row);
        now = row.transitions.at(-1).time + random.below(2) * random.below(step);
        latest = Math.max(latest, now);
      }
      lanes.push(lane);
    }
    groups.push({ label: `src/place_${g}.rs:${g}:1`, lanes });
  }
  for (const { transitions } of all) {
    for (const poll of transitions) {
      if (poll.state === RUNNING) poll.waker = random() < 0.5 ? random.below(5) : all[random.below(all.length)];
    }
  }
  const length = Math.max(latest, ...free.filter((t) => t !== FOR_EVER)) + random.below(step);
  const order = Array.from({ length: workers }, (_, index) => index).reverse();
  const workerRows = order.map((index) => ({
    name: `worker-${index}`,
    transitions: [{ time: 0, state: 0 }, { time: Math.floor(length / 3), state: 1 }, { time: Math.floor(length / 2), state: 0 }],
  }));
  return {
    length, long: step,
    sections: [
      { kind: "workers", states: WORKER_STATES, indices: order, groups: [{ label: "workers", lanes: workerRows.map((row) => [row]) }] },
      { kind: "tasks", states: TASK_STATES, hasWorkers: true, hasTags: true, hasWakers: true, tags: [{ state: 1, tag: "a", fields: [] }], groups },
    ],
  };
}

function randomRow(random, begin, free, { polls, step, isLast }) {
  const transitions = [{ time: begin, state: SPAWNED }];
  let now = begin;
  const n = random.below(polls + 1);
  for (let k = 0; k < n; k++) {
    if (k > 0 && random() < 0.8) transitions.push({ time: (now += random.below(step)), state: READY });
    let thread = random.below(free.length);
    if (free[thread] === FOR_EVER) thread = free.length - 1;
    now = Math.max(now, free[thread]) + random.below(2) * random.below(step);
    const length = random() < 0.1 ? 0 : random() < 0.1 ? random.below(step * 20) : random.below(step);
    const poll = { time: now, state: RUNNING, worker: thread === free.length - 1 ? null : thread, tag: random() < 0.5 ? 0 : undefined };
    if (random() < 0.1 && poll.worker !== null) poll.handed = random.below(length + 1);
    if (poll.worker !== null) free[thread] = now + (poll.handed ?? length);
    transitions.push(poll);
    now += length;
    const isOpen = isLast && k === n - 1 && random() < 0.1;
    if (isOpen) {
      delete poll.handed;
      if (poll.worker !== null) free[thread] = FOR_EVER;
      return { transitions };
    }
    // A task completes at the end of its last poll, or while it waits.
    const completes = k === n - 1 && random() < 0.5;
    transitions.push({ time: now, state: completes ? COMPLETED : WAITING });
    if (completes) return { transitions };
  }
  if (!isLast || random() < 0.7) transitions.push({ time: now + random.below(step), state: COMPLETED });
  return { transitions };
}

/** Returns the loaded model of a picture. */
export async function modelOf(picture, perChunk = 37) {
  const { meta, tail, chunks } = encode(picture, perChunk);
  const model = await load(meta, tail, chunks);
  model.sections.forEach(buildCumulative);
  buildWorkerPolls(model);
  model.sections.forEach(findWhy);
  model.sections.forEach(findAwaits);
  return model;
}

const keptPictures = new Map(), keptSpans = new WeakMap();

/** Returns a `randomPicture` that all tests of a file share: none of them changes it. */
export function pictureOf(seed, size) {
  const key = `${seed} ${JSON.stringify(size)}`;
  if (!keptPictures.has(key)) keptPictures.set(key, randomPicture(seed, size));
  return keptPictures.get(key);
}

/** Returns the spans of a section as plain objects, in order, for the naive answers. */
export function spansOf(picture, index) {
  if (!keptSpans.has(picture)) keptSpans.set(picture, []);
  return (keptSpans.get(picture)[index] ??= buildSpans(picture.sections[index], picture.length));
}

function buildSpans(section, length) {
  const spans = [];
  let lane = -1, row = -1, transition = -1;
  section.groups.forEach((group, groupIndex) => {
    for (const rows of group.lanes) {
      lane++;
      const flat = rows.flatMap((r) => r.transitions.map((t, place) => ({ ...t, r, place })));
      let before = null;
      flat.forEach((t, k) => {
        if (t.r !== before) row++;
        before = t.r;
        transition++;
        const end = k + 1 < flat.length ? flat[k + 1].time : length;
        const isRun = section.states[t.state].role === "running";
        const held = isRun ? Math.min(t.handed ?? Infinity, end - t.time) : null;
        spans.push({ transition, row, lane, group: groupIndex, start: t.time, end, state: t.state, role: section.states[t.state].role,
          worker: isRun ? (t.worker ?? null) : null, held, handed: t.handed !== undefined, root: Boolean(t.r.root),
          isFirst: t.place === 0, isLast: t.place === t.r.transitions.length - 1 });
      });
    }
  });
  return spans;
}

/** Groups the spans by `key`. */
export function grouped(spans, key) {
  const groups = new Map();
  for (const span of spans) {
    const group = groups.get(key(span));
    if (group) group.push(span);
    else groups.set(key(span), [span]);
  }
  return groups;
}
