import { packPixel } from "./colours.js";

// A lane's pixels, one row of them: colours of pure pixels as they are, of mixed ones blended by share.
// There are two versions: `full`, and `lean`, in which states that are drawn as a thin band are left
// out. A lane's edges show the lean one, its middle the full one.

export class PixelRow {
  constructor() {
    this.full = new Uint32Array(0);
    this.lean = new Uint32Array(0);
    this.colours = [];
    this.paper = null;
    this.nsPerPixel = 1;
  }

  /** Gets ready for a section's lanes: its colours, pixels and ns in a pixel. */
  prepare(colours, paper, width, nsPerPixel) {
    if (this.full.length !== width) {
      this.full = new Uint32Array(width);
      this.lean = new Uint32Array(width);
    }
    this.colours = colours;
    this.paper = paper;
    this.nsPerPixel = nsPerPixel;
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
    for (let state = 0; state < shares.length; state++) {
      const ns = shares[state];
      if (ns === 0) continue;
      const colour = colours[state];
      if (colour.thin) {
        isThin = true;
        thinR += ns * (colour.r - paper.r);
        thinG += ns * (colour.g - paper.g);
        thinB += ns * (colour.b - paper.b);
      } else {
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
  }

  /** Lays `colour` over a pixel, with a share from 0 to 1 of it. */
  cover(x, colour, share) {
    this.full[x] = share >= 1 ? colour.pixel : mixPixel(this.full[x], colour, share);
    this.lean[x] = share >= 1 ? colour.pixel : mixPixel(this.lean[x], colour, share);
  }
}

const mixPixel = (pixel, colour, share) => {
  const rest = 1 - share;
  return packPixel(
    (pixel & 255) * rest + colour.r * share,
    ((pixel >> 8) & 255) * rest + colour.g * share,
    ((pixel >> 16) & 255) * rest + colour.b * share);
};
