// Histograms of the selection: a location, a task, a worker, a time, a blamed function. Their bars add up to the values in
// the tables beside them, and a selection by hand opens its panel at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, frame, selection } from "./browser.mjs";

const open = browserForTests();
const numbers = (text) => Number(text.replace(/\D/g, ""));

/** Returns the histograms of a pane: the name of each, its stated number of values, and the sum of its bars. */
const histograms = async (page, pane) => {
  await page.locator(`${pane} .histogram`).first().waitFor();
  return page.evaluate((pane) => Object.fromEntries([...document.querySelectorAll(`${pane} .histogram`)].map((each) => [each.dataset.of, {
    n: Number(each.dataset.n), said: each.querySelector(".count").textContent,
    bars: [...each.querySelectorAll(".bar[data-n]")].reduce((sum, bar) => sum + Number(bar.dataset.n), 0),
    marks: Object.fromEntries([...each.querySelectorAll("[data-mark]")].map(({ dataset }) => [dataset.mark, Number(dataset.ns)])),
  }])), pane);
};
const isSelectionOpen = async (page) => (await page.locator("#tab-selection").getAttribute("aria-selected")) === "true";

/** Measures a time by hand. */
const measure = async (page, from, to) => {
  const box = await page.locator("#overlay").boundingBox();
  const y = box.y + box.height / 2;
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await frame(page);
};

test("a measured time opens its panel at once, with histograms of what began in it", () =>
  open("random.html", {}, async (page) => {
    await measure(page, 0.2, 0.7);
    assert.ok(await isSelectionOpen(page));
    const found = await histograms(page, "#pane-selection");
    const { t0, t1 } = await selection(page);
    const wanted = await page.evaluate(([t0, t1]) => {
      const section = window.statemap.model.sections.find(({ kind }) => kind === "tasks");
      const lengths = [];
      for (let i = 0; i < section.nTransitions; i++) {
        if (section.states[section.state[i]].name === "running" && section.time[i] >= t0 && section.time[i] < t1) lengths.push(section.endOf(i) - section.time[i]);
      }
      return lengths.sort((a, b) => a - b);
    }, [t0, t1]);
    assert.ok(wanted.length > 100);
    assert.deepEqual([found.polls.n, found.polls.bars, numbers(found.polls.said)], [wanted.length, wanted.length, wanted.length]);
    const rank = (percent) => wanted[Math.ceil((wanted.length * percent) / 100) - 1];
    assert.deepEqual(found.polls.marks, { p50: rank(50), p90: rank(90), p99: rank(99), longest: wanted.at(-1) });
    assert.ok(found.ready.n > 0 && found.ready.bars === found.ready.n);
    assert.ok(found.lives.n > 0 && found.lives.bars === found.lives.n);
  }));

test("a lane, a span and the label of a lane open the panel at once", () =>
  open("random.html", {}, async (page) => {
    const { x0, x1, y, h } = await page.evaluate(() => {
      const { sections } = window.statemap.model;
      return window.statemap.placeOf(sections.findIndex(({ kind }) => kind === "workers"), 0);
    });
    await page.mouse.click((x0 + x1) / 2, y + h / 2);
    await frame(page);
    assert.notEqual(await selection(page), null);
    assert.ok(await isSelectionOpen(page));
    await page.click("#tab-issues");
    assert.ok(!(await isSelectionOpen(page)));
    await page.locator('[data-lane="0"]').first().click();
    await frame(page);
    assert.ok(await isSelectionOpen(page));
    const { kind, section, row } = await selection(page);
    assert.equal(kind, "row");
    assert.equal(await page.evaluate(([section]) => window.statemap.model.sections[section].kind, [section]), "workers");
    const polls = await page.evaluate((row) => window.statemap.model.workerPolls[0].rows[row].poll.length, row);
    const { polls: found } = await histograms(page, "#pane-selection");
    assert.deepEqual([found.n, found.bars], [polls, polls]);
    const facts = await page.locator("#pane-selection .facts").innerText();
    assert.equal(numbers(/Polls\s+([\d\s\u202f]+)/.exec(facts)[1]), polls, "as the facts beside it");
    // A choice in a list doesn't change the tab.
    await page.click("#tab-issues");
    await page.locator("#issue-list [data-issue]").first().click();
    await frame(page);
    assert.ok(!(await isSelectionOpen(page)));
  }));

