// The page on paper.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, frame, times } from "./browser.mjs";

const open = browserForTests();

/** Returns the text of the page as a PDF, in which only pictures and drawings are compressed. */
const printed = async (page, landscape) => (await page.pdf({ format: "A4", landscape, margin: { top: "10mm", bottom: "10mm", left: "10mm", right: "10mm" } })).toString("latin1");
const sheets = (pdf) => pdf.match(/\/Type \/Page\b/g).length;
const images = (pdf) => [...pdf.matchAll(/\/Subtype \/Image\s+\/Width (\d+)\s+\/Height (\d+)/g)].map(([, width, height]) => [Number(width), Number(height)]);

/** Records the state of the page while it is printed. */
const listen = (page) =>
  page.evaluate(() => {
    window.addEventListener("beforeprint", () => {
      const height = (id) => document.getElementById(id).getBoundingClientRect().height;
      const pane = document.querySelector(".pane:not([hidden])");
      const { selection } = window.statemap.shown;
      const of = window.statemap.model.sections[selection.section];
      window.printed = {
        wide: document.documentElement.querySelector("body").scrollWidth, picture: height("picture"), head: height("head"), lanes: height("lanes"),
        hidden: pane.scrollHeight - pane.clientHeight, isSelectedSeen: window.statemap.placeOf(of.index, of.rowOf(selection.transition)).visible,
        paper: getComputedStyle(document.documentElement).getPropertyValue("--paper").trim(),
      };
      // A printing browser repeats the drawing, so cleared areas would cover what is below.
      const clear = CanvasRenderingContext2D.prototype.clearRect;
      CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        if (this.canvas.id === "overlay" && document.documentElement.className === "printed") window.printed.isCleared = true;
        return clear.apply(this, box);
      };
      window.addEventListener("afterprint", () => { CanvasRenderingContext2D.prototype.clearRect = clear; }, { once: true });
    });
  });

test("in landscape and in portrait, the lanes and the whole panel are printed", async () => {
  for (const landscape of [true, false]) {
    for (const colorScheme of ["light", "dark"]) {
      await open("random.html", { colorScheme }, async (page) => {
        await listen(page);
        const before = await times(page);
        const pdf = await printed(page, landscape);
        const found = await page.evaluate(() => window.printed);
        assert.ok(found.lanes > 250, `the lanes are ${found.lanes} px high`);
        assert.ok(found.picture + found.head <= 718, "they are on one sheet with the head");
        assert.ok(found.wide <= 979, "letter, within its margins");
        assert.ok(found.hidden <= 0, "nothing of the panel is scrolled away");
        assert.ok(found.isSelectedSeen);
        assert.equal(found.paper, "#ffffff", "paper is white");
        assert.equal(found.isCleared, undefined);
        assert.ok(images(pdf).some(([width, height]) => width > 1000 && height > 500), `the lanes are drawn: ${images(pdf)}`);
        assert.ok(sheets(pdf) >= 2, `${sheets(pdf)} sheets`);
        // Afterwards the page is unchanged.
        await frame(page);
        assert.deepEqual(await times(page), before);
        assert.equal(await page.evaluate(() => document.documentElement.className), "");
        const lanes = await page.locator("#lanes").boundingBox();
        assert.ok(lanes.height > 300 && lanes.width > 700);
      });
    }
  }
});
