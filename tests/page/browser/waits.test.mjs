// Where tasks wait: the list of lines, the call chain of a wait, waiting by line, tasks still waiting at the end, async
// functions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, expected, frame, legend, pixels } from "./browser.mjs";

const open = browserForTests();
const numbers = (text) => Number(text.replace(/\D/g, ""));

test("the lines equal those of the report, and a line shows its longest wait", () =>
  open("waits.html", {}, async (page) => {
    const { lines } = expected("waits.json");
    await page.click("#tab-waits");
    const rows = page.locator("#pane-waits tbody tr:not(.place-row)");
    assert.equal(await rows.count(), lines.length);
    for (const [n, { line, times, now }] of lines.entries()) {
      const label = await page.locator("#pane-waits [data-line]").nth(n).innerText();
      assert.match(label, new RegExp(`page\\.rs:${line}, `));
      const cells = await rows.nth(n).locator("td").allInnerTexts();
      assert.deepEqual([numbers(cells[0]), numbers(cells[5])], [times, now], label);
    }
    const lock = page.locator("#pane-waits [data-line$='Mutex::lock']").first();
    await lock.click();
    await frame(page);
    const { length, tag } = await page.evaluate(() => {
      const { section, transition } = window.statemap.selection();
      const of = window.statemap.model.sections[section];
      return { length: of.endOf(transition) - of.time[transition], tag: of.tag[transition] };
    });
    assert.ok(tag > 0 && length >= 15e6, `${length}`);
    await page.click("#tab-selection");
    const chain = page.locator("#pane-selection .chain");
    assert.match(await chain.first().innerText(), /checkout\s+.*page\.rs:\d+\s+.*Mutex<T>::lock/);
    assert.equal(await chain.count(), 2, "a function, and what it awaits within it");
    assert.match(await page.locator("#pane-selection").innerText(), /Waiting, by line\s+.*Mutex::lock/);
    assert.match(await page.locator("#live").innerText(), /waiting for .* at .*Mutex::lock/);
  }));

test("waiting is coloured by line, and the address contains that", () =>
  open("waits.html", {}, async (page) => {
    const before = (await legend(page)).tasks;
    await page.selectOption("#palette", "lines");
    await page.waitForFunction(() => location.hash.includes("palette=lines"));
    await frame(page);
    const after = (await legend(page)).tasks;
    const byLine = Object.entries(after).filter(([name]) => name.startsWith("waiting"));
    assert.ok(byLine.some(([name]) => name.endsWith("Mutex::lock")));
    assert.equal(byLine.reduce((sum, [, ns]) => sum + Number(ns), 0), Number(before.waiting));
    assert.equal(after.running, before.running);
    const swatch = page.locator("#legend .key", { hasText: "Mutex::lock" }).locator(".swatch");
    const colour = (await swatch.evaluate((of) => getComputedStyle(of).backgroundColor)).match(/\d+/g).map(Number);
    assert.ok((await pixels(page, "lanes-canvas", colour)) > 100, "it is painted");
    await page.selectOption("#palette", "page");
    assert.deepEqual((await legend(page)).tasks, before);
    await frame(page);
    assert.equal(await pixels(page, "lanes-canvas", colour), 0);
  }));

test("an address opens waiting by line", () =>
  open("waits.html", { hash: "#palette=lines&tab=waits" }, async (page) => {
    assert.equal(await page.locator("#palette").inputValue(), "lines");
    assert.ok(Object.keys((await legend(page)).tasks).some((name) => name.endsWith("Mutex::lock")));
  }));

