// Malicious names are shown and have no effect.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, expected, frame, selection } from "./browser.mjs";

const open = browserForTests();
const count = expected("names.json");

for (let n = 0; n < count; n++) {
  test(`names number ${n}`, () =>
    open(`${n}.html`, {}, async (page) => {
      assert.equal((await selection(page)).kind, "span");
      // Let every part of the page show them.
      for (const tab of ["issues", "locations", "tasks", "selection", "profile"]) {
        await page.click(`#tab-${tab}`);
        await frame(page);
      }
      await page.fill("#search", "task");
      await frame(page);
      await page.keyboard.press("Escape");
      const box = await page.locator("#overlay").boundingBox();
      for (let y = 10; y < box.height; y += 30) await page.mouse.move(box.x + box.width * 0.3, box.y + y);
      const found = await page.evaluate(() => ({
        hacked: window.hacked,
        // The script, the data of the page, and the data that only a reader of the page uses.
        scripts: document.querySelectorAll("script:not(.statemap-origin)").length,
        running: [...document.scripts].filter(({ type }) => type === "").length,
        images: document.querySelectorAll("img, iframe, object, embed, link, a[href]").length,
        wide: document.documentElement.scrollWidth > window.innerWidth,
        controls: /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText),
      }));
      assert.equal(found.hacked, undefined);
      assert.ok(found.scripts <= 3);
      assert.equal(found.running, 1);
      assert.equal(found.images, 0);
      assert.equal(found.wide, false, "a long name must not widen the page");
      assert.equal(found.controls, false, "what turns text round must not be shown as it is");
    }));
}
