// Summarizes lengths as the report does: the median, the 99th percentile, and the number of each size.

/** @typedef {{p50: number, p99: number, steps: [number, number][]}} Lengths `steps`: upper bounds in ns, and the number up to each */

/**
 * @param {number[]} lengths in ns
 * @returns {Lengths|null} null if there are none
 */
export function lengthsOf(lengths) {
  if (lengths.length === 0) return null;
  const sorted = [...lengths].sort((a, b) => a - b);
  const at = (percent) => sorted[Math.ceil((sorted.length * percent) / 100) - 1];
  const steps = new Map();
  for (const length of sorted) {
    const bound = boundOf(length);
    steps.set(bound, (steps.get(bound) ?? 0) + 1);
  }
  const bounds = [];
  const last = boundOf(sorted[sorted.length - 1]);
  for (let bound = boundOf(sorted[0]); bound <= last; bound = nextBound(bound)) bounds.push(bound);
  return { p50: at(50), p99: at(99), steps: bounds.map((bound) => [bound, steps.get(bound) ?? 0]) };
}

/** Returns the first of 1, 2, 5, 10 … that a length doesn't exceed. */
function boundOf(length) {
  let bound = 1;
  while (bound < length) bound = nextBound(bound);
  return bound;
}

function nextBound(bound) {
  return String(bound).startsWith("2") ? (bound / 2) * 5 : bound * 2;
}
