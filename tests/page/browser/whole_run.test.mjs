// A run far longer than the kept detail: the page opens on the detail around the worst poll, the whole run is one key away,
// and times known only as sums look different.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressWith, browserForTests, colour, expected, frame, pixels, selection, times } from "./browser.mjs";

const open = browserForTests();
const { block, blocked, polls, recent } = expected("run.json");

const length = (page) => page.evaluate(() => window.statemap.model.lengthNs);
const press = async (page, key) => {
  await page.keyboard.press(key);
  await frame(page);
};
const sumsOf = (page) => page.evaluate(() => window.statemap.model.meta.sums);
/** Returns the longest part without detail. */
const dropped = async (page) => (await sumsOf(page)).dropped.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a));
/** Removes the gaps between thousands: on a fast machine a stretch has that many polls. */
const ungrouped = (text) => text.replace(/(?<=\d)\u202f(?=\d)/g, "");
const spot = async (page, share, down = 0.6) => {
  const box = await page.locator("#overlay").boundingBox();
  return [box.x + box.width * share, box.y + box.height * down];
};
/** Shows the middle of a part without detail. */
const showDropped = async (page) => {
  const [from, to] = await dropped(page);
  await page.evaluate(([from, to]) => window.statemap.setView(from + (to - from) * 0.3, to - (to - from) * 0.3), [from, to]);
  await frame(page);
};
const poll = (page, { section, transition }) =>
  page.evaluate(([section, transition]) => {
    const of = window.statemap.model.sections[section];
    return { start: of.time[transition], end: of.endOf(transition), label: of.groups[of.groupOfRow(of.rowOf(transition))].label };
  }, [section, transition]);

test("it opens on the worst poll of the run, with the detail around it", () =>
  open("run.html", {}, async (page) => {
    const selected = await selection(page);
    assert.equal(selected.kind, "span");
    const { start, end, label } = await poll(page, selected);
    assert.equal(label, blocked);
    assert.ok(end - start >= block);
    const { t0, t1 } = await times(page);
    assert.ok(t0 < start && t1 > end, `${t0} ${start} ${end} ${t1}`);
    assert.ok(t1 - t0 < (await length(page)) / 2, "not the whole run");
    assert.ok(end < recent, "it was long ago");
    // Its lane is visible.
    const visible = await page.evaluate(([section, transition]) => {
      const of = window.statemap.model.sections[section];
      return window.statemap.placeOf(section, of.rowOf(transition)).visible;
    }, [selected.section, selected.transition]);
    assert.ok(visible);
  }));

test("the head and the legend state what is kept in detail", () =>
  open("run.html", {}, async (page) => {
    const said = (await page.locator("#detail").innerText()).replace(/\s+/g, " ");
    assert.match(said, /In detail: the last [\d.]+ \w+, and \d+ moments? before, around the longest polls \(.*\)\. In sums only: the other [\d.]+ m?s\./);
    assert.ok(!(await page.locator("#notes").innerText()).includes("In detail"), "once");
    const kept = page.locator('#legend [data-kept="detail"]'), summed = page.locator('#legend [data-kept="sums"]');
    const whole = await page.evaluate(() => {
      const { meta, lengthNs } = window.statemap.model;
      const sum = (parts) => parts.reduce((all, [from, to]) => all + to - from, 0);
      window.statemap.setView(0, lengthNs);
      return { kept: lengthNs - sum(meta.gaps), dropped: sum(meta.sums.dropped) };
    });
    assert.equal(Number(await kept.getAttribute("data-ns")), whole.kept);
    assert.equal(Number(await summed.getAttribute("data-ns")), whole.dropped);
    assert.match(await summed.innerText(), /of the workers' time in polls, the longest/);
    await showDropped(page);
    assert.match(await kept.innerText(), /nothing in view/);
    const states = await page.locator("#legend [data-state] .time").allTextContents();
    assert.ok(states.length > 3 && states.every((text) => text === "not kept"), `${states}`);
  }));

test("the whole run: the lanes are covered where no detail is kept, with bars", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open("run.html", { colorScheme }, async (page) => {
      const [ground, bar] = [await colour(page, "summed"), await colour(page, "summed-bar")];
      await press(page, "f");
      assert.deepEqual(await times(page), { t0: 0, t1: await length(page) });
      const painted = await pixels(page, "lanes-canvas", "painted");
      assert.ok((await pixels(page, "lanes-canvas", ground)) > painted * 0.2, colorScheme);
      assert.ok((await pixels(page, "lanes-canvas", bar)) > 500, colorScheme);
      assert.ok((await pixels(page, "minimap", bar)) > 500, "the strip of the whole run");
      await showDropped(page);
      // Lanes aren't visible beneath.
      for (const of of ["state-running", "state-ready"]) {
        assert.equal(await pixels(page, "lanes-canvas", await colour(page, of)), 0, of);
      }
      assert.ok((await pixels(page, "lanes-canvas", ground)) > painted * 0.3, colorScheme);
    });
  }
});

