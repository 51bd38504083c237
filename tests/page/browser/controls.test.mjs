// Each key, the mouse, touch, the search, the filter, the slider and the address work as described.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { addressWith, browserForTests, frame, legend, letTimePass, longPolls, longPollsOnce, selection, times } from "./browser.mjs";

const open = browserForTests();
const length = (page) => page.evaluate(() => window.statemap.model.lengthNs);
const width = async (page) => {
  const { t0, t1 } = await times(page);
  return t1 - t0;
};
/** Returns the position of a time on the screen, in the middle of the lanes. */
const spot = async (page, share, down = 0.5) => {
  const box = await page.locator("#overlay").boundingBox();
  return [box.x + box.width * share, box.y + box.height * down];
};
/** Returns the position of the selected poll on the screen. */
const press = async (page, key) => {
  await page.keyboard.press(key);
  await frame(page);
};
const near = (a, b, by) => Math.abs(a - b) <= by;

test("w and s zoom at the cursor, f fits, z goes back", () =>
  open("random.html", {}, async (page) => {
    const whole = await length(page);
    const [x, y] = await spot(page, 0.25);
    await page.mouse.move(x, y);
    await frame(page);
    const at = async () => {
      const { t0, t1 } = await times(page);
      return t0 + (t1 - t0) * 0.25;
    };
    const before = await at();
    await press(page, "w");
    await press(page, "w");
    const zoomed = await width(page);
    assert.ok(zoomed < whole * 0.6, "w zooms in");
    assert.ok(near(await at(), before, whole * 0.003), "what is under the cursor stays there");
    await press(page, "s");
    assert.ok((await width(page)) > zoomed * 1.3, "s zooms out");
    await press(page, "f");
    assert.equal(await width(page), whole, "f fits");
    // Steps in close succession are one for `z`.
    await letTimePass(page, 600);
    await press(page, "w");
    const one = await times(page);
    await letTimePass(page, 600);
    await press(page, "d");
    assert.notDeepEqual(await times(page), one);
    await press(page, "z");
    assert.deepEqual(await times(page), one, "z goes back");
  }));

test("+ and - zoom on any keyboard layout", () =>
  open("random.html", {}, async (page) => {
    const whole = await length(page);
    for (const [nearer, farther] of [["+", "-"], ["=", "_"], ["NumpadAdd", "NumpadSubtract"]]) {
      await press(page, nearer);
      const zoomed = await width(page);
      assert.ok(zoomed < whole * 0.8, nearer);
      await press(page, farther);
      assert.ok((await width(page)) > zoomed * 1.3, farther);
    }
    await page.locator("#help-open").click();
    assert.match(await page.locator("#help").innerText(), /\+\s*-\s*zoom in, out/);
  }));

test("the browser's Back undoes the last zoom, selection or filter, and stays on the page", () =>
  open("random.html", {}, async (page) => {
    const entries = () => page.evaluate(() => history.length);
    const shown = async () => {
      const { t0, t1 } = await times(page);
      return [Math.round(t0), Math.round(t1), await selection(page), await page.evaluate(() => window.statemap.filter())];
    };
    const begin = await entries(), views = [await shown()];
    /** Does something, waits until the address has changed, and asserts that it is one more step. */
    const step = async (name, act) => {
      // Changes in close succession belong to the same gesture.
      await letTimePass(page, 600);
      const before = await page.evaluate(() => location.hash);
      await act();
      await page.waitForFunction((before) => location.hash !== before, before);
      assert.equal((await entries()) - begin, views.length, name);
      views.push(await shown());
    };
    const [x, y] = await spot(page, 0.5);
    await page.mouse.move(x, y);
    await step("a wheel that is turned on and on", async () => {
      await page.evaluate(async ([clientX, clientY]) => {
        const turn = () => document.elementFromPoint(clientX, clientY).dispatchEvent(
          new WheelEvent("wheel", { deltaY: -120, clientX, clientY, bubbles: true, cancelable: true }));
        // A wheel that rests is a step of its own. On a slow machine it rests from frame to frame, so timers wait for longer.
        const { setTimeout } = window;
        window.setTimeout = (f, ms) => setTimeout(f, ms * 100);
        for (let i = 0; i < 11; i++) {
          turn();
          await new Promise(requestAnimationFrame);
        }
        window.setTimeout = setTimeout;
        turn();
      }, [x, y]);
    });
    await step("a drag, however long its pauses", async () => {
      await page.mouse.down();
      for (const by of [40, 80, 120]) {
        await page.mouse.move(x - by, y);
        await page.waitForTimeout(300);
      }
      await page.mouse.up();
    });
    for (const by of [10, 60, 110]) await page.mouse.move(x - by, y - 40);
    await page.click("#tab-issues");
    await step("a selection", () => page.locator("#pane-issues [data-issue]").nth(2).click());
    await page.click("#tab-locations");
    await addressWith(page, "tab=locations");
    await step("a filter", () => page.locator("#pane-locations tbody tr").first().getByRole("button").first().click());
    for (const before of views.slice(0, -1).reverse()) {
      await page.goBack();
      await frame(page);
      assert.deepEqual(await shown(), before);
      // What it shows isn't a step of its own.
      await page.waitForTimeout(300);
      assert.equal((await entries()) - begin, views.length - 1);
    }
    await page.goForward();
    await frame(page);
    assert.deepEqual(await shown(), views[1], "and Forward does it again");
  }));

