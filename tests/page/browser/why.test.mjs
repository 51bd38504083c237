// Why a poll took long: its cause as a bar, the blamed function, its samples as a flame graph; issues by blamed function;
// the profile of all samples.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, counted, frame, pixels, selection, times } from "./browser.mjs";

const open = browserForTests();
const flame = (page, pane) => page.locator(`#pane-${pane} .flame [role=treeitem]`);
const names = (page, pane) => flame(page, pane).evaluateAll((boxes) => boxes.map((box) => box.firstChild.textContent));

test("the search finds a function, and Enter goes on", () =>
  open("why.html", {}, async (page) => {
    const find = async (text) => {
      await page.fill("#search", text);
      await page.keyboard.press("Enter");
      await frame(page);
      return selection(page);
    };
    // Another poll with the same samples.
    await page.evaluate(() => {
      const section = window.statemap.model.sections.find(({ why }) => why !== null && why.polls.size > 0);
      const [poll] = [...section.why.polls.values()].filter(({ samples }) => samples.length > 0);
      const other = section.state.findIndex((state, i) => section.isRunning[state] !== 0 && !section.why.polls.has(i));
      section.why.polls.set(other, { ...poll, transition: other });
    });
    const found = await find("render_inv");
    assert.equal(found.kind, "span");
    assert.ok(await page.evaluate(({ section, transition }) => window.statemap.model.sections[section].why.polls.has(transition), found));
    await page.keyboard.press("Enter");
    await frame(page);
    const next = await selection(page);
    assert.equal(next.kind, "span");
    assert.notEqual(next.transition, found.transition, "the next poll");
    await page.keyboard.press("Enter");
    await frame(page);
    assert.deepEqual(await selection(page), found, "and the first again");
    const { kind, t0, t1 } = await find("20 ms");
    assert.equal(kind, "range");
    assert.ok(t0 < 20e6 && t1 > 20e6);
    const wait = await find("no such function");
    assert.deepEqual(wait, { kind, t0, t1 }, "nothing else is shown");
  }));

test("the answer is the headline, its function stands out, and the first issue says the rest", () =>
  open("why.html", {}, async (page) => {
    const verdict = await page.evaluate(() => window.statemap.model.meta.verdict);
    const details = await page.locator("#issue-list .issue-text").first().innerText();
    assert.equal(`${await page.locator("#answer").innerText()} ${details}`, verdict);
    assert.equal(await page.locator("#answer .place").innerText(), "shop::render_invoice at src/shop.rs:21");
    await page.click("#answer-zoom");
    await frame(page);
    assert.equal(await page.evaluate(() => window.statemap.model.sections[window.statemap.selection().section].time[window.statemap.selection().transition]), 10_000_000);
  }));

test("the cause of a poll is a bar, and the blamed function is named", () =>
  open("why.html", {}, async (page) => {
    await page.click("#tab-selection");
    const parts = await page.locator(".cause-legend [data-cause]").evaluateAll((all) => all.map(({ dataset }) => [dataset.cause, dataset.ns]));
    assert.deepEqual(parts, [["computed", "1200000"], ["blocked", "40000000"], ["delay", "6000000"], ["stolen", "4000000"]]);
    const widths = await page.locator(".cause > span").evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
    assert.ok(widths[1] > widths[2] * 5 && widths[2] > widths[3]);
    assert.match(await page.locator(".cause").getAttribute("aria-label"), /^computed 1\.20 ms, blocked 40\.0 ms/);
    const text = await page.locator("#pane-selection").innerText();
    for (const said of [/2 pages of memory/, /only the amount is known, not when/, /shop::render_invoice at src\/shop\.rs:21\s+blocked in std::thread::sleep \(clock_nanosleep\)/, /3 samples, 40\.0 ms/]) {
      assert.match(text, said);
    }
    // An unknown cause, and a short poll.
    await page.locator("#lanes").focus();
    await page.keyboard.press("ArrowLeft");
    await frame(page);
    assert.equal(await page.locator(".cause").count(), 0);
  }));

test("polls that aren't attributed differ without colours: in the list, and in the lanes, as the legend explains", () =>
  open("why.html", {}, async (page) => {
    const groups = await page.locator("#issue-list .blame").evaluateAll((all) => all.map((group) => ({
      isUnblamed: group.classList.contains("unblamed"), sign: getComputedStyle(group.querySelector(".swatch.long")).backgroundImage,
      bar: getComputedStyle(group.querySelector(".bar span")).backgroundImage, text: group.innerText,
    })));
    assert.deepEqual(groups.map(({ isUnblamed }) => isUnblamed), [false, true]);
    assert.match(groups[1].text, /not caused by the program/);
    for (const key of ["sign", "bar"]) {
      assert.equal(groups[0][key], "none");
      assert.match(groups[1][key], /repeating-linear-gradient/);
    }
    const legend = await page.locator("#legend [data-long]").evaluateAll((keys) => keys.map((key) => [key.innerText, getComputedStyle(key.firstChild).backgroundImage]));
    assert.deepEqual(legend.map(([text]) => text), ["a function is blamed", "no function is blamed"]);
    assert.equal(legend[0][1], "none");
    assert.match(legend[1][1], /repeating-linear-gradient/);
  }));

