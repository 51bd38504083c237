// A page with more tasks than fit: folds, sticky headings, labels, charts, and a single link.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressWith, browserForTests, frame, pixels, resize, selection } from "./browser.mjs";

const open = browserForTests();
const noScript = browserForTests(async () => {});
const press = async (page, key) => {
  await page.keyboard.press(key);
  await frame(page);
};
const box = (page, selector) => page.locator(selector).boundingBox();
const chart = (page, key) => page.locator(`.row.chart[data-chart="${key}"]`);
/** Scrolls the lanes by so many px. */
const scroll = async (page, by) => {
  const { x, y, height } = await box(page, "#lanes");
  await page.mouse.move(x + 20, y + height / 2);
  await page.mouse.wheel(0, by);
  await frame(page);
};
/** Returns the visible labels: text, top and bottom, relative to the lanes. */
const labels = (page) => page.evaluate(() => {
  const lanes = document.getElementById("lanes").getBoundingClientRect();
  return [...document.querySelectorAll("#lanes .row")].map((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    const isFixed = row.parentNode.id === "gutter-pinned";
    return { kind: row.className, text: row.textContent.trim(), isFixed, top: top - lanes.top, bottom: bottom - lanes.top };
  }).filter(({ top, bottom }) => bottom > 0 && top < lanes.height).sort((a, b) => a.top - b.top);
});

test("large groups are folded, that of the worst poll around its lane; folded ones show the states of their tasks", () =>
  open("crowd.html", {}, async (page) => {
    const folded = await page.evaluate(() => window.statemap.folded());
    assert.equal(folded.length, 3);
    const { section, transition } = await selection(page);
    const place = await page.evaluate(([section, transition]) => {
      const of = window.statemap.model.sections[section];
      return { ...window.statemap.placeOf(section, of.rowOf(transition)), name: of.name(of.rowOf(transition)) };
    }, [section, transition]);
    assert.ok(place.visible && place.h >= 12);
    assert.ok((await labels(page)).some(({ text }) => text === place.name), "the lane of the worst poll has its name");
    const counts = await page.locator("#gutter .row.folded .counts").allTextContents();
    assert.equal(counts.length, 3);
    for (const text of counts) assert.match(text, /\d+ wait/);
    // Nearly all tasks wait, and those of the first group are all ready for a while.
    const said = await page.locator("#gutter .row.folded .counts").first().getAttribute("title");
    assert.match(said, /^On average over the view: [\d.]+ running, [\d.]+ ready, [\d.]+ waiting$/);
  }));

test("a resized page has its labels in every frame", () =>
  open("crowd.html", {}, async (page) => {
    // It is notified after the page and before the frame.
    await page.evaluate(() => {
      window.framesSeen = [];
      const note = () => window.framesSeen.push({ width: window.innerWidth, labels: document.querySelectorAll("#lanes .row").length });
      new ResizeObserver(note).observe(document.getElementById("lanes"));
    });
    for (const width of [1000, 1100]) {
      await resize(page, { width, height: 800 });
      assert.ok(await page.evaluate((width) => window.framesSeen.some((frame) => frame.width === width), width));
    }
    const frames = await page.evaluate(() => window.framesSeen);
    assert.ok(frames.every(({ labels }) => labels > 0), JSON.stringify(frames));
  }));

test("every lane has a label at every scroll position, and no two labels overlap", () =>
  open("crowd.html", {}, async (page) => {
    // Also of a whole group.
    await page.locator("#gutter .row.folded").first().click();
    await frame(page);
    for (let n = 0; n < 12; n++) {
      const rows = await labels(page);
      const bad = rows.filter(({ text }) => text === "");
      assert.deepEqual(bad, []);
      // Scrolled labels are covered by the fixed parts.
      const covered = Math.max(...rows.filter(({ kind, isFixed }) => isFixed || kind.includes("stuck")).map(({ bottom }) => bottom));
      const plain = rows.filter(({ kind, isFixed, top }) => !isFixed && !kind.includes("stuck") && top >= covered - 0.5);
      assert.ok(plain.length > 5);
      for (const [i, row] of plain.entries()) {
        if (i > 0) assert.ok(Math.abs(row.top - plain[i - 1].bottom) <= 1, `${plain[i - 1].text} and ${row.text}`);
      }
      await scroll(page, 350);
    }
  }));