test("the wheel zooms at the cursor, a and d pan, a drag pans", () =>
  open("random.html", {}, async (page) => {
    const whole = await length(page);
    const [x, y] = await spot(page, 0.5);
    await page.mouse.move(x, y);
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -300);
    await frame(page);
    const zoomed = await times(page);
    assert.ok(zoomed.t1 - zoomed.t0 < whole * 0.2);
    assert.ok(near((zoomed.t0 + zoomed.t1) / 2, whole / 2, whole * 0.01));
    await press(page, "d");
    const right = await times(page);
    assert.ok(right.t0 > zoomed.t0 && near(right.t1 - right.t0, zoomed.t1 - zoomed.t0, 2));
    await press(page, "a");
    assert.ok(near((await times(page)).t0, zoomed.t0, 2));
    await page.mouse.down();
    await page.mouse.move(x - 200, y, { steps: 4 });
    await page.mouse.up();
    await frame(page);
    assert.ok((await times(page)).t0 > zoomed.t0, "dragged to the left, later times come");
  }));

test("a drag with shift measures", () =>
  open("random.html", {}, async (page) => {
    const [from, y] = await spot(page, 0.25);
    const [to] = await spot(page, 0.75);
    await page.keyboard.down("Shift");
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move(to, y, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await frame(page);
    const range = await selection(page);
    assert.equal(range.kind, "range");
    assert.ok(near(range.t1 - range.t0, (await length(page)) / 2, (await length(page)) * 0.01));
    await page.click("#tab-selection");
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll("#pane-selection [data-state]")].map(({ dataset }) => [dataset.section, dataset.state, dataset.ns]));
    const totals = await page.evaluate(({ t0, t1 }) => window.statemap.totals(t0, t1).map((states) => states.map(String)), range);
    assert.ok(shown.length > 4);
    for (const [section, state, ns] of shown) {
      const index = await page.evaluate(([section, state]) =>
        window.statemap.model.sections[section].states.findIndex(({ name }) => name === state), [section, state]);
      assert.equal(ns, totals[section][index], state);
    }
  }));

test("a double click zooms to the state, Esc clears", () =>
  open("blocked.html", {}, async (page) => {
    // The worst poll: from 10 to 61.2 ms, on the lane of worker-1.
    const whole = await length(page);
    const row = page.locator("#overlay");
    const box = await row.boundingBox();
    const x = box.x + box.width * (30e6 / whole);
    let found = null;
    for (let y = 8; y < 120 && found === null; y += 6) {
      await page.mouse.click(x, box.y + y);
      await frame(page);
      const now = await selection(page);
      if (now?.kind === "span") {
        const from = await page.evaluate(({ section, transition }) => window.statemap.model.sections[section].time[transition], now);
        if (from === 10_000_000) found = y;
      }
    }
    assert.notEqual(found, null, "the poll can be clicked on the worker's lane");
    await page.mouse.dblclick(x, box.y + found);
    await frame(page);
    const { t0, t1 } = await times(page);
    assert.ok(t0 <= 10_000_000 && t1 >= 61_200_000 && t1 - t0 < 51_200_000 * 1.5, `${t0} to ${t1}`);
    await press(page, "Escape");
    assert.equal(await selection(page), null);
  }));