test("the sums contain all polls of the run", () =>
  open("run.html", {}, async (page) => {
    const sums = await sumsOf(page);
    await page.click("#tab-locations");
    const told = await page.locator("#pane-locations").innerText();
    assert.match(told, /The whole run[^]*Kept in detail[^]*Of what is kept in detail: .* of /);
    assert.ok(told.includes(blocked));
    assert.equal(sums.polls.reduce((sum, n) => sum + n, 0), polls);
  }));

test("the tasks tab states that it covers the kept detail", () =>
  open("run.html", {}, async (page) => {
    await page.click("#tab-tasks");
    await page.locator("#task-grid").waitFor();
    assert.match(await page.locator("#pane-tasks").innerText(), /Of what is kept in detail: .* of /);
  }));

test("a stretch is described at the pointer, on a click, by keys, and to a screen reader", () =>
  open("run.html", {}, async (page) => {
    await showDropped(page);
    await page.mouse.move(...(await spot(page, 0.5)));
    await frame(page);
    const said = ungrouped(await page.locator("#tooltip").innerText());
    assert.match(said, /^In polls: [\d.]+ % of the time of 2 workers\n(\d+ polls? began, the longest .*, spawned at .*whole_run\.rs:\d+:\d+|0 polls began)\n\d+ tasks? alive at the end\n/);
    assert.match(said, /No detail is kept of this time/);
    await page.mouse.down();
    await page.mouse.up();
    await frame(page);
    const { kind, stretch } = await selection(page);
    assert.equal(kind, "stretch");
    const sums = await sumsOf(page);
    await page.click("#tab-selection");
    const pane = ungrouped(await page.locator("#pane-selection").innerText());
    assert.match(pane, new RegExp(`Polls\\s+${sums.polls[stretch]} began`));
    assert.match(pane, new RegExp(`${sums.alive[stretch]} alive at its end`));
    await page.locator("#lanes").focus();
    await press(page, "ArrowRight");
    assert.deepEqual(await selection(page), { kind: "stretch", stretch: stretch + 1 });
    await press(page, "ArrowLeft");
    assert.deepEqual(await selection(page), { kind: "stretch", stretch });
    assert.match(await page.locator("#live").textContent(), /^Stretch of .*, sums only: in polls .* % of the time of 2 workers, /);
    await press(page, "Escape");
    assert.equal(await selection(page), null);
    await press(page, "ArrowRight");
    assert.equal((await selection(page)).kind, "stretch", "with nothing selected, that in the middle");
    await press(page, "Enter");
    const { t0, t1 } = await times(page);
    assert.ok(t1 - t0 < 1.3 * sums.stretch, "Enter zooms to it");
    assert.match(await page.locator("#minimap").getAttribute("aria-valuetext"), /, sums only$/);
  }));

test("a location has histograms of the whole run, labelled as such", () =>
  open("run.html", {}, async (page) => {
    await page.click("#tab-locations");
    const { places } = await sumsOf(page);
    for (const [index, { polls, ready, label }] of places.entries()) {
      await page.click(`#pane-locations [data-whole="${index}"]`);
      const found = await page.evaluate(() => [...document.querySelectorAll('#pane-locations [data-scope="whole"] .histogram')].map((each) => [
        each.dataset.of, Number(each.dataset.n), [...each.querySelectorAll("[data-n]")].reduce((sum, bar) => sum + Number(bar.dataset.n), 0),
      ]));
      const wanted = [...(polls > 0 ? ["polls"] : []), ...(ready === null ? [] : ["ready"])];
      assert.deepEqual(found.map(([of]) => of), wanted, label);
      assert.ok(found.every(([, n, bars]) => n > 0 && n === bars), label);
      if (polls === 0) continue;
      assert.equal(found[0][1], polls, label);
      assert.match(await page.locator('#pane-locations [data-scope="whole"]').innerText(), /Counts the whole run, from its sums/);
    }
  }));