test("the heading of a group stays in sight while its lanes scroll, and can be pressed there", () =>
  open("crowd.html", {}, async (page) => {
    await page.locator("#gutter .row.folded").first().click();
    await frame(page);
    await scroll(page, 900);
    const stuck = page.locator("#gutter .row.stuck");
    assert.equal(await stuck.count(), 1);
    assert.match(await stuck.innerText(), /src\/api\.rs:88:20/);
    const pinned = await page.evaluate(() => document.getElementById("gutter-pinned").offsetHeight);
    const [heading, lanes] = [await stuck.boundingBox(), await box(page, "#lanes")];
    assert.ok(Math.abs(heading.y - lanes.y - pinned) <= 1, "right under the workers");
    const before = (await page.evaluate(() => window.statemap.folded())).length;
    await stuck.click();
    await frame(page);
    assert.equal((await page.evaluate(() => window.statemap.folded())).length, before + 1);
  }));

test("a selection in a large group is shown with the lanes around it only", () =>
  open("crowd.html", {}, async (page) => {
    await page.fill("#search", "task-77");
    await page.keyboard.press("Enter");
    await frame(page);
    const { section, row } = await selection(page);
    assert.ok((await page.evaluate(([section, row]) => window.statemap.placeOf(section, row), [section, row])).visible);
    assert.equal((await page.evaluate(() => window.statemap.folded())).length, 3);
    await page.locator("#lanes").focus();
    const seen = new Set();
    for (let n = 0; n < 14; n++) {
      await press(page, "ArrowDown");
      const now = await selection(page);
      const place = await page.evaluate(({ section, transition }) => {
        const of = window.statemap.model.sections[section];
        return { lane: of.rowLane[of.rowOf(transition)], ...window.statemap.placeOf(section, of.rowOf(transition)) };
      }, now);
      assert.ok(place.visible);
      seen.add(place.lane);
    }
    assert.equal(seen.size, 14, "on to lanes that weren't shown before");
  }));

test("the charts are drawn, have scales, and show their values at the pointer", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open("crowd.html", { colorScheme }, async (page) => {
      for (const [key, top] of [["ready", "200"], ["occupancy", "100 %"], ["longest", "100 ms"], ["alive", "200"]]) {
        assert.equal(await chart(page, key).locator(".scale.top").innerText(), top, key);
        const [label, lanes] = [await chart(page, key).boundingBox(), await box(page, "#overlay")];
        const painted = await page.evaluate(([from, to]) => {
          const canvas = document.getElementById("lanes-canvas");
          const { data } = canvas.getContext("2d").getImageData(0, from, canvas.width, to - from);
          const colours = new Map();
          for (let i = 0; i < data.length; i += 4) {
            const colour = `${data[i]} ${data[i + 1]} ${data[i + 2]}`;
            colours.set(colour, (colours.get(colour) ?? 0) + 1);
          }
          return [...colours.values()].sort((a, b) => b - a);
        }, [Math.round(label.y - lanes.y + 3), Math.round(label.y - lanes.y + label.height - 2)]);
        assert.ok(painted.length > 1 && painted[1] > 200, `${key}: ${painted}`);
      }
      const { x, y, width, height } = await box(page, "#overlay");
      const length = await page.evaluate(() => window.statemap.model.lengthNs);
      const before = await pixels(page, "overlay", "painted");
      // In the middle of the long poll.
      await page.mouse.move(x + (width * 60e6) / length, y + height - 8);
      await frame(page);
      assert.ok((await pixels(page, "overlay", "painted")) > before + 2000, "values stand beside the pointer");
      const texts = await page.evaluate((at) => ["ready", "occupancy", "longest", "alive"].map((key) => window.statemap.chartText(key, at)), (width * 60e6) / length);
      assert.match(texts[0], /^\d/);
      assert.match(texts[1], /^(5|6|7)\d\.\d %$/);
      assert.equal(texts[2], "51.2 ms");
      assert.equal(texts[3], "180");
    });
  }
});