test("n and p step through the issues", () =>
  open("random.html", {}, async (page) => {
    const first = await selection(page);
    await press(page, "n");
    const second = await selection(page);
    assert.notDeepEqual(second, first);
    await press(page, "p");
    assert.deepEqual(await selection(page), first);
    const held = await page.evaluate(([a, b]) => [a, b].map(({ section, transition }) => {
      const of = window.statemap.model.sections[section];
      return of.endOf(transition) - of.time[transition];
    }), [first, second]);
    assert.ok(held[0] >= held[1], "the worst first");
  }));

test("the search finds tasks, locations and workers", () =>
  open("random.html", {}, async (page) => {
    for (const [text, name] of [["task-123", "task-123"], ["worker-1", "worker-1"], ["123", "task-123"]]) {
      await press(page, "/");
      assert.equal(await page.evaluate(() => document.activeElement.id), "search");
      await page.fill("#search", text);
      await page.keyboard.press("Enter");
      await frame(page);
      const found = await selection(page);
      assert.equal(found.kind, "row", text);
      assert.equal(await page.evaluate(({ section, row }) => window.statemap.model.sections[section].name(row), found), name);
      await press(page, "Escape");
      await page.locator("#lanes").focus();
    }
    await page.fill("#search", "src/api.rs:12");
    await page.locator("#search-results [role=option]", { hasText: "src/api.rs:12" }).first().waitFor();
    await page.fill("#search", "no such thing");
    await page.waitForFunction(() => document.querySelectorAll("#search-results [role=option][aria-selected]").length === 0);
  }));

test("a click on a spawn location filters, and one on another clears the filter", () =>
  open("random.html", {}, async (page) => {
    const all = BigInt((await legend(page)).tasks.running);
    await page.click("#tab-locations");
    const line = page.locator("#pane-locations tbody tr").first();
    await line.getByRole("button").first().click();
    // The legend is counted later, all of it at once.
    const filtered = page.locator("#legend .of", { hasText: ", filtered" });
    await filtered.first().waitFor();
    const part = BigInt((await legend(page)).tasks.running);
    assert.ok(part > 0n && part < all, `${part} of ${all}`);
    await line.getByRole("button").first().click();
    await filtered.first().waitFor({ state: "detached" });
    assert.equal(BigInt((await legend(page)).tasks.running), all);
    // Sorted by another column, and in the other direction.
    const column = () => page.locator("#pane-locations tbody tr").allInnerTexts();
    const before = await column();
    await page.locator("#pane-locations thead button").nth(1).click();
    const sorted = await column();
    await page.locator("#pane-locations thead button").nth(1).click();
    assert.deepEqual((await column()).sort(), [...before].sort());
    assert.notDeepEqual(await column(), sorted);
  }));

test("the slider sets the threshold of long polls", () =>
  open("random.html", {}, async (page) => {
    const before = await longPolls(page);
    assert.ok(before > 3);
    const slider = page.locator("#pane-issues input[type=range]");
    assert.notEqual(await slider.getAttribute("aria-label"), "");
    await slider.focus();
    for (let i = 0; i < 200; i++) await page.keyboard.press("ArrowRight");
    // Fewer polls are that long.
    await longPollsOnce(page, "fewer", before);
    await page.keyboard.press("Home");
    // There are more than at first: it is the minimum.
    await longPollsOnce(page, "more", before);
  }));

