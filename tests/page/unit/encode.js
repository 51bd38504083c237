// A small encoder of the page's data: makes meta, tail and chunks from plain objects, for tests.
//
// A section is {title, kind, states: [{name, colour, role}], hasWorkers, hasTags, hasWakers, tags, indices, events, prefixes, run,
// groups: [{label, lanes: [[row, …], …]}]}, a row {name, parent, root, description, transitions}, a transition
// {time, state, worker (null: none), handed (ns), tag (index), waker (a row, or a code below 5)}.

import { deflateRawSync } from "node:zlib";

/** Bytes that grow. */
export class Bytes {
  constructor() {
    this.bytes = [];
  }

  varint(value) {
    let rest = BigInt(value);
    for (; rest > 127n; rest >>= 7n) this.bytes.push(Number(rest & 127n) | 128);
    this.bytes.push(Number(rest));
  }

  text(text) {
    const bytes = new TextEncoder().encode(text);
    this.varint(bytes.length);
    for (const byte of bytes) this.bytes.push(byte);
  }

  append(other) {
    for (const byte of other.bytes) this.bytes.push(byte);
  }
}

/**
 * Encodes a picture {length, long, readyKnown, gaps, verdict, runs, sections}. A chunk ends after so many transitions,
 * also in the middle of a row.
 */
export function encode(picture, perChunk = 1000) {
  const chunks = [];
  const meta = {
    format: 1, title: "test", host: null, runtime: null, start: [0, 0], long: 1_000_000, readyKnown: true,
    tasksKnown: true, verdict: null, notes: [], gaps: [], ...picture, sections: [],
    runs: picture.runs ?? [{ name: "", long: picture.long ?? 1_000_000, queue: null }],
  };
  const tail = { chunks: 0, sections: [] };
  picture.sections.forEach((section, index) => {
    const rows = section.groups.flatMap((group) => group.lanes.flat());
    meta.sections.push({
      title: section.title ?? "", kind: section.kind, states: section.states,
      groups: section.groups.map(({ label, lanes }) => ({ label, lanes: lanes.length, rows: lanes.flat().length })),
      indices: section.indices, tags: section.tags ?? [], hasWorkers: section.hasWorkers ?? false,
      hasTags: section.hasTags ?? false, hasWakers: section.hasWakers ?? false, events: section.events ?? [], why: section.why ?? null,
      issues: section.issues ?? null, run: section.run ?? 0,
      awaits: section.awaits ?? null, profile: section.profile ?? null,
    });
    tail.sections.push({
      rows: rows.length,
      transitions: rows.reduce((sum, row) => sum + row.transitions.length, 0),
      prefixes: section.prefixes ?? ["task-", "worker-"],
    });
    for (const pieces of chunked(section, perChunk)) {
      chunks.push(pack(chunkBytes(index, section, pieces, tail.sections[index].prefixes, rows)));
    }
  });
  tail.chunks = chunks.length;
  return { meta, tail, chunks };
}

/** Encodes deflated bytes as they stand in the page. */
export function pack(bytes) {
  return deflateRawSync(Uint8Array.from(bytes), { level: 1 }).toString("base64");
}

function* chunked(section, perChunk) {
  let pieces = [], room = perChunk;
  for (const group of section.groups) {
    for (const lane of group.lanes) {
      for (const [place, row] of lane.entries()) {
        let from = 0;
        do {
          const to = Math.min(row.transitions.length, from + room);
          pieces.push({ row, from, to, isNewRow: from === 0, isNewLane: from === 0 && place === 0 });
          room -= to - from;
          from = to;
          if (room === 0) {
            yield pieces;
            pieces = [];
            room = perChunk;
          }
        } while (from < row.transitions.length);
      }
    }
  }
  if (pieces.length) yield pieces;
}

function chunkBytes(index, section, pieces, prefixes, rows) {
  const columns = Array.from({ length: 6 }, () => new Bytes());
  const [rowColumn, times, states, workers, tags, wakers] = columns;
  const running = section.states.map(({ role }) => role === "running");
  for (const { row, from, to, isNewRow, isNewLane } of pieces) {
    rowColumn.varint((isNewRow ? 1 : 0) | (isNewLane ? 2 : 0) | (isNewRow && row.description ? 4 : 0) | (row.root ? 8 : 0));
    rowColumn.varint(to - from);
    if (isNewRow) {
      writeName(rowColumn, row.name, prefixes);
      rowColumn.varint(row.parent ? rows.indexOf(row.parent) + 1 : 0);
      if (row.description) rowColumn.text(row.description);
    }
    let before = 0;
    for (const { time, state, worker, handed, tag, waker = 0 } of row.transitions.slice(from, to)) {
      times.varint(time - before);
      before = time;
      states.varint(state);
      if (section.hasWorkers && running[state]) {
        const isHanded = handed !== undefined;
        workers.varint(2 * ((worker ?? -1) + 1) + (isHanded ? 1 : 0));
        if (isHanded) workers.varint(handed);
      }
      if (section.hasTags) tags.varint(tag === undefined ? 0 : tag + 1);
      if (section.hasWakers && running[state]) wakers.varint(typeof waker === "number" ? waker : 5 + rows.indexOf(waker));
    }
  }
  const chunk = new Bytes();
  chunk.varint(index);
  chunk.varint(pieces.length);
  for (const column of columns) chunk.varint(column.bytes.length);
  for (const column of columns) chunk.append(column);
  return chunk.bytes;
}

function writeName(column, name, prefixes) {
  const prefix = prefixes.findIndex((prefix) => name.startsWith(prefix) && /^(0|[1-9]\d*)$/.test(name.slice(prefix.length)));
  column.varint(prefix + 1);
  if (prefix < 0) column.text(name);
  else column.varint(name.slice(prefixes[prefix].length));
}
