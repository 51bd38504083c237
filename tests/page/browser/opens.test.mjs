// The page opens on the worst poll: selected, outlined, and named in one sentence.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, pixels, selection, times } from "./browser.mjs";

const open = browserForTests();
const answer = (page) => page.locator("#answer").innerText();
const details = (page) => page.locator("#issue-list .issue-text").first().innerText();
/** Returns what the head and the first issue say. Nothing is said twice. */
const said = async (page) => `${await answer(page)} ${await details(page)}`;

const verdict = (page) => page.evaluate(() => window.statemap.model.meta.verdict);

test("the worst poll is named as in the report, selected and outlined", () =>
  open("blocked.html", {}, async (page) => {
    assert.equal(await said(page), await verdict(page));
    assert.equal(await answer(page), await page.evaluate(() => window.statemap.model.meta.headline));
    assert.match(await answer(page), /^Tasks spawned at src\/api\.rs:88:20 held the runtime up: /);
    assert.match(await details(page), /The poll took 51\.2 ms, on worker-1/);
    assert.equal(await page.locator("#answer .place").innerText(), "src/api.rs:88:20");
    const selected = await selection(page);
    assert.equal(selected.kind, "span");
    const found = await page.evaluate(({ section, transition }) => {
      const of = window.statemap.model.sections[section];
      const row = of.rowOf(transition);
      return [of.name(row), of.time[transition], of.endOf(transition) - of.time[transition], of.states[of.state[transition]].role];
    }, selected);
    assert.deepEqual(found, ["task-41", 10_000_000, 51_200_000, "running"]);
    // The whole run is in view, and the outline is drawn.
    const { t0, t1 } = await times(page);
    assert.deepEqual([t0, t1], [0, await page.evaluate(() => window.statemap.model.lengthNs)]);
    assert.ok((await pixels(page, "overlay", "painted")) > 500);
    assert.ok((await pixels(page, "lanes-canvas", [0xdc, 0x26, 0x7f])) > 5_000, "the poll is magenta");
    assert.equal(await page.locator("#tab-issues").getAttribute("aria-selected"), "true");
    assert.match(await page.locator("#pane-issues").innerText(), /src\/api\.rs:88:20/);
    // The whole is one hover away.
    assert.equal(await page.locator("#answer").getAttribute("title"), await verdict(page));
  }));

test("if the longest poll isn't the blamed function's, the page opens on a poll of the blamed one", () =>
  open("summed.html", {}, async (page) => {
    assert.equal(await said(page), await verdict(page));
    assert.match(await answer(page), /^Tasks spawned at src\/api\.rs:12:9 held the runtime up/);
    const { section, transition } = await selection(page);
    const label = await page.evaluate(([section, transition]) => {
      const of = window.statemap.model.sections[section];
      return of.groups[of.groupOfRow(of.rowOf(transition))].label;
    }, [section, transition]);
    assert.equal(label, "src/api.rs:12:9");
  }));

test("a headline that doesn't name its place is whole, and nothing of the rest is in the head", () =>
  open("pool.html", {}, async (page) => {
    assert.equal(await said(page), await verdict(page));
    assert.equal(await answer(page), await page.evaluate(() => window.statemap.model.meta.headline));
    assert.match(await answer(page), /blocking pool/);
  }));

test("the answer is in the file for readers without scripts", () =>
  open("blocked.html", { javaScriptEnabled: true }, async (page) => {
    const html = await page.evaluate(() => document.documentElement.outerHTML);
    assert.match(html, /<noscript>/);
  }));

test("without ready times no delayed tasks are counted", () =>
  open("untimed.html", {}, async (page) => {
    assert.match(await said(page), /^Tasks spawned at src\/api\.rs:88:20 held the runtime up.* ready times were not recorded\./);
    assert.match(await page.locator("#notes").innerText(), /[Rr]eady times were not recorded/);
  }));

test("without a long poll the page says so, and the named part is selected", () =>
  open("healthy.html", {}, async (page) => {
    assert.match(await said(page), /^The workers were busy .* spawned at src\/api\.rs:12:9 took .* No poll held a worker over 1 ms/);
    const chosen = await selection(page);
    assert.equal(chosen.kind, "group");
    const label = ({ section, group }) => window.statemap.model.sections[section].groups[group].label;
    assert.equal(await page.evaluate(label, chosen), "src/api.rs:12:9");
  }));

test("a page without tasks says so, and shows the workers", () =>
  open("workers-only.html", {}, async (page) => {
    assert.match(await page.locator("#notes").innerText(), /[Ww]orkers only/);
    assert.match(await page.locator("#legend").innerText(), /Workers/);
  }));

test("a page of the beginning of a run says so first, and never calls it the whole run", async () => {
  await open("first.html", {}, async (page) => {
    const [first] = await page.locator("#notes li").allInnerTexts();
    assert.equal(first, "Only the first 100 ms of the run are here: max_events was reached then.");
    assert.equal(await page.locator("#notes li.cut").count(), 1);
    assert.equal(await page.locator("#notes li.cut").evaluate((note) => getComputedStyle(note).fontWeight), "600");
    assert.match(await page.locator("#minimap-row").innerText(), /^Everything kept/);
  });
  // A complete page has no such note.
  await open("healthy.html", {}, async (page) => {
    assert.equal(await page.locator("#notes li.cut").count(), 0);
    assert.match(await page.locator("#minimap-row").innerText(), /^Whole run/);
  });
});

test("a truncated file says so, although everything is drawn", () =>
  open("cut-off.html", {}, async (page) => {
    const note = page.locator("#notes li.cut");
    await note.waitFor();
    assert.match(await note.innerText(), /^This file is cut off: /);
    assert.match(await answer(page), /^Tasks spawned at src\/api\.rs:88:20 held the runtime up/);
  }));

test("an empty page says so", () =>
  open("empty.html", {}, async (page) => {
    assert.match(await answer(page), /[Nn]othing was recorded|No /);
  }));