test("groups fold and open", () =>
  open("random.html", {}, async (page) => {
    const folds = page.locator("#gutter [aria-expanded], #gutter-pinned [aria-expanded]");
    assert.ok((await folds.count()) > 2);
    const last = folds.last();
    const before = await last.getAttribute("aria-expanded");
    const name = await last.getAttribute("aria-label");
    await last.click();
    await frame(page);
    const again = name === null ? folds.last() : page.locator(`[aria-label=${JSON.stringify(name)}]`).last();
    assert.notEqual(await again.getAttribute("aria-expanded"), before);
  }));

test("the help opens with ? and closes with Esc", () =>
  open("random.html", {}, async (page) => {
    await page.locator("#lanes").focus();
    await page.keyboard.press("?");
    assert.equal(await page.locator("#help").evaluate((help) => help.open), true);
    const text = await page.locator("#help").innerText();
    for (const word of ["wheel", "fit", "search", "next", "measure"]) assert.match(text, new RegExp(word));
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#help").evaluate((help) => help.open), false);
  }));

test("the address shows the same view to everyone", async () => {
  let hash;
  let left;
  await open("random.html", {}, async (page) => {
    await page.fill("#search", "task-42");
    await page.keyboard.press("Enter");
    await page.locator("#lanes").focus();
    await page.click("#tab-locations");
    await page.locator("#pane-locations tbody tr").first().getByRole("button").first().click();
    await page.evaluate(() => window.statemap.setView(1_000_000, 3_000_000));
    await page.selectOption("#palette", "statemap");
    hash = await addressWith(page, "palette=statemap");
    if (process.env.SHOW) console.log(hash);
    left = [await times(page), await selection(page), await legend(page), await page.inputValue("#palette")];
  });
  assert.ok(hash.length > 10);
  await open("random.html", { hash }, async (page) => {
    const found = [await times(page), await selection(page), await legend(page), await page.inputValue("#palette")];
    assert.deepEqual(found, left);
    assert.equal(await page.locator("#tab-locations").getAttribute("aria-selected"), "true");
  });
  for (const nonsense of ["#%", "#t0=-5&t1=x&sel=9.9.9", "#" + "x".repeat(5_000), "#<script>"]) {
    await open("random.html", { hash: nonsense }, async (page) => {
      assert.equal(await width(page), await length(page));
    });
  }
});

test("two fingers zoom", () =>
  open("random.html", { hasTouch: true }, async (page) => {
    const [x, y] = await spot(page, 0.5);
    const cdp = await page.context().newCDPSession(page);
    const touch = (type, apart) =>
      cdp.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: type === "touchEnd" ? [] : [{ x: x - apart, y, id: 1 }, { x: x + apart, y, id: 2 }],
      });
    await touch("touchStart", 50);
    for (let apart = 60; apart <= 200; apart += 20) await touch("touchMove", apart);
    await touch("touchEnd", 0);
    await frame(page);
    assert.ok((await width(page)) < (await length(page)) * 0.5);
  }));

test("every control can be reached with Tab and has a name", () =>
  open("random.html", {}, async (page) => {
    const reached = new Set();
    for (let i = 0; i < 120; i++) {
      await page.keyboard.press("Tab");
      const [id, name] = await page.evaluate(() => {
        const at = document.activeElement;
        const name = at.getAttribute("aria-label") ?? at.textContent.trim() ?? at.title;
        return [at.id || at.className || at.tagName, name || at.getAttribute("aria-labelledby") || at.labels?.[0]?.textContent || ""];
      });
      reached.add(id);
      if (id !== "BODY") assert.notEqual(name, "", `${id} has no name`);
    }
    for (const id of ["search", "fit", "palette", "help-open", "minimap", "lanes", "tab-issues"]) {
      assert.ok(reached.has(id), `${id} in ${[...reached]}`);
    }
  }));

test("the arrow keys step from span to span and from lane to lane", () =>
  open("random.html", {}, async (page) => {
    await page.locator("#lanes").focus();
    const first = await selection(page);
    await press(page, "ArrowRight");
    const next = await selection(page);
    assert.equal(next.transition > first.transition, true);
    await press(page, "ArrowLeft");
    assert.deepEqual(await selection(page), first);
    await press(page, "ArrowDown");
    assert.notDeepEqual(await selection(page), first);
    assert.notEqual(await page.locator("#live").innerText(), "");
  }));

