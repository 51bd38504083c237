// A flame graph: what samples show, summed by who called whom.

/**
 * @typedef {import("./frames.js").StackFrame} StackFrame
 * @typedef {{
 *   name: string, file: string|null, line: number, origin: string, ns: number, samples: number, within: FlameNode|null,
 *   calls: FlameNode[],
 * }} FlameNode `line`: where it was for longest, 0 if unknown; `calls`: the longest first
 */

/** What is told of the outermost frame that could be read where the stack goes on. */
const UNKNOWN = { name: "(what called this isn't known)", file: null, line: 0, origin: "unknown" };

/**
 * The sum of all samples of these polls. A sample stands for the time since the one before.
 * @param {{why: import("./why.js").Why, polls: import("./why.js").WhyPoll[]}[]} parts
 * @returns {FlameNode} the root, which is no function
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
  // Which pipe it was is of no use.
  if (blockedIn !== null) path.push({ name: blockedIn.replace(/:\[\d+\]$/, ""), file: null, line: 0, origin: "blocked" });
  let node = root;
  add(node, 0, ns);
  for (const frame of path) {
    // Where it computes, each sample shows another line of the same function.
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
 * Where the boxes of a flame graph are when all of its width is `shown`'s: what it is within stands above it, as wide.
 * @param {FlameNode} shown
 * @param {number} least how wide a box must be, as a share
 * @returns {{node: FlameNode, depth: number, left: number, width: number}[]} shares of the width; the root has none
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

/** How deep a flame graph is drawn; a recursion may go on for long. */
const DEEPEST = 200;

/** A flame graph as lines of text, the outermost function first; `describe(node, indent)` writes one. */
export function flameLines(node, describe, depth = 0) {
  if (depth > DEEPEST) return [];
  return node.calls.flatMap((call) => [describe(call, "  ".repeat(depth)), ...flameLines(call, describe, depth + 1)]);
}
