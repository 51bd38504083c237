import { heldNs, nextLong } from "../model/polls.js";
import { areUnblamed } from "./unblamed.js";

// Long polls: each is at least one pixel, outlined, at any zoom. Where short ones stand so densely that their outlines would
// paint all of the lane, though it was mostly idle, they are marks along its upper edge instead. What nobody is to blame for
// is barred, not filled: it looks different without any colour, too.

/** No screen is wider: a poll of hours in a view of ns ends beyond what 32 bits count. */
const FARTHEST = 1 << 24;
/** Polls narrower than that, in px, are made wider by their outlines than they are. */
const NARROW_PX = 3;
/** So many of them, each so near to the one before, stand densely. */
const DENSE_FROM = 4;
const DENSE_PX = 3;
/** How much of the lane's height marks take there, and how many pixels at least. */
const EDGE_SHARE = 0.2;
const EDGE_PX = 2;
/** How high the bars are of what nobody is to blame for, and the gaps between them, for each px of the screen. */
const BAR_PX = 2;

/** Boxes of one lane, from pixel to pixel, used again for the next lane. */
export class LaneMarks {
  constructor() {
    this.n = 0;
    this.boxes = new Int32Array(256);
    /** By box: whether its poll is narrow, and whether it stands among such. */
    this.narrow = new Uint8Array(128);
    this.dense = new Uint8Array(128);
    /** By box: whether nobody is to blame. */
    this.barred = new Uint8Array(128);
  }

  /** The pixels of a span; returns the first pixel behind it. */
  push(start, end, t0, pixel) {
    const from = Math.floor((start - t0) / pixel);
    const to = Math.max(from + 1, Math.ceil((end - t0) / pixel));
    if (2 * this.n + 2 > this.boxes.length) {
      const larger = new Int32Array(this.boxes.length * 2);
      larger.set(this.boxes);
      this.boxes = larger;
      const narrow = new Uint8Array(this.narrow.length * 2);
      narrow.set(this.narrow);
      this.narrow = narrow;
      this.dense = new Uint8Array(narrow.length);
      const barred = new Uint8Array(narrow.length);
      barred.set(this.barred);
      this.barred = barred;
    }
    this.narrow[this.n] = end - start < NARROW_PX * pixel ? 1 : 0;
    this.boxes[2 * this.n] = Math.max(from, -2);
    this.boxes[2 * this.n + 1] = Math.min(to, FARTHEST);
    this.n++;
    return to;
  }

  /** The long polls of a task's lane. */
  ofLane(section, long, lane, t0, t1, width) {
    this.n = 0;
    const pixel = (t1 - t0) / width;
    const end = long.laneFirst[lane + 1];
    let k = nextLong(section, long, lane, t0);
    while (k < end) {
      const i = long.poll[k];
      if (section.time[i] >= t1) break;
      const to = this.push(section.time[i], section.endOf(i), t0, pixel);
      // What else ends within this pixel is marked by it already.
      // Rounding may put the pixel's edge before the end of this very poll: never come back to it.
      const first = k, next = k + 1;
      k = next < end && section.endOf(long.poll[next]) > t0 + to * pixel ? next : Math.max(next, nextLong(section, long, lane, t0 + to * pixel));
      this.barred[this.n - 1] = areUnblamed(section, long.poll, first, k) ? 1 : 0;
    }
  }

  /** The long polls on a worker's lane, `polls` being sorted by time. */
  ofWorker(section, polls, t0, t1, width) {
    this.n = 0;
    const pixel = (t1 - t0) / width;
    const ends = (k) => section.time[polls[k]] + heldNs(section, polls[k]);
    const firstAfter = (from, t) => {
      let least = from;
      let most = polls.length;
      while (least < most) {
        const middle = (least + most) >> 1;
        if (ends(middle) <= t) least = middle + 1;
        else most = middle;
      }
      return least;
    };
    for (let k = firstAfter(0, t0); k < polls.length && section.time[polls[k]] < t1;) {
      const to = this.push(section.time[polls[k]], ends(k), t0, pixel);
      const first = k;
      k = firstAfter(k + 1, t0 + to * pixel);
      this.barred[this.n - 1] = areUnblamed(section, polls, first, k) ? 1 : 0;
    }
  }

  /** Finds the boxes that stand densely. */
  findDense() {
    const { boxes, narrow, dense, n } = this;
    dense.fill(0, 0, n);
    for (let from = 0; from < n;) {
      let to = from + 1;
      if (narrow[from] === 1) {
        while (to < n && narrow[to] === 1 && boxes[2 * to] - boxes[2 * to - 1] < DENSE_PX) to++;
        if (to - from >= DENSE_FROM) dense.fill(1, from, to);
      }
      from = to;
    }
  }

  /**
   * Draws the boxes into an image's pixels, over the lane from `top` to before `bottom`; `paper` is between the bars, `ratio` the
   * screen's.
   */
  draw(image, width, height, top, bottom, clipTop, { fill, edge, paper, ratio = 1 }) {
    this.findDense();
    const { boxes, dense, barred, n } = this;
    const bar = Math.max(1, Math.round(BAR_PX * ratio));
    // The lowest of the rows is a bar, also where there are few.
    const isGap = (b, y, end) => barred[b] === 1 && Math.floor((end - 1 - y) / bar) % 2 === 1;
    const foot = (b) => (dense[b] === 1 ? Math.min(bottom, top + Math.max(EDGE_PX, Math.round((bottom - top) * EDGE_SHARE))) : bottom);
    const row = (y, from, to, pixel) => {
      if (y < clipTop || y >= height) return;
      image.fill(pixel, y * width + Math.max(0, from), y * width + Math.min(width, to));
    };
    for (let b = 0; b < n; b++) {
      const [from, to] = [boxes[2 * b] - 1, boxes[2 * b + 1] + 1];
      for (let y = top - 1, last = foot(b); y <= last; y++) row(y, from, to, edge);
    }
    for (let b = 0; b < n; b++) {
      for (let y = top, end = foot(b); y < end; y++) row(y, boxes[2 * b], boxes[2 * b + 1], isGap(b, y, end) ? paper : fill);
    }
  }
}