test("what is shown is saved as an image where the clipboard can't be used", () =>
  open("random.html", {}, async (page) => {
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#share")]);
    assert.match(download.suggestedFilename(), /^[\w.-]+\.png$/);
    assert.match(await page.locator("#live").textContent(), /saved as a file/);
    const bytes = await readFile(await download.path());
    const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    const shown = await page.locator("#picture").boundingBox();
    assert.ok(bytes.length > 10_000 && width >= Math.floor(shown.width) && height > shown.height, `${width} × ${height}`);
    // The button says what happened for a while.
    await page.waitForFunction(() => document.querySelector("#share").textContent === "Image");
  }));

test("the address of the view is copied", () =>
  open("random.html", { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await press(page, "w");
    const hash = await addressWith(page, "t=");
    await page.click("#link");
    await page.waitForFunction(() => document.querySelector("#link").textContent === "Copied");
    assert.ok((await page.evaluate(() => navigator.clipboard.readText())).endsWith(`random.html${hash}`));
    await page.waitForFunction(() => document.querySelector("#link").textContent === "Link");
  }));

test("the panel is resized by the mouse and by keys, and gets its width back", () =>
  open("random.html", {}, async (page) => {
    const panel = async () => (await page.locator("#panel").boundingBox()).width;
    const at = await page.locator("#splitter").boundingBox();
    const [before, lanes] = [await panel(), await page.locator("#lanes-canvas").boundingBox()];
    await page.mouse.move(at.x + at.width / 2, 400);
    await page.mouse.down();
    await page.mouse.move(at.x + at.width / 2 - 150, 400, { steps: 3 });
    await page.mouse.up();
    await frame(page);
    assert.ok(near(await panel(), before + 150, 2), `${before}, ${await panel()}`);
    assert.ok(near((await page.locator("#lanes-canvas").boundingBox()).width, lanes.width - 150, 2), "the lanes have the rest");
    await press(page, "ArrowRight");
    assert.ok(near(await panel(), before + 126, 2));
    assert.equal(Number(await page.locator("#splitter").getAttribute("aria-valuenow")), Math.round(await panel()));
    for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowRight");
    await frame(page);
    assert.equal(await panel(), 260, "not less");
    await press(page, "Home");
    assert.equal(await panel(), before);
  }));

test("a finger that goes up scrolls the lanes, and then the page; one that goes sideways pans", () =>
  open("random.html", { hasTouch: true, isMobile: true, viewport: { width: 400, height: 800 } }, async (page) => {
    const box = await page.locator("#overlay").boundingBox();
    const cdp = await page.context().newCDPSession(page);
    const swipe = async (dx, dy) => {
      const [x, y] = [box.x + box.width / 2, box.y + box.height * 0.6 - await page.evaluate(() => window.scrollY)];
      const touch = (type, share) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x: x + dx * share, y: y + dy * share, id: 1 }] });
      await touch("touchStart", 0);
      for (const share of [0.1, 0.4, 0.7, 1]) {
        await touch("touchMove", share);
        await frame(page);
      }
      await touch("touchEnd", 1);
      await frame(page);
    };
    const state = () => page.evaluate(() => [document.getElementById("scrollbar").scrollTop, window.scrollY, window.statemap.view.t0]);
    for (let i = 0; i < 3; i++) await press(page, "w");
    const [top, , t0] = await state();
    await swipe(8, -120);
    const scrolled = await state();
    assert.ok(near(scrolled[0], top + 120, 3), `${top}, ${scrolled}`);
    assert.deepEqual(scrolled.slice(1), [0, t0], "and nothing else moves");
    await page.evaluate(() => { document.getElementById("scrollbar").scrollTop = 1e6; });
    await frame(page);
    const bottom = await state();
    await swipe(0, -120);
    assert.deepEqual([(await state())[0], near((await state())[1], 120, 3)], [bottom[0], true], "the page goes on from there");
    await page.evaluate(() => window.scrollTo(0, 0));
    await swipe(-60, 5);
    const panned = await state();
    assert.ok(panned[2] > t0 && panned[0] === bottom[0], `${panned}`);
  }));