test("unknown facts are named as unknown", () =>
  open("unknown.html", {}, async (page) => {
    await page.click("#tab-selection");
    assert.match(await page.locator("#pane-selection").innerText(), /Where its time went\s+Unknown\./);
    await page.click("#tab-profile");
    assert.match(await page.locator("#pane-profile").innerText(), /no stacks of long polls/);
  }));

test("the flame graph folds, and works by keyboard", () =>
  open("why.html", {}, async (page) => {
    await page.click("#tab-selection");
    assert.deepEqual(await names(page, "selection"), ["async <handle>", "render_invoice", "sleep", "blocked: clock_nanosleep"]);
    const box = (n) => flame(page, "selection").nth(n).boundingBox();
    const [outer, sleep] = [await box(0), await box(2)];
    assert.ok(Math.abs(sleep.width / outer.width - 0.75) < 0.02 && sleep.y > outer.y);
    assert.match(await flame(page, "selection").nth(1).innerText(), /shop\.rs:21/);
    assert.match(await flame(page, "selection").nth(1).getAttribute("title"), /shop::render_invoice at src\/shop\.rs:21: 40\.0 ms, 100 %, 3 samples\na function of the program/);
    const colours = await flame(page, "selection").evaluateAll((boxes) => boxes.map((box) => getComputedStyle(box).backgroundColor));
    assert.equal(colours[0], colours[1]);
    assert.notEqual(colours[1], colours[2]);
    await flame(page, "selection").nth(2).click();
    assert.ok(Math.abs((await box(2)).width - outer.width) < 2, "what is pressed has all the width");
    // Panning the picture doesn't change it.
    await page.locator("#lanes").focus();
    const before = await times(page);
    for (const key of ["w", "d"]) await page.keyboard.press(key);
    await counted(page);
    assert.notDeepEqual(await times(page), before);
    assert.ok(Math.abs((await box(2)).width - outer.width) < 2);
    await page.getByRole("button", { name: "Show all", exact: true }).click();
    assert.ok(Math.abs((await box(2)).width - sleep.width) < 2);
    await flame(page, "selection").first().focus();
    const focused = () => page.evaluate(() => document.activeElement.firstChild.textContent);
    for (const [key, name] of [["ArrowDown", "render_invoice"], ["ArrowDown", "sleep"], ["ArrowUp", "render_invoice"], ["End", "blocked: clock_nanosleep"], ["Home", "async <handle>"]]) {
      await page.keyboard.press(key);
      assert.equal(await focused(), name);
    }
  }));

test("issues are grouped by blamed function, and the machine is never among them", () =>
  open("why.html", {}, async (page) => {
    const groups = page.locator("#issue-list [data-group]");
    const found = await groups.allInnerTexts();
    assert.equal(found.length, 2);
    assert.match(found[0], /render_invoice[^]*41\.2 ms[^]*src\/shop\.rs:21 · 1 poll[^]*blocked in std::thread::sleep/);
    assert.match(found[1], /The machine took the processor[^]*1\.00 ms[^]*1 poll/);
    const machine = page.locator("#issue-list .machine");
    assert.equal(await machine.getAttribute("aria-expanded"), "false");
    await machine.click();
    assert.equal(await page.locator("#issue-list .machine").getAttribute("aria-expanded"), "true");
    assert.equal(await page.locator("#issue-list .of-group [data-issue]").count(), 2);
    // At a higher threshold, it isn't listed.
    await page.locator("#threshold").focus();
    await page.keyboard.press("PageUp");
    await groups.filter({ hasText: /The machine took the processor[^]*1\.00 ms/ }).waitFor({ state: "detached" });
    // The other one is that long.
    assert.equal(await groups.count(), 1);
    await page.keyboard.press("End");
    await page.waitForFunction(() => document.querySelectorAll("#issue-list [data-group]").length === 0);
  }));

test("a step into a closed group opens it", () =>
  open("why.html", {}, async (page) => {
    await page.locator("#lanes").focus();
    await page.keyboard.press("n");
    await frame(page);
    assert.equal(await page.locator("#issue-list .machine").getAttribute("aria-expanded"), "true");
    assert.equal(await page.locator("#issue-list [aria-current=true]").count(), 1);
  }));

test("the profile is the sum of all samples", () =>
  open("why.html", {}, async (page) => {
    await page.click("#tab-profile");
    const text = await page.locator("#pane-profile").innerText();
    for (const said of [/^Long polls\s+40\.0 ms/, /3 samples of 1 poll/, /Only polls longer than/]) assert.match(text, said);
    assert.equal((await names(page, "profile")).length, 4);
  }));

test("time taken by the machine is hatched, and the tooltip explains it", () =>
  open("why.html", {}, async (page) => {
    assert.match(await page.locator("#legend").innerText(), /amount only/);
    const plain = () => pixels(page, "lanes-canvas", [0xdc, 0x26, 0x7f]);
    const hatched = await plain();
    await page.evaluate(() => { window.statemap.model.sections.forEach((section) => { section.taken = []; }); });
    await page.selectOption("#palette", "statemap");
    await page.selectOption("#palette", "page");
    await frame(page);
    assert.ok((await plain()) > hatched + 100);
    const share = await page.evaluate(() => 20e6 / window.statemap.model.lengthNs);
    const box = await page.locator("#overlay").boundingBox();
    await page.mouse.move(box.x + box.width * share, box.y + 50);
    await frame(page);
    assert.match(await page.locator("#tooltip").innerText(), /render_invoice[^]*hatched at the end, as only the amount is known/);
  }));