test("the blocking pool: its threads and the length of its queue", () =>
  open("pool.html", {}, async (page) => {
    const { queue } = await page.evaluate(() => window.statemap.model.runs[0]);
    const most = Math.max(...queue.map(([, waiting]) => waiting));
    // One of them runs or is about to.
    assert.ok(most >= 10 && most <= 21, `${most}`);
    assert.equal(await chart(page, "blocking").locator(".scale.top").innerText(), most > 20 ? "30" : most > 10 ? "20" : "10");
    const texts = await page.evaluate((times) => {
      const { statemap } = window;
      const { width } = document.getElementById("overlay").getBoundingClientRect();
      return times.map((at) => statemap.chartText("blocking", (at / statemap.model.lengthNs) * width));
    }, queue.map(([at]) => at));
    // Not at each of these times: on a busy machine the thread begins late, and the number of threads is an average over
    // some pixels. The number of waiting tasks is the maximum there.
    assert.ok(texts.some((text) => text.endsWith(`, ${most} waiting`)), texts.join("; "));
    assert.ok(texts.some((text) => /^1, \d+ waiting$/.test(text)), texts.join("; "));
  }));

test("a chart is hidden by its name, all of them by their heading, and the address contains it", async () => {
  let hash = "";
  await open("crowd.html", {}, async (page) => {
    const height = async (key) => (await chart(page, key).boundingBox()).height;
    assert.ok((await height("occupancy")) >= 30);
    await chart(page, "occupancy").click();
    await frame(page);
    assert.ok((await height("occupancy")) < 20);
    assert.equal(await chart(page, "occupancy").getAttribute("aria-expanded"), "false");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.chart), "occupancy", "the focus stays");
    hash = await addressWith(page, "hide=occupancy");
  });
  await open("crowd.html", { hash }, async (page) => {
    assert.equal(await chart(page, "occupancy").getAttribute("aria-expanded"), "false");
    assert.equal(await chart(page, "ready").getAttribute("aria-expanded"), "true");
    const heading = page.locator(".row.charts");
    await heading.click();
    await frame(page);
    assert.equal(await page.locator(".row.chart").count(), 0);
    assert.equal(await heading.getAttribute("aria-expanded"), "false");
    await heading.click();
    await frame(page);
    assert.equal(await page.locator(".row.chart[aria-expanded=true]").count(), 4);
    await page.waitForFunction(() => !location.hash.includes("hide="));
    await page.evaluate(() => { location.hash = "hide=ready"; });
    await frame(page);
    assert.equal(await chart(page, "ready").getAttribute("aria-expanded"), "false");
  });
});

test("by keyboard: from heading to heading through the charts, and back", () =>
  open("crowd.html", {}, async (page) => {
    await page.locator(".row.charts").focus();
    await press(page, "ArrowDown");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.chart), "ready");
    await press(page, "ArrowLeft");
    assert.equal(await chart(page, "ready").getAttribute("aria-expanded"), "false");
    await press(page, "ArrowRight");
    assert.equal(await chart(page, "ready").getAttribute("aria-expanded"), "true");
    await press(page, "ArrowUp");
    assert.match(await page.evaluate(() => document.activeElement.className), /charts/);
  }));

test("no empty half: lanes, charts and folds fill the window", async () => {
  for (const [name, least] of [["crowd.html", 0.85], ["blocked.html", 0.7]]) {
    for (const width of [1600, 1280]) {
      await open(name, { viewport: { width, height: 900 } }, async (page) => {
        const rows = await labels(page);
        const { height } = await box(page, "#lanes");
        assert.ok(rows.at(-1).bottom >= height * least, `${name} ${width}: ${rows.at(-1).bottom} of ${height}`);
      });
    }
  }
});

