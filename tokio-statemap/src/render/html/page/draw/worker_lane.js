import { lastNotAfter } from "../data/section.js";
import { heldNs } from "../model/polls.js";

// The polls on a worker's lane, as the share of each pixel for which they held the worker.

/** The number of polls per pixel up to which all of them are looked at. */
const SPARSE = 8;
/** The number from which interpolating between the sums at every 32nd poll is exact enough. */
const DENSE = 256;
const BLOCK_SHIFT = 5;

/**
 * Returns the start of every 32nd poll of a worker: searching these is faster than searching the polls, which are spread in
 * memory.
 */
const blockStarts = (section, rowPolls) => {
  if (rowPolls.blockStart === undefined) {
    const blocks = Math.ceil(rowPolls.poll.length / (1 << BLOCK_SHIFT));
    rowPolls.blockStart = new Float64Array(blocks);
    for (let b = 0; b < blocks; b++) rowPolls.blockStart[b] = section.time[rowPolls.poll[b << BLOCK_SHIFT]];
  }
  return rowPolls.blockStart;
};

/** Returns the last poll that begins not after `t`; −1 if there is none. */
export const lastPollBefore = (section, rowPolls, t) => {
  const starts = blockStarts(section, rowPolls);
  const block = lastNotAfter(starts, 0, starts.length, t);
  if (block < 0) return -1;
  const { poll } = rowPolls;
  let k = block << BLOCK_SHIFT;
  const end = Math.min(poll.length, k + (1 << BLOCK_SHIFT)) - 1;
  while (k < end && section.time[poll[k + 1]] <= t) k++;
  return k;
};

/** Fills `held` with the time in each pixel for which polls held the worker, in ns. */
export const heldColumns = (section, rowPolls, t0, t1, held) => {
  held.fill(0);
  const { poll } = rowPolls;
  if (poll.length === 0) return;
  const width = held.length;
  const from = Math.max(0, lastPollBefore(section, rowPolls, t0));
  const to = lastPollBefore(section, rowPolls, t1);
  if (to - from > DENSE * width) heldByBlocks(rowPolls, t0, t1, held);
  else if (to - from > SPARSE * width) heldByEdges(section, rowPolls, t0, t1, held);
  else for (let k = from; k <= to; k++) addPoll(section, poll[k], t0, t1, held);
};

/** Looks only at the polls around the edges of pixels, and uses the sums in between. */
const heldByEdges = (section, { poll, blockStart, cum }, t0, t1, held) => {
  const pixel = (t1 - t0) / held.length;
  let block = Math.max(0, lastNotAfter(blockStart, 0, blockStart.length, t0));
  const last = blockStart.length - 1;
  const heldUntil = (t) => {
    while (block < last && blockStart[block + 1] <= t) block++;
    let sum = cum[block];
    const end = Math.min(poll.length, (block + 1) << BLOCK_SHIFT);
    for (let k = block << BLOCK_SHIFT; k < end; k++) {
      const start = section.time[poll[k]];
      if (start >= t) break;
      sum += Math.min(heldNs(section, poll[k]), t - start);
    }
    return sum;
  };
  let before = heldUntil(t0);
  for (let x = 0; x < held.length; x++) {
    const now = heldUntil(t0 + (x + 1) * pixel);
    held[x] = now - before;
    before = now;
  }
};

const addPoll = (section, i, t0, t1, held) => {
  const pixel = (t1 - t0) / held.length;
  const start = Math.max(section.time[i], t0);
  const end = Math.min(section.time[i] + heldNs(section, i), t1);
  if (end <= start) return;
  const first = Math.min(held.length - 1, Math.floor((start - t0) / pixel));
  const last = Math.min(held.length - 1, Math.floor((end - t0) / pixel));
  if (first === last) {
    held[first] += end - start;
    return;
  }
  held[first] += t0 + (first + 1) * pixel - start;
  for (let x = first + 1; x < last; x++) held[x] = pixel;
  held[last] += Math.max(0, end - (t0 + last * pixel));
};

/** Interpolates between the sums: a pixel contains so many blocks that the error at its edges is invisible. */
const heldByBlocks = ({ blockStart, cum }, t0, t1, held) => {
  const pixel = (t1 - t0) / held.length;
  let block = Math.max(0, lastNotAfter(blockStart, 0, blockStart.length, t0));
  const last = blockStart.length - 1;
  const at = (t) => {
    while (block < last && blockStart[block + 1] <= t) block++;
    const start = blockStart[block];
    if (t <= start || block === last) return cum[block];
    return cum[block] + ((cum[block + 1] - cum[block]) * (t - start)) / (blockStart[block + 1] - start);
  };
  let before = at(t0);
  for (let x = 0; x < held.length; x++) {
    const now = at(t0 + (x + 1) * pixel);
    held[x] = Math.min(pixel, now - before);
    before = now;
  }
};

/** The number of long polls up to which they are sorted. */
const FEW = 100000;

/** Returns the long polls of each worker of a run by time: an array of transitions for each row of the workers. */
export const longOnWorkers = (all, long) => {
  const section = all.tasks;
  if (long.poll.length > FEW) {
    return all.rows.map(({ poll }) => poll.filter((i) => heldNs(section, i) > long.threshold));
  }
  const lists = all.rows.map(() => []);
  for (const i of long.poll) {
    const row = section.worker[i] === 0 ? undefined : all.rowOf.get(section.worker[i] - 1);
    if (row !== undefined) lists[row].push(i);
  }
  for (const list of lists) list.sort((a, b) => section.time[a] - section.time[b]);
  return lists;
};
