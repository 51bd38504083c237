// The times in the legend are those of the timeline, exact to the nanosecond, in any window.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, expected, legend } from "./browser.mjs";

const open = browserForTests();

test("a thousand windows", () =>
  open("random.html", {}, async (page) => {
    const windows = expected("windows.json");
    assert.equal(windows.length, 1_000);
    for (const { from, to, totals } of windows) {
      await page.evaluate(([from, to]) => window.statemap.setView(from, to), [from, to]);
      const { dataset } = await page.evaluate(() => {
        const { dataset } = document.getElementById("legend");
        return { dataset: { ...dataset } };
      });
      // A view has a minimum length; the visible range is compared.
      if (dataset.from !== String(from) || dataset.to !== String(to)) {
        assert.ok(to - from < 100, `${from} to ${to} is shown as ${dataset.from} to ${dataset.to}`);
        continue;
      }
      const found = await legend(page);
      // The workers' time in polls is separate from the rest of their awake time.
      const held = await page.locator("#legend [data-held]").getAttribute("data-ns");
      found.workers.running = String(BigInt(found.workers.running) + BigInt(held));
      for (const kind of ["workers", "tasks"]) {
        for (const [state, ns] of Object.entries(totals[kind])) {
          assert.equal(found[kind][state], ns, `${kind} ${state} from ${from} to ${to}`);
        }
      }
    }
  }));

test("the totals of a row in the selection are its own", () =>
  open("random.html", {}, async (page) => {
    await page.fill("#search", "task-7");
    await page.keyboard.press("Enter");
    await page.click("#tab-selection");
    const [shown, own] = await page.evaluate(() => {
      const { sections } = window.statemap.model;
      const section = sections.find(({ kind }) => kind === "tasks");
      const row = [...Array(section.nRows).keys()].find((row) => section.name(row) === "task-7");
      const own = {};
      for (let i = section.rowFirst[row]; i < section.rowFirst[row + 1]; i++) {
        const end = i + 1 < section.rowFirst[row + 1] ? section.time[i + 1] : section.rowEnd(row);
        const state = section.states[section.state[i]].name;
        if (state !== "completed") own[state] = (own[state] ?? 0) + end - section.time[i];
      }
      const shown = {};
      for (const line of document.querySelectorAll("#pane-selection [data-state]")) {
        if (line.dataset.ns !== "0") shown[line.dataset.state] = Number(line.dataset.ns);
      }
      return [shown, own];
    });
    for (const state of Object.keys(own)) if (own[state] === 0) delete own[state];
    assert.ok(own.running > 0);
    assert.deepEqual(shown, own);
  }));
