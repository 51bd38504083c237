// Light and dark, a narrow screen, the two palettes, and very short polls, which must stay visible.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, frame, longPolls, pixels, resize } from "./browser.mjs";

const open = browserForTests();

const luminance = (page) =>
  page.evaluate(() => {
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
    return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
  });

test("light and dark follow the system", async () => {
  await open("blocked.html", { colorScheme: "light" }, async (page) => assert.ok((await luminance(page)) > 0.8));
  await open("blocked.html", { colorScheme: "dark" }, async (page) => {
    assert.ok((await luminance(page)) < 0.2);
    await page.emulateMedia({ colorScheme: "light" });
    await frame(page);
    assert.ok((await luminance(page)) > 0.8, "also while it is open");
  });
});

test("text is readable on its background, light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open("blocked.html", { colorScheme }, async (page) => {
      const faint = await page.evaluate(() => {
        const parse = (css) => css.match(/[\d.]+/g).map(Number);
        const light = (c) => {
          const part = c / 255;
          return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        };
        const shine = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
        const ground = (element) => {
          for (let at = element; at !== null; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length < 4 || colour[3] === 1) return colour;
          }
          return [255, 255, 255];
        };
        const faint = [];
        for (const element of document.querySelectorAll("#head *, #panel *, #foot *")) {
          const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
          if (!text || element.offsetParent === null || element.disabled) continue;
          const [a, b] = [shine(parse(getComputedStyle(element).color)), shine(ground(element))];
          const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          if (contrast < 4.4) faint.push(`${element.className || element.id || element.tagName}: ${contrast.toFixed(2)}`);
        }
        return faint;
      });
      assert.deepEqual(faint, [], colorScheme);
    });
  }
});

test("a screen 360 pixels wide", () =>
  open("blocked.html", { viewport: { width: 360, height: 720 }, hasTouch: true, isMobile: true }, async (page) => {
    const found = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth,
      canvas: document.getElementById("overlay").getBoundingClientRect().width,
      answer: document.getElementById("answer").getBoundingClientRect(),
    }));
    assert.ok(found.wide <= 360, `the page is ${found.wide} wide`);
    assert.ok(found.canvas > 180, `the lanes are ${found.canvas} wide`);
    assert.ok(found.answer.top >= 0 && found.answer.bottom < 400);
    for (const tab of ["issues", "locations", "selection", "profile"]) {
      await page.click(`#tab-${tab}`);
      await frame(page);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, tab);
    }
  }));

test("a long verdict takes two lines until all of it is asked for", () =>
  open("blocked.html", {}, async (page) => {
    const [more, answer] = [page.locator("#answer-more"), page.locator("#answer")];
    const height = () => answer.evaluate((answer) => answer.clientHeight);
    const resize = async (width) => {
      await page.setViewportSize({ width, height: 900 });
      await frame(page);
      await frame(page);
    };
    const words = " and so on".repeat(40);
    await answer.evaluate((answer, words) => answer.append(words), words);
    for (const width of [1200, 900]) {
      await resize(width);
      assert.ok(await more.isVisible(), `${width}`);
      const folded = await height();
      assert.ok(folded < 60, `${folded} at ${width}`);
      await more.click();
      await frame(page);
      assert.ok((await height()) > 1.4 * folded, `${width}`);
      assert.equal(await more.innerText(), "Less");
      await more.click();
      await frame(page);
      assert.equal(await height(), folded);
    }
    // Where all of it is shown, there is nothing to fold.
    for (const width of [800, 5000]) {
      await resize(width);
      assert.ok(await more.isHidden(), `${width}`);
    }
    await resize(1200);
    assert.ok(await more.isVisible());
  }));

test("the palettes differ, and both are drawn", () =>
  open("blocked.html", {}, async (page) => {
    const waiting = [0xfe, 0x61, 0x00];
    const before = await pixels(page, "lanes-canvas", waiting);
    await page.selectOption("#palette", "statemap");
    await frame(page);
    assert.ok((await pixels(page, "lanes-canvas", waiting)) > before + 1_000);
  }));