test("the tasks that still waited are listed, and found by name", () =>
  open("waits.html", {}, async (page) => {
    const { still } = expected("waits.json");
    await page.click("#tab-waits");
    const listed = page.locator("#pane-waits [data-still]");
    assert.equal(await listed.count(), still.length);
    const texts = await listed.allInnerTexts();
    assert.ok(texts.some((text) => /"clock"[^]*Sleep/.test(text)), texts.join("; "));
    assert.ok(texts.some((text) => /nothing took its waker/.test(text)), texts.join("; "));
    await page.fill("#search", "clock");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await frame(page);
    const name = await page.evaluate(() => {
      const { section, row } = window.statemap.selection();
      return window.statemap.model.sections[section].name(row);
    });
    assert.match(name, /^task-\d+ "clock"$/);
  }));

test("the tasks of a LocalSet are listed with the task in whose polls they are polled", () =>
  open("local.html", {}, async (page) => {
    await page.click("#tab-waits");
    const listed = page.locator("#pane-waits [data-still]");
    const texts = (await listed.allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
    const receives = "[\\d.]+ [nµm]s \\S+page\\.rs:\\d+, Receiver";
    const patterns = [`task-\\d+ and 2 other tasks in main ${receives}`, `task-\\d+ in main, last woken by main ${receives}`];
    assert.equal(texts.length, patterns.length, texts.join("; "));
    for (const pattern of patterns) {
      assert.ok(texts.some((text) => new RegExp(`^${pattern}`).test(text)), `${pattern}: ${texts.join("; ")}`);
    }
    assert.doesNotMatch(await page.locator("#pane-waits").innerText(), /No line is known/);
    await listed.first().click();
    await frame(page);
    assert.match(await page.locator("#live").innerText(), /^main running /);
  }));

test("async functions have a table in the profile", () =>
  open("waits.html", {}, async (page) => {
    await page.click("#tab-profile");
    const names = await page.locator("#pane-profile .place-cell span[title]").evaluateAll((all) => all.map((of) => of.firstChild.textContent));
    assert.deepEqual(names, expected("waits.json").profile);
    await page.click('#pane-profile [data-sort="Calls"]');
    assert.equal(await page.locator('#pane-profile th[aria-sort="descending"]').innerText(), "Calls ▾");
  }));

test("unknown facts are named as unknown", () =>
  open("none.html", {}, async (page) => {
    assert.equal(await page.locator('#palette option[value="lines"]').count(), 0);
    await page.click("#tab-waits");
    assert.match(await page.locator("#pane-waits").innerText(), /No line is known at which a task waited/);
    await page.click("#tab-selection");
    await page.locator("#lanes").focus();
    for (let i = 0; i < 3 && !/Where it waits/.test(await page.locator("#pane-selection").innerText()); i++) {
      await page.keyboard.press("ArrowRight");
      await frame(page);
    }
    assert.match(await page.locator("#pane-selection").innerText(), /Where it waits\s+Unknown/);
  }));

test("a wait, and a task that has ended, say what their length depended on", () =>
  open("waits.html", {}, async (page) => {
    // The last task that has ended, after it had waited for the lock: another one gave it to it.
    const found = await page.evaluate(() => {
      const { model } = window.statemap;
      const section = model.sections.find(({ kind }) => kind === "tasks");
      for (let row = section.nRows - 1; row >= 0; row--) {
        const last = section.rowFirst[row + 1] - 1;
        if (section.states[section.state[last]].role !== "completed") continue;
        for (let i = section.rowFirst[row]; i < last; i++) {
          const place = section.tag[i] > 0 ? section.awaits.places[section.tag[i] - 1].label : "";
          if (place.endsWith("Mutex::lock")) return `#sel=at.${section.index}.${section.time[i]}.${section.name(row)}&tab=selection`;
        }
      }
      return null;
    });
    assert.notEqual(found, null);
    await page.evaluate((hash) => { location.hash = hash; }, found);
    await page.waitForFunction(() => /What the length of this wait depended on/.test(document.querySelector("#pane-selection").innerText));
    assert.match(await page.locator("#pane-selection").innerText(), /What the length of this task depended on/);
    const path = page.locator("#pane-selection .path").first();
    const shares = (await path.locator(".share").allInnerTexts()).map((text) => Number.parseFloat(text));
    const sum = shares.reduce((all, share) => all + share, 0);
    assert.ok(shares.length > 1 && sum > 90 && sum < 101, `${shares}`);
    // The longest stretch of a part is selected by a click.
    const places = await path.locator(".step").allInnerTexts();
    const waiting = places.findIndex((text) => text.startsWith("waiting: "));
    assert.ok(waiting >= 0, places.join("; "));
    await path.locator(".step").nth(waiting).click();
    await frame(page);
    const role = await page.evaluate(() => {
      const { section, transition } = window.statemap.selection();
      const of = window.statemap.model.sections[section];
      return of.states[of.state[transition]].role;
    });
    assert.equal(role, "waiting");
  }));

test("a period is compared with the times before and after it", () =>
  open("waits.html", {}, async (page) => {
    const length = await page.evaluate(() => window.statemap.model.lengthNs);
    const range = `range.${Math.round(length * 0.05)}_${Math.round(length * 0.25)}`;
    await page.evaluate((hash) => { location.hash = hash; }, `#sel=${range}&tab=selection`);
    await page.click("#pane-selection .compared button");
    const rows = await page.locator("#pane-selection .periods tr").allInnerTexts();
    assert.ok(rows.length > 1 && /before\s+during\s+after/.test(rows[0]), rows.join("; "));
    // It stays when the totals of another view are counted.
    await page.evaluate(() => window.statemap.setView(0, window.statemap.model.lengthNs / 2));
    assert.deepEqual(await page.locator("#pane-selection .compared .periods tr").allInnerTexts(), rows);
  }));

test("two periods are compared", () =>
  open("waits.html", {}, async (page) => {
    const length = await page.evaluate(() => window.statemap.model.lengthNs);
    const select = async (from, to) => {
      await page.evaluate((hash) => { location.hash = hash; }, `#sel=range.${Math.round(length * from)}_${Math.round(length * to)}&tab=selection`);
      await page.waitForFunction((t0) => window.statemap.selection()?.t0 === t0, Math.round(length * from));
    };
    await select(0.05, 0.25);
    await page.click("#pane-selection .compared button:last-child");
    await select(0.4, 0.9);
    const buttons = page.locator("#pane-selection .compared button");
    assert.match((await buttons.allInnerTexts()).join("; "), /^Compare with before and after; Compare with .* at .*; Compare with another/);
    await buttons.nth(1).click();
    const [heading, ...rows] = await page.locator("#pane-selection .periods tr").allInnerTexts();
    assert.match(heading, /kept\s+selected/);
    assert.match(await page.locator("#pane-selection .compared .hint").first().innerText(), /^Kept: .* to .*\. Selected: .* to .*\.$/);
    assert.ok(rows.length > 0);
  }));

test("a wake is followed back, and on", () =>
  open("path.html", {}, async (page) => {
    const ofMain = await page.evaluate(() => {
      const { model } = window.statemap;
      const of = model.sections.find(({ kind }) => kind === "tasks");
      const row = of.isRoot.indexOf(1);
      for (let poll = of.rowFirst[row + 1] - 1; poll > of.rowFirst[row]; poll--) if (of.waker[poll] >= 5) return [of.index, of.time[poll], of.name(row)];
      return null;
    });
    assert.notEqual(ofMain, null);
    await page.evaluate((hash) => { location.hash = hash; }, `#sel=at.${ofMain.join(".")}&tab=selection`);
    await page.waitForFunction(() => window.statemap.selection()?.kind === "span");
    await page.locator("#lanes").focus();
    const at = () => page.evaluate(() => window.statemap.selection().transition);
    const first = await at();
    await page.keyboard.press(",");
    await frame(page);
    const by = await at();
    assert.notEqual(by, first);
    assert.match(await page.locator("#pane-selection .facts").first().innerText(), /Woke\s+(.*\s)?main/);
    await page.locator("#pane-selection .facts .links button", { hasText: "main" }).first().click();
    await frame(page);
    assert.equal(await at(), first, "the link leads back");
  }));

test("what the length of main depended on is what the report says", () =>
  open("path.html", {}, async (page) => {
    const { tasks, parts } = expected("path.json");
    const section = await page.evaluate(() => window.statemap.model.sections.findIndex(({ kind }) => kind === "tasks"));
    await page.evaluate((hash) => { location.hash = hash; }, `#sel=row.${section}.main&tab=selection`);
    await page.waitForFunction(() => /What the length of this task depended on/.test(document.querySelector("#pane-selection").innerText));
    assert.match(await page.locator("#pane-selection").innerText(), new RegExp(`depended on\\s+${tasks} tasks`));
    const shown = await page.locator("#pane-selection .path tr").evaluateAll((rows) => rows.map(({ dataset }) => [dataset.kind, Number(dataset.ns)]));
    const sums = (all) => all.reduce((sums, [kind, ns]) => ({ ...sums, [kind]: (sums[kind] ?? 0) + ns }), {});
    assert.deepEqual(sums(shown), sums(parts));
  }));

test("a lane at the top shows the critical path of what is selected", () =>
  open("path.html", {}, async (page) => {
    const section = await page.evaluate(() => window.statemap.model.sections.findIndex(({ kind }) => kind === "tasks"));
    const isShown = () => page.locator("#path-row").isVisible();
    await page.evaluate((hash) => { location.hash = hash; }, `#sel=row.${section}.main`);
    await page.waitForFunction(() => document.querySelector("#path-label").textContent === "Path of main");
    assert.ok(await isShown());
    assert.match(await page.locator("#path").getAttribute("aria-label"), /^Critical path: what the length of main, .*, depended on$/);
    await frame(page);
    // What of the path is known has a colour, and the rest of the view has none: what came before `main`, too.
    const { painted, known } = await page.evaluate((known) => {
      const canvas = document.querySelector("#path"), { view } = window.statemap;
      const { data } = canvas.getContext("2d").getImageData(0, Math.floor(canvas.height / 3), canvas.width, 1);
      const painted = [...Array(canvas.width).keys()].filter((x) => data[4 * x + 3] > 0).length / canvas.width;
      return { painted, known: known / (view.t1 - view.t0) };
    }, expected("path.json").parts.reduce((sum, [kind, ns]) => sum + (kind === "unknown" ? 0 : ns), 0));
    assert.ok(known > 0 && Math.abs(painted - known) < 0.03, `${painted} of the view is painted, ${known} of it is known`);
    // A click selects what is there. The path of main stays.
    const box = await page.locator("#path").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    assert.ok(await page.locator("#tooltip").isVisible());
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await frame(page);
    const selected = await page.evaluate(() => {
      const { kind, section, transition } = window.statemap.selection();
      const { model, view } = window.statemap;
      const middle = (view.t0 + view.t1) / 2;
      return kind === "span" && model.sections[section].time[transition] <= middle && middle <= model.sections[section].endOf(transition);
    });
    assert.ok(selected);
    assert.equal(await page.locator("#path-label").innerText(), "Path of main");
    await page.keyboard.press("Escape");
    await frame(page);
    assert.equal(await isShown(), false);
    // In a period it is that of main.
    const length = await page.evaluate(() => window.statemap.model.lengthNs);
    const range = `range.${Math.round(length * 0.1)}_${Math.round(length * 0.9)}`;
    await page.evaluate((hash) => { location.hash = hash; }, `#sel=${range}&tab=selection`);
    await page.waitForFunction(() => /What the length of main depended on in this time/.test(document.querySelector("#pane-selection").innerText));
    await page.waitForFunction(() => !document.querySelector("#path-row").hidden);
    assert.equal(await page.locator("#path-label").innerText(), "Path of main");
  }));
