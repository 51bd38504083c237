// Sorts by typed arrays of keys, in steps, so that frames can be drawn in between. The sort is stable.

/** Runs of this length are sorted by insertion, then merged. A power of two. */
const SORTED_RUN = 32;
/** The number of moves after which a step ends. */
const MOVES_A_STEP = 16384;

/**
 * Sorts `order` by `keys[order[i]]`. Equal elements keep their order. NaN stands for unknown values, which come last in
 * either direction. Each step takes a fraction of a ms.
 * @param {Uint32Array} order is sorted after the last step
 * @param {Float64Array} keys
 * @param {boolean} [descending]
 * @returns {Generator<void, void, void>}
 */
export function* sortSteps(order, keys, descending = false) {
  const n = order.length;
  let key = Float64Array.from(order, (of) => (Number.isNaN(keys[of]) ? Infinity : descending ? -keys[of] : keys[of]));
  let index = order, otherKey = new Float64Array(n), otherIndex = new Uint32Array(n);
  for (let from = 0; from < n; from += SORTED_RUN) {
    insertRun(key, index, from, Math.min(n, from + SORTED_RUN));
    if (from % MOVES_A_STEP === 0) yield;
  }
  let moves = 0;
  for (let width = SORTED_RUN; width < n; width *= 2) {
    for (let from = 0; from < n; from += 2 * width) {
      const middle = Math.min(n, from + width), end = Math.min(n, from + 2 * width);
      for (let to = from, a = from, b = middle; to < end; to++) {
        const next = b >= end || (a < middle && key[a] <= key[b]) ? a++ : b++;
        otherKey[to] = key[next];
        otherIndex[to] = index[next];
        if (++moves === MOVES_A_STEP) {
          moves = 0;
          yield;
        }
      }
    }
    [key, otherKey] = [otherKey, key];
    [index, otherIndex] = [otherIndex, index];
  }
  if (index !== order) order.set(index);
}

function insertRun(key, index, from, to) {
  for (let i = from + 1; i < to; i++) {
    const k = key[i], at = index[i];
    let hole = i;
    for (; hole > from && key[hole - 1] > k; hole--) {
      key[hole] = key[hole - 1];
      index[hole] = index[hole - 1];
    }
    key[hole] = k;
    index[hole] = at;
  }
}