test("a long poll is visible at any zoom", () =>
  open("random.html", {}, async (page) => {
    // The whole run in 40 pixels: the polls over 1 ms are still marked.
    const marked = await longPolls(page);
    assert.ok(marked > 0);
    await resize(page, { width: 700, height: 800 });
    assert.ok((await pixels(page, "lanes-canvas", [0xdc, 0x26, 0x7f])) > marked);
  }));

test("no part of the head is cut, and no two parts overlap", async () => {
  for (const width of [1400, 1000, 700, 360]) {
    await open("blocked.html", { viewport: { width, height: 800 } }, async (page) => {
      const bad = await page.evaluate(() => {
        const parts = [...document.querySelectorAll("#head-line > *, #answer-line > *, #controls > *, #notes > *, #tabs > *")]
          .filter((part) => part.offsetParent !== null && part.getClientRects().length > 0);
        const bad = [];
        for (const [i, a] of parts.entries()) {
          const one = a.getBoundingClientRect();
          if (one.right > window.innerWidth + 1 || one.left < -1) bad.push(`${a.id} is cut`);
          for (const b of parts.slice(i + 1)) {
            if (a.contains(b) || b.contains(a)) continue;
            const other = b.getBoundingClientRect();
            const over = Math.min(one.right, other.right) - Math.max(one.left, other.left);
            const under = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
            if (over > 1 && under > 1) bad.push(`${a.id} and ${b.id} overlap`);
          }
        }
        return bad;
      });
      assert.deepEqual(bad, [], `${width} wide`);
    });
  }
});

test("a selected lane is in sight", async () => {
  for (const height of [520, 600, 640]) {
    await open("few.html", { viewport: { width: 1280, height } }, async (page) => {
      const rows = await page.evaluate(() => window.statemap.model.sections.flatMap((of) =>
        of.kind === "tasks" ? Array.from({ length: of.nRows }, (_, row) => [of.index, row, of.name(row)]) : []));
      assert.ok(rows.length >= 12);
      for (const [section, row, name] of rows) {
        await page.evaluate(([section, name]) => { location.hash = `sel=row.${section}.${name}`; }, [section, name]);
        await page.waitForFunction((row) => window.statemap.selection()?.row === row, row);
        await frame(page);
        const found = await page.evaluate(([section, row]) => {
          const box = document.getElementById("overlay").getBoundingClientRect();
          const { y, h } = window.statemap.placeOf(section, row);
          return { above: y - box.top, below: box.bottom - y - h };
        }, [section, row]);
        assert.ok(found.above >= 0 && found.below >= 0, `${name} at ${height}: ${JSON.stringify(found)}`);
        await page.evaluate(() => { location.hash = "sel=none"; document.getElementById("scrollbar").scrollTop = 0; });
        await page.waitForFunction(() => window.statemap.selection() === null);
        await frame(page);
      }
    });
  }
});

/** Returns the labels of issues that the browser cuts. */
const cutPlaces = (page) => page.evaluate(() => [...document.querySelectorAll(".issue .place")]
  .filter((place) => place.scrollWidth > place.clientWidth).map((place) => place.textContent));
const places = (page) => page.locator(".issue .place").allTextContents();

test("a source location in the list of issues keeps its line at any width", async () => {
  for (const width of [320, 390, 800, 1280]) {
    await open("random.html", { viewport: { width, height: 800 } }, async (page) => {
      assert.deepEqual(await cutPlaces(page), [], `${width} wide`);
    });
  }
});

test("source locations are fitted again when the page is resized", () =>
  open("random.html", { viewport: { width: 800, height: 800 } }, async (page) => {
    const wide = await places(page);
    await resize(page, { width: 150, height: 800 });
    assert.notDeepEqual(await places(page), wide);
    assert.deepEqual(await cutPlaces(page), []);
    await resize(page, { width: 800, height: 800 });
    assert.deepEqual(await places(page), wide);
  }));
