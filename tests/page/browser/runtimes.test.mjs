// Three runtimes on one page: each keeps its name, its charts, its workers, and its long polls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, frame, resize, selection } from "./browser.mjs";

const open = browserForTests();
const NAMES = ["db", "jobs", "api"];

test("their names are in the headings, in the head, and in the issues", () =>
  open("runtimes.html", {}, async (page) => {
    await resize(page, { width: 1400, height: 1600 });
    assert.equal(await page.locator("#title").innerText(), "shop");
    assert.match(await page.locator("#facts").innerText(), /runtimes db, jobs, api/);
    const headings = await page.locator(".gutter .row.section .name, .gutter .row.folded .name").allInnerTexts();
    for (const what of ["Workers of", "Over time,", "Tasks of"]) {
      for (const name of NAMES) assert.ok(headings.includes(`${what} ${name}`), `${what} ${name}: ${headings}`);
    }
    const issues = await page.locator("#issue-list .blame").allInnerTexts();
    assert.ok(issues.some((text) => text.includes("api · ")) && issues.some((text) => text.includes("jobs · ")), issues.join("; "));
    const answer = await page.locator("#answer").innerText();
    for (const name of NAMES) assert.ok(answer.includes(`${name}: `), answer);
    assert.ok(answer.startsWith("api: "), "the worst comes first");
  }));

test("each has its charts, one click away", () =>
  open("runtimes.html", { viewport: { width: 1400, height: 2400 } }, async (page) => {
    const shown = () => page.locator(".gutter .row.chart").evaluateAll((rows) => rows.map(({ dataset }) => dataset.chart));
    const before = await shown();
    assert.ok(before.length > 0 && before.every((key) => key.endsWith(before[0].slice(-2))), "those of one at first");
    for (const name of NAMES) {
      const heading = page.locator(".row.charts", { hasText: `, ${name}` });
      if ((await heading.getAttribute("aria-expanded")) === "false") await heading.click();
      await frame(page);
    }
    const keys = await shown();
    assert.equal(new Set(keys).size, 3 * before.length);
    // The charts show their own runtime: each has its longest poll elsewhere.
    const longest = keys.filter((key) => key.startsWith("longest"));
    const most = await page.evaluate((keys) => keys.map((key) => Math.max(...window.statemap.shown.chartData.of(key).values)), longest);
    const wanted = await page.evaluate((keys) => keys.map((key) => {
      const section = window.statemap.model.sections.find(({ kind, run }) => kind === "tasks" && run === Number(key.split(".")[1]));
      let most = 0;
      for (let i = 0; i < section.nTransitions; i++) if (section.worker[i] > 0) most = Math.max(most, section.endOf(i) - section.time[i]);
      return most;
    }), longest);
    assert.deepEqual(most, wanted);
    // The address contains the visible charts.
    await page.waitForFunction(() => location.hash.includes("hide="));
  }));

test("their long polls are on their workers, in the lanes and in the list", () =>
  open("runtimes.html", {}, async (page) => {
    // The page opens on an attributed poll.
    const chosen = await selection(page);
    assert.equal(chosen.kind, "span");
    const polls = await page.locator("#issue-list .of-group .issue .about").allInnerTexts();
    assert.ok(polls.length > 0 && polls.every((text) => /(api|jobs)\/worker-\d/.test(text)), polls.join("; "));
    const long = await page.evaluate(() => {
      const { model, shown } = window.statemap;
      return model.sections.map((section, index) => [section.kind, section.title, shown.longOnWorkers[index]?.map((polls) => polls.length) ?? null]);
    });
    for (const [kind, title, counts] of long) {
      if (kind !== "workers") continue;
      const sum = counts.reduce((a, b) => a + b, 0);
      assert.ok(title.endsWith("db") ? sum === 0 : sum > 0, `${title}: ${counts}`);
    }
    await page.click("#tab-selection");
    assert.match(await page.locator("#pane-selection").innerText(), /Worker\s+(api|jobs)\/worker-\d/);
  }));
