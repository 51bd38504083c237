import { packPixel } from "./colours.js";

// A lane's pixels as one row: pixels of one state have its colour, others a blend by share. There are two versions: `full`,
// and `lean` without the states that are drawn as a thin band. A lane's edges show the lean one, its middle the full one. A
// third row, `slight`, has the states that take too little of a pixel to be visible in the blend: they are drawn over the
// others, so that nothing is invisible.

/** The share up to which a state is invisible in the blend. */
const UNSEEN = 0.12;
/** The rounding error of a state that has no time, in ns. */
const ROUNDED = 1e-3;
/** Up to this many pixels, without others this near, are drawn as high as the lane; more are drawn along its lower edge. */
const FEW_PX = 2;
const NEAR_PX = 6;

export class PixelRow {
  constructor() {
    this.full = new Uint32Array(0);
    this.lean = new Uint32Array(0);
    /** 0 where there is nothing of the kind; and whether there is anything. */
    this.slight = new Uint32Array(0);
    this.isAnySlight = false;
    this.colours = [];
    this.paper = null;
    this.nsPerPixel = 1;
  }

  /** Prepares for a section's lanes: its colours, the number of pixels, and the ns in a pixel. */
  prepare(colours, paper, width, nsPerPixel) {
    if (this.full.length !== width) {
      this.full = new Uint32Array(width);
      this.lean = new Uint32Array(width);
      this.slight = new Uint32Array(width);
    }
    this.colours = colours;
    this.paper = paper;
    this.nsPerPixel = nsPerPixel;
  }

  /** Begins the next lane. */
  begin() {
    if (this.isAnySlight) this.slight.fill(0);
    this.isAnySlight = false;
  }

  // These two methods make it a `ColumnSink`.

  run(x0, x1, state) {
    const colour = state < 0 ? this.paper : this.colours[state];
    const full = colour.pixel;
    const lean = colour.thin ? this.paper.pixel : full;
    if (x1 - x0 > 24) {
      this.full.fill(full, x0, x1);
      this.lean.fill(lean, x0, x1);
      return;
    }
    for (let x = x0; x < x1; x++) {
      this.full[x] = full;
      this.lean[x] = lean;
    }
  }

  mixed(x, shares) {
    const { colours, paper } = this;
    let rest = this.nsPerPixel;
    // The sums of both versions, and what thin states add to the paper in the full one.
    let r = 0, g = 0, b = 0, thinR = 0, thinG = 0, thinB = 0;
    let isThin = false;
    // The poll, and the longest of the other states; the background counts only if there is no other.
    let poll = 0, polled = null, front = 0, inFront = null, most = 0, back = 0, behind = null;
    for (let state = 0; state < shares.length; state++) {
      const ns = shares[state];
      if (ns === 0) continue;
      const colour = colours[state];
      if (colour.thin) {
        back += ns;
        behind = colour;
        isThin = true;
        thinR += ns * (colour.r - paper.r);
        thinG += ns * (colour.g - paper.g);
        thinB += ns * (colour.b - paper.b);
      } else {
        if (colour.isPoll) {
          poll += ns;
          polled = colour;
        } else if (!colour.blank) {
          front += ns;
          if (ns > most) [most, inFront] = [ns, colour];
        }
        rest -= ns;
        r += ns * colour.r;
        g += ns * colour.g;
        b += ns * colour.b;
      }
    }
    rest = Math.max(rest, 0);
    r += rest * paper.r;
    g += rest * paper.g;
    b += rest * paper.b;
    const all = 1 / this.nsPerPixel;
    this.lean[x] = packPixel(r * all, g * all, b * all);
    this.full[x] = isThin ? packPixel((r + thinR) * all, (g + thinG) * all, (b + thinB) * all) : this.lean[x];
    if (poll > ROUNDED) this.note(x, polled, poll * all);
    else if (front > ROUNDED) this.note(x, inFront, front * all);
    else if (back > ROUNDED) this.note(x, behind, back * all);
  }

  /** Notes a state if it is invisible in the blend. */
  note(x, colour, share) {
    if (share >= UNSEEN) return;
    this.slight[x] = colour.pixel;
    this.isAnySlight = true;
  }

  /** Covers a share of a pixel, from 0 to 1, with `colour`. */
  cover(x, colour, share) {
    this.slight[x] = 0;
    this.note(x, colour, share);
    this.full[x] = share >= 1 ? colour.pixel : mixPixel(this.full[x], colour, share);
    this.lean[x] = share >= 1 ? colour.pixel : mixPixel(this.lean[x], colour, share);
  }
}

/**
 * Draws the slight states into the pixels of an image, on the lane from `top` to before `bottom`: along its lower edge,
 * `least` rows high, or over the whole height if they stand alone.
 */
export const drawSlight = ({ slight }, image, width, top, bottom, least) => {
  for (let from = 0, end = -NEAR_PX; from < width; from++) {
    if (slight[from] === 0) continue;
    let to = from + 1;
    while (to < width && slight[to] !== 0) to++;
    let next = to;
    while (next < width && next - to < NEAR_PX && slight[next] === 0) next++;
    const isAlone = to - from <= FEW_PX && from - end >= NEAR_PX && (next === width || next - to >= NEAR_PX);
    for (let y = isAlone ? top : Math.max(top, bottom - least); y < bottom; y++) image.set(slight.subarray(from, to), y * width + from);
    end = to;
    from = to;
  }
};

const mixPixel = (pixel, colour, share) => {
  const rest = 1 - share;
  return packPixel(
    (pixel & 255) * rest + colour.r * share,
    ((pixel >> 8) & 255) * rest + colour.g * share,
    ((pixel >> 16) & 255) * rest + colour.b * share);
};
