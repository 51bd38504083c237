// Builds a flame graph: the samples, summed by call stack.

/**
 * @typedef {import("./frames.js").StackFrame} StackFrame
 * @typedef {{
 *   name: string, file: string|null, line: number, origin: string, ns: number, samples: number, within: FlameNode|null,
 *   calls: FlameNode[],
 * }} FlameNode `line`: the line with the longest time, 0 if unknown; `calls`: the longest first
 */

/** Stands for the unknown callers of the outermost frame that could be read. */
const UNKNOWN = { name: "(unknown caller)", file: null, line: 0, origin: "unknown" };

/**
 * Sums all samples of some polls. A sample stands for the time since the one before it.
 * @param {{why: import("./why.js").Why, polls: import("./why.js").WhyPoll[]}[]} parts
 * @returns {FlameNode} the root, which isn't a function
 */
export function buildFlame(parts) {
  const root = newNode({ name: "all", file: null, line: 0, origin: "all" }, null);
  for (const { why, polls } of parts) {
    for (const { samples } of polls) {
      let before = 0;
      for (const sample of samples) {
        addSample(root, why.calls, sample, Math.max(0, sample.after - before));
        before = sample.after;
      }
    }
  }
  finish(root);
  return root;
}

function newNode({ name, file, line, origin }, within) {
  return { name, file, line, origin, ns: 0, samples: 0, within, calls: [], lines: new Map(), byKey: new Map() };
}

function addSample(root, calls, { blockedIn, call }, ns) {
  const path = [];
  for (let at = call; at > 0 && path.length <= calls.length; at = calls[at - 1][1]) path.push(calls[at - 1][0] ?? UNKNOWN);
  path.reverse();
  // The number of a pipe or socket isn't part of the name.
  if (blockedIn !== null) path.push({ name: blockedIn.replace(/:\[\d+\]$/, ""), file: null, line: 0, origin: "blocked" });
  let node = root;
  add(node, 0, ns);
  for (const frame of path) {
    // A computing function is at another line in each sample.
    const key = `${frame.origin}\n${frame.file}\n${frame.name}`;
    let next = node.byKey.get(key);
    if (next === undefined) {
      next = newNode(frame, node);
      node.byKey.set(key, next);
      node.calls.push(next);
    }
    node = next;
    add(node, frame.line, ns);
  }
}

function add(node, line, ns) {
  node.ns += ns;
  node.samples++;
  node.lines.set(line, (node.lines.get(line) ?? 0) + ns);
}

function finish(node) {
  let most = -1;
  for (const [line, ns] of node.lines) {
    if (ns > most) [node.line, most] = [line, ns];
  }
  delete node.lines;
  delete node.byKey;
  node.calls.sort((a, b) => b.ns - a.ns || (a.name < b.name ? -1 : 1));
  node.calls.forEach(finish);
}

/**
 * Returns the boxes of a flame graph in which `shown` has the full width, and so do its callers above it.
 * @param {FlameNode} shown
 * @param {number} least the least width of a box, as a share
 * @returns {{node: FlameNode, depth: number, left: number, width: number}[]} as shares of the width; the root has no box
 */
export function layOutFlame(shown, least) {
  const boxes = [];
  const above = [];
  for (let node = shown.within; node !== null && node.within !== null; node = node.within) above.unshift(node);
  above.forEach((node, depth) => boxes.push({ node, depth, left: 0, width: 1 }));
  const place = (node, depth, left, width) => {
    if (width < least) return;
    if (node.within !== null) boxes.push({ node, depth, left, width });
    let at = left;
    for (const call of node.calls) {
      const share = node.ns > 0 ? (width * call.ns) / node.ns : width / node.calls.length;
      place(call, node.within === null ? depth : depth + 1, at, share);
      at += share;
    }
  };
  place(shown, above.length, 0, 1);
  return boxes;
}
