import { packPixel } from "./colours.js";

// A lane's pixels, one row of them: colours of pure pixels as they are, of mixed ones blended by share.
// There are two versions: `full`, and `lean`, in which states that are drawn as a thin band are left
// out. A lane's edges show the lean one, its middle the full one. A third row, `slight`, has what is there for so little of
// a pixel's time that the blend doesn't show it: it is drawn over the others, as what is there at all is seen.

/** Up to which share of a pixel a state isn't seen in the blend. */
const UNSEEN = 0.12;
/** What rounding leaves of a state that isn't there, in ns. */
const ROUNDED = 1e-3;
/** So many pixels, if there are no others this near, are drawn as high as the lane; where more are, along its edge only. */
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

  /** Gets ready for a section's lanes: its colours, pixels and ns in a pixel. */
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

  // The two methods of a `ColumnSink`.

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
    // What is painted in both versions, and what the thin states add to the paper in the full one.
    let r = 0, g = 0, b = 0, thinR = 0, thinG = 0, thinB = 0;
    let isThin = false;
    // The poll, and the longest of what else is there, of the background if there is nothing in front of it.
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

  /** Notes what isn't seen in the blend, if that is so. */
  note(x, colour, share) {
    if (share >= UNSEEN) return;
    this.slight[x] = colour.pixel;
    this.isAnySlight = true;
  }

  /** Lays `colour` over a pixel, with a share from 0 to 1 of it. */
  cover(x, colour, share) {
    this.slight[x] = 0;
    this.note(x, colour, share);
    this.full[x] = share >= 1 ? colour.pixel : mixPixel(this.full[x], colour, share);
    this.lean[x] = share >= 1 ? colour.pixel : mixPixel(this.lean[x], colour, share);
  }
}

/**
 * Draws what isn't seen in a lane's blend into an image's pixels, over the lane from `top` to before `bottom`: `least` rows of
 * them, along the lower edge.
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