test("a location shows its histograms, which agree with the table", () =>
  open("random.html", {}, async (page) => {
    await page.click("#tab-locations");
    const locations = page.locator("#pane-locations .place-cell button");
    const n = await locations.count();
    assert.ok(n > 3);
    for (let k = 0; k < n; k++) {
      await locations.nth(k).click();
      await frame(page);
      const cells = await page.locator("#pane-locations tbody tr.chosen:not(.place-row) td").allInnerTexts();
      const found = await histograms(page, "#pane-locations");
      assert.deepEqual([found.polls.n, found.polls.bars], [numbers(cells[1]), numbers(cells[1])], "polls");
      const rest = await page.locator("#pane-locations [data-of=lives] .hint").allInnerTexts();
      const others = rest.length === 0 ? 0 : rest[0].match(/\d+/g).map(Number).reduce((a, b) => a + b, 0);
      assert.equal(found.lives.bars + others, numbers(cells[0]), "tasks");
      assert.ok(found.polls.marks.p99 <= found.polls.marks.longest);
    }
    await locations.nth(n - 1).click();
    await frame(page);
    assert.equal(await page.locator("#pane-locations .histogram").count(), 0, "a second click shows all again");
  }));

test("a group of lanes has the histograms of its location", () =>
  open("random.html", { hash: "#sel=of.1.1&tab=selection" }, async (page) => {
    const { kind, section, group } = await selection(page);
    assert.equal(kind, "group");
    const polls = await page.evaluate(([section, group]) => {
      const of = window.statemap.model.sections[section], { firstRow, rows } = of.groups[group];
      let polls = 0;
      for (let i = of.rowFirst[firstRow]; i < of.rowFirst[firstRow + rows]; i++) polls += of.isRunning[of.state[i]];
      return polls;
    }, [section, group]);
    const found = await histograms(page, "#pane-selection");
    assert.ok(polls > 0);
    assert.deepEqual([found.polls.n, found.polls.bars], [polls, polls]);
  }));

test("a bar shows its longest poll, by mouse and by keys", () =>
  open("random.html", {}, async (page) => {
    await page.click("#tab-locations");
    await page.locator("#pane-locations .place-cell button").first().click();
    const found = await histograms(page, "#pane-locations");
    const bars = page.locator("#pane-locations [data-of=polls] button.bar");
    await bars.last().click();
    await frame(page);
    const length = () => page.evaluate(() => {
      const { section, transition } = window.statemap.selection();
      const of = window.statemap.model.sections[section];
      return of.endOf(transition) - of.time[transition];
    });
    assert.equal(await length(), found.polls.marks.longest);
    assert.equal(await page.locator("#pane-locations [data-of=polls] button.bar[tabindex='0']").count(), 1, "one stop of Tab");
    await bars.last().focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await frame(page);
    const first = page.locator("#pane-locations [data-of=polls] button.bar").first();
    const from = Number(await first.getAttribute("data-from"));
    assert.ok((await length()) >= from && (await length()) < found.polls.marks.longest);
    assert.match(await first.getAttribute("aria-label"), /^[\d\u202f]+ polls? of .* to .*: show the longest$/);
  }));

test("a blamed function has the histogram of all its polls", () =>
  open("why.html", {}, async (page) => {
    await page.click("#tab-selection");
    const pane = page.locator('#pane-selection [data-scope="culprit"]');
    await pane.locator(".histogram").waitFor();
    assert.deepEqual(await pane.locator(".histogram").evaluateAll((all) => all.map(({ dataset }) => [dataset.of, dataset.n])), [["polls", "1"]]);
    assert.match(await page.locator("#pane-selection").innerText(), /All polls of the blamed function\s+render_invoice src\/shop\.rs:21/);
  }));

test("narrow: the histograms fit", () =>
  open("random.html", { viewport: { width: 390, height: 844 } }, async (page) => {
    await page.click("#tab-locations");
    await page.locator("#pane-locations .place-cell button").first().click();
    await histograms(page, "#pane-locations");
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    const cut = await page.evaluate(() => [...document.querySelectorAll(".scale > span, .mark > span")]
      .map((label) => label.getBoundingClientRect()).filter(({ left, right }) => left < 0 || right > 390).length);
    assert.equal(cut, 0);
  }));
