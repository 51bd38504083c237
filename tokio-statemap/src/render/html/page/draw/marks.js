import { firstIndex, grown } from "../data/section.js";
import { heldNs, nextLong } from "../model/polls.js";
import { areUnblamed } from "./unblamed.js";

// The marks of long polls: each is outlined, and at least one pixel wide at any zoom. Where short ones are so dense that their
// outlines would fill a lane that was mostly idle, they are marks along its upper edge instead. Polls that nothing is blamed for
// are striped instead of filled, so that they differ without any colour, too.

/** The last pixel that is counted: a poll of hours in a view of some ns would end beyond 32 bits. */
const FARTHEST = 1 << 24;
/** Polls narrower than this, in px, look wider than they are because of their outlines. */
const NARROW_PX = 3;
/** The number of narrow polls, and the greatest distance from one to the next, that count as dense. */
const DENSE_FROM = 4;
const DENSE_PX = 3;
/** The height of dense marks: a share of the lane's height, and at least so many pixels. */
const EDGE_SHARE = 0.2;
const EDGE_PX = 2;
/** The height of stripes and of the gaps between them, for each px of the screen. */
const BAR_PX = 2;

/** The marks of one lane, from pixel to pixel. They are reused for the next lane. */
export class LaneMarks {
  constructor() {
    this.n = 0;
    this.boxes = new Int32Array(256);
    /** By mark: whether its poll is narrow, whether it is dense, and whether it is striped. */
    this.narrow = new Uint8Array(128);
    this.dense = new Uint8Array(128);
    this.barred = new Uint8Array(128);
  }

  /** Adds the pixels of a span, and returns the first pixel behind it. */
  push(start, end, t0, pixel) {
    const from = Math.floor((start - t0) / pixel);
    const to = Math.max(from + 1, Math.ceil((end - t0) / pixel));
    if (2 * this.n + 2 > this.boxes.length) {
      for (const key of ["boxes", "narrow", "dense", "barred"]) this[key] = grown(this[key]);
    }
    this.narrow[this.n] = end - start < NARROW_PX * pixel ? 1 : 0;
    this.boxes[2 * this.n] = Math.max(from, -2);
    this.boxes[2 * this.n + 1] = Math.min(to, FARTHEST);
    this.n++;
    return to;
  }

  /** Marks the long polls on the lane of a task. */
  ofLane(section, long, lane, t0, t1, width) {
    this.n = 0;
    const pixel = (t1 - t0) / width;
    const end = long.laneFirst[lane + 1];
    let k = nextLong(section, long, lane, t0);
    while (k < end) {
      const i = long.poll[k];
      if (section.time[i] >= t1) break;
      const to = this.push(section.time[i], section.endOf(i), t0, pixel);
      // Skip all that ends within this pixel. Rounding may put the pixel's edge before the end of this very poll: never go back
      // to it.
      const first = k, next = k + 1;
      k = next < end && section.endOf(long.poll[next]) > t0 + to * pixel ? next : Math.max(next, nextLong(section, long, lane, t0 + to * pixel));
      this.barred[this.n - 1] = areUnblamed(section, long.poll, first, k) ? 1 : 0;
    }
  }

  /** Marks the long polls on the lane of a worker; `polls` are sorted by time. */
  ofWorker(section, polls, t0, t1, width) {
    this.n = 0;
    const pixel = (t1 - t0) / width;
    const ends = (k) => section.time[polls[k]] + heldNs(section, polls[k]);
    const firstAfter = (from, t) => firstIndex(from, polls.length, (k) => ends(k) > t);
    for (let k = firstAfter(0, t0); k < polls.length && section.time[polls[k]] < t1;) {
      const to = this.push(section.time[polls[k]], ends(k), t0, pixel);
      const first = k;
      k = firstAfter(k + 1, t0 + to * pixel);
      this.barred[this.n - 1] = areUnblamed(section, polls, first, k) ? 1 : 0;
    }
  }

  /** Finds the dense marks. */
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
   * Draws the marks into the pixels of an image, on the lane from `top` to before `bottom`. `paper` is drawn between stripes;
   * `ratio` is the screen's.
   */
  draw(image, width, height, top, bottom, clipTop, { fill, edge, paper, ratio = 1 }) {
    this.findDense();
    const { boxes, dense, barred, n } = this;
    const bar = Math.max(1, Math.round(BAR_PX * ratio));
    // The lowest row is always a stripe, even where there are few rows.
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