/** A task with many polls on two workers: only the selected one is linked. */
test("only the selected poll of the selected task is linked to its worker", () =>
  open("busy.html", {}, async (page) => {
    const linked = () => page.evaluate(() => {
      // Only links are between the workers and the charts.
      const heading = document.querySelector(".row.charts").getBoundingClientRect(), canvas = document.getElementById("overlay");
      const y = Math.round(heading.top + heading.height / 2 - canvas.getBoundingClientRect().top);
      const found = new Set();
      for (let dy = -8; dy < 8; dy++) {
        const { data } = canvas.getContext("2d").getImageData(0, y + dy, canvas.width, 1);
        for (let x = 0; x < canvas.width; x++) if (data[4 * x + 3] > 60) found.add(x);
      }
      return found.size;
    });
    const { section, row } = await page.evaluate(() => {
      const of = window.statemap.model.sections.find(({ kind }) => kind === "tasks");
      return { section: of.index, row: [...Array(of.nRows).keys()].find((row) => of.name(row) === "task-2") };
    });
    await page.fill("#search", "task-2");
    await page.keyboard.press("Enter");
    await frame(page);
    assert.deepEqual(await selection(page), { kind: "row", section, row });
    await page.mouse.move(5, 5);
    await frame(page);
    assert.equal(await linked(), 0, "a task has no links");
    await page.locator("#lanes").focus();
    const isPoll = () => page.evaluate(() => {
      const { kind, section, transition } = window.statemap.selection();
      const of = window.statemap.model.sections[section];
      return kind === "span" && of.states[of.state[transition]].role === "running";
    });
    // Into the middle of its life.
    for (let n = 0; n < 9 || !(await isPoll()); n++) await press(page, "ArrowRight");
    const found = await linked();
    assert.ok(found >= 1 && found <= 4, `${found} pixels of links`);
  }));

test("the times in the legend of the workers don't overlap", () =>
  open("busy.html", {}, async (page) => {
    const [shown, wanted] = await page.evaluate(() => {
      const { model } = window.statemap;
      const workers = model.sections.find(({ kind }) => kind === "workers");
      const all = window.statemap.totals(0, model.lengthNs)[workers.index].reduce((a, b) => a + b, 0n);
      const keys = [...document.querySelectorAll(`#legend [data-section="${workers.index}"], #legend [data-held="${workers.index}"]`)];
      return [keys.map((key) => [key.querySelector(".name").textContent, key.dataset.ns]), String(all)];
    });
    assert.deepEqual(shown.map(([name]) => name), ["in polls", "awake, between polls", "parked", "stopped"]);
    assert.equal(String(shown.reduce((sum, [, ns]) => sum + BigInt(ns), 0n)), wanted, "together they are the workers' time, once");
    assert.ok(shown.slice(0, 2).every(([, ns]) => BigInt(ns) > 0n));
  }));

test("a tooltip disappears when the colours or the view change", () =>
  open("crowd.html", {}, async (page) => {
    const { x, y } = await box(page, "#overlay");
    const tooltip = page.locator("#tooltip");
    const point = async () => {
      await page.mouse.move(x + 300, y + 30);
      await page.mouse.move(x + 301, y + 31);
      await frame(page);
      assert.ok(await tooltip.isVisible());
    };
    await point();
    await page.evaluate(() => {
      const palette = document.getElementById("palette");
      palette.value = "statemap";
      palette.dispatchEvent(new Event("change"));
    });
    await frame(page);
    assert.ok(await tooltip.isHidden());
    await point();
    await page.locator("#lanes").focus();
    await press(page, "w");
    assert.ok(await tooltip.isHidden());
  }));

test("without JavaScript the page says so, instead of waiting", () =>
  noScript("crowd.html", { javaScriptEnabled: false }, async (page) => {
    assert.ok(await page.locator("#no-script").isVisible());
    assert.match(await page.locator("#no-script").innerText(), /needs JavaScript/);
    const { x, y, width, height } = await box(page, "#no-script");
    const lanes = await box(page, "#lanes");
    assert.ok(x <= lanes.x && y <= lanes.y && width >= lanes.width && height >= lanes.height, "it covers what isn't so");
    for (const id of ["loading", "panel", "controls", "foot"]) assert.ok(await page.locator(`#${id}`).isHidden(), id);
    assert.match(await page.locator("#answer").innerText(), /held the runtime up/);
  }));