test("the strip of the whole run moves the view, and describes the stretches", () =>
  open("run.html", {}, async (page) => {
    const [from, to] = await dropped(page);
    const box = await page.locator("#minimap").boundingBox();
    const share = (from + to) / 2 / (await length(page));
    await page.mouse.move(box.x + box.width * share, box.y + 30);
    assert.match(await page.locator("#tooltip").innerText(), /polls? began/);
    const before = await times(page);
    await page.mouse.down();
    await page.mouse.up();
    await frame(page);
    const { t0, t1 } = await times(page);
    assert.ok(t0 < (from + to) / 2 && t1 > (from + to) / 2);
    assert.ok(Math.abs(t1 - t0 - (before.t1 - before.t0)) < 2);
    assert.ok((await pixels(page, "minimap", [0x1f, 0x5f, 0xd0])) > 10, "where there is detail");
  }));

test("n and p reach the old parts with detail, from anywhere", () =>
  open("run.html", {}, async (page) => {
    const worst = await selection(page);
    await showDropped(page);
    await page.locator("#lanes").focus();
    await press(page, "n");
    await press(page, "p");
    assert.deepEqual(await selection(page), worst);
    const { start, end } = await poll(page, worst);
    const { t0, t1 } = await times(page);
    assert.ok(t0 <= end && t1 >= start, "it is in view");
    // Back to a part without detail.
    await press(page, "z");
    assert.notDeepEqual(await times(page), { t0, t1 });
  }));

test("the address contains views of the whole run, and stretches", async () => {
  let whole = "", stretch = "", selected = null;
  await open("run.html", {}, async (page) => {
    // The page writes the address only after a change, so another tab is opened.
    await page.click("#tab-locations");
    assert.doesNotMatch(await addressWith(page, "tab=locations"), /t=/, "the first view needs no times");
    await page.click("#tab-issues");
    await page.locator("#lanes").focus();
    await press(page, "f");
    whole = await addressWith(page, "t=0_");
    assert.match(whole, /t=0_\d+/);
    await showDropped(page);
    await page.mouse.click(...(await spot(page, 0.5)));
    stretch = await addressWith(page, "sel=sum.");
    selected = await selection(page);
    assert.match(stretch, /sel=sum\.\d+/);
  });
  await open("run.html", { hash: whole }, async (page) => {
    assert.deepEqual(await times(page), { t0: 0, t1: await length(page) });
  });
  await open("run.html", { hash: stretch }, async (page) => {
    assert.deepEqual(await selection(page), selected);
    const first = await times(page);
    await page.evaluate(() => { location.hash = ""; });
    await frame(page);
    assert.notDeepEqual(await times(page), first);
    assert.equal((await selection(page)).kind, "span", "the worst poll again");
  });
});

test("narrow and wide: nothing overlaps, and everything is readable", async () => {
  for (const width of [1600, 1280, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      await open("run.html", { viewport: { width, height: 900 }, colorScheme }, async (page) => {
        await press(page, "f");
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width}`);
        const bad = await page.evaluate(() => {
          const parts = [...document.querySelectorAll("#head-line, #answer-line, #detail, #notes, #minimap-row, #axis-row, #lanes, #foot")];
          const boxes = parts.filter((part) => part.offsetParent !== null).map((part) => [part.id, part.getBoundingClientRect()]);
          const bad = [];
          for (const [i, [id, one]] of boxes.entries()) {
            for (const [other, two] of boxes.slice(i + 1)) if (one.bottom > two.top + 1) bad.push(`${id} and ${other}`);
          }
          return bad;
        });
        assert.deepEqual(bad, [], `${width} ${colorScheme}`);
      });
    }
  }
});
