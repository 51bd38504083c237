// The source around the blamed line and around the spawn location is beside the poll.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, frame } from "./browser.mjs";

const open = browserForTests();

const excerpts = (page) => page.locator("#pane-selection .excerpt");
const linesOf = (excerpt) => excerpt.locator(".source-line").evaluateAll((lines) =>
  lines.map((line) => [Number(line.dataset.line), line.querySelector(".text").textContent, line.classList.contains("meant")]));

test("a poll has the source of the blamed function and of its spawn location", () =>
  open("source.html", {}, async (page) => {
    await page.click("#tab-selection");
    assert.equal(await excerpts(page).count(), 2);
    assert.deepEqual(await linesOf(excerpts(page).nth(0)), [
      [20, "fn render_invoice() {", false], [21, "    std::thread::sleep(PAUSE);", true], [22, "}", false],
    ]);
    const spawned = await linesOf(excerpts(page).nth(1));
    assert.deepEqual(spawned.map(([line]) => line), [85, 86, 87, 88, 89, 90, 91]);
    assert.deepEqual(spawned[3], [88, "tokio::spawn(blocks());", true]);
    assert.equal(spawned.filter(([, , meant]) => meant).length, 1);
    // The marked line is also recognizable without colours.
    const meant = page.locator("#pane-selection .source-line.meant").first();
    assert.match(await meant.locator(".number").textContent(), /▸21/);
    const [own, other] = await Promise.all([meant, page.locator("#pane-selection .source-line:not(.meant)").first()]
      .map((line) => line.evaluate((element) => getComputedStyle(element).backgroundColor)));
    assert.notEqual(own, other);
    assert.match(await excerpts(page).nth(0).locator("pre").getAttribute("aria-label"), /lines 20 to 22; line 21 is highlighted/);
    // It is newer than the program; the other has no note.
    assert.match(await excerpts(page).nth(0).innerText(), /newer than the recorded program/);
    assert.equal(await excerpts(page).nth(1).locator(".changed").count(), 0);
  }));

test("source is shown as text, whatever it contains", () =>
  open("source.html", {}, async (page) => {
    await page.click("#tab-selection");
    const [, , hostile] = await linesOf(excerpts(page).nth(1));
    assert.equal(hostile[1], "</script><script>window.hacked=1</script>\\u{202e}    // {{answer}}");
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    // Long lines scroll; the panel keeps its width.
    const fits = await page.evaluate(() => document.getElementById("pane-selection").scrollWidth <= document.getElementById("pane-selection").clientWidth);
    assert.ok(fits);
  }));

test("a location has its source, too, or none without source", async () => {
  await open("source.html", {}, async (page) => {
    await page.fill("#search", "api.rs:12");
    await page.keyboard.press("Enter");
    await page.click("#tab-selection");
    await frame(page);
    assert.deepEqual((await linesOf(excerpts(page))).map(([line]) => line), [9, 10, 11, 12, 13, 14, 15]);
  });
  await open("none.html", {}, async (page) => {
    await page.click("#tab-selection");
    assert.equal(await page.locator(".excerpt").count(), 0);
  });
});

test("the legend has shares, and times in tooltips", () =>
  open("none.html", {}, async (page) => {
    const keys = await page.locator("#legend [data-state]").evaluateAll((all) =>
      all.map((key) => [key.dataset.state, key.querySelector(".time").textContent, key.title]));
    assert.ok(keys.length >= 6);
    for (const [state, text, title] of keys) {
      assert.match(text, ["completed", "stopped"].includes(state) ? /^$/ : /^[\d.]+ %$/, state);
      assert.match(title, /^[\d.]+ [mµn]?s in the view, all (worker|task)s together/);
    }
    const tasks = await page.locator('#legend [data-state="waiting"], #legend [data-state="running"], #legend [data-state="ready"], #legend [data-state="spawned"]')
      .evaluateAll((all) => all.filter((key) => key.dataset.section === all.at(-1).dataset.section).map((key) => parseFloat(key.querySelector(".time").textContent)));
    const sum = tasks.reduce((all, share) => all + share, 0);
    assert.ok(Math.abs(sum - 100) < 0.5, `${tasks}`);
  }));

test("on a narrow screen, the file and its line are visible", () =>
  open("source.html", { viewport: { width: 390, height: 800 } }, async (page) => {
    const labels = await page.locator("#gutter .row.group .name, #gutter .row.lane.solo .name").allTextContents();
    assert.ok(labels.length > 0);
    for (const label of labels) assert.match(label, /api\.rs:\d+|main|workers/i);
    const headings = await page.locator(".gutter .row.section .name").allTextContents();
    for (const heading of ["Workers", "Tasks"]) assert.ok(headings.includes(heading), `${headings}`);
    // The names of charts end before their scales begin.
    const covered = await page.locator(".row.chart").evaluateAll((rows) => rows.filter((row) => {
      const [name, ...scales] = [".name", ".top", ".bottom"].map((of) => row.querySelector(of)?.getBoundingClientRect()).filter(Boolean);
      return scales.some(({ left, top, bottom }) => left < name.right && top < name.bottom && bottom > name.top);
    }).map((row) => row.textContent));
    assert.deepEqual(covered, []);
    await page.click("#tab-locations");
    const cut = await page.locator("#pane-locations .place-cell button").evaluateAll((all) => all.filter((button) => button.scrollWidth > button.clientWidth).length);
    assert.equal(cut, 0);
  }));

test("a line of the program is copied, or opened where the help says", () =>
  open("source.html", { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await page.click("#tab-selection");
    const source = page.locator("#pane-selection .blamed .source");
    await source.click();
    await page.waitForFunction(() => document.querySelector("#pane-selection .blamed .source").textContent === "Copied");
    await page.waitForFunction(() => /on the clipboard/.test(document.getElementById("live").textContent));
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /src\/shop\.rs:21$/);
    await page.click("#help-open");
    // Nothing that would run in the page is taken.
    for (const [address, fault] of [["javascript:alert({file})", /scheme/], ["vscode://file/shop", /\{file\}/]]) {
      await page.fill("#sources", address);
      assert.match(await page.locator("#sources-fault").innerText(), fault);
    }
    assert.equal(await page.locator("#pane-selection .blamed a").count(), 0);
    await page.fill("#sources", "vscode://file/home/me/shop/{file}:{line}");
    assert.equal(await page.locator("#sources-fault").innerText(), "");
    await page.click("#help-close");
    assert.match(await page.locator("#pane-selection .blamed a.source").getAttribute("href"), /^vscode:\/\/file\/.*src\/shop\.rs:21$/);
  }));
