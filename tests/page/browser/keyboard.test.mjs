// Everything that the help names works by keyboard, Tab moves from part to part, and the focus is visible.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, frame, longPolls, longPollsOnce, selection, times } from "./browser.mjs";

const open = browserForTests();
const press = async (page, key) => {
  await page.keyboard.press(key);
  await frame(page);
};
const width = async (page) => {
  const { t0, t1 } = await times(page);
  return t1 - t0;
};
const length = (page) => page.evaluate(() => window.statemap.model.lengthNs);
const focused = (page) => page.evaluate(() => document.activeElement.id);
/** Presses Tab until `is` holds for the focused element. */
const tabTo = async (page, is) => {
  for (let i = 0; i < 200; i++) {
    if (await page.evaluate(`(${is})(document.activeElement)`)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab never came to ${is}`);
};
const tabToId = (page, id) => tabTo(page, `(at) => at.id === ${JSON.stringify(id)}`);
const folds = (page) => page.evaluate(() => window.statemap.folded().length);
const scrolled = (page) => page.evaluate(() => document.getElementById("scrollbar").scrollTop);
const spanOf = async (page) => {
  const { section, transition } = await selection(page);
  return page.evaluate(([section, transition]) => {
    const of = window.statemap.model.sections[section];
    return { t0: of.time[transition], t1: of.endOf(transition) };
  }, [section, transition]);
};

const zoomsBy = (nearer, farther) => async (page) => {
  const before = await width(page);
  await press(page, nearer);
  const closer = await width(page);
  assert.ok(closer < before);
  await press(page, farther);
  assert.ok((await width(page)) > closer);
};
const zooms = zoomsBy("w", "s");
const pans = async (page) => {
  for (let i = 0; i < 3; i++) await press(page, "w");
  const before = await times(page);
  await press(page, "d");
  const right = await times(page);
  assert.ok(right.t0 > before.t0);
  await press(page, "a");
  assert.ok((await times(page)).t0 < right.t0);
};
const scrolls = async (page) => {
  await press(page, "Home");
  const top = await scrolled(page);
  await press(page, "PageDown");
  const down = await scrolled(page);
  assert.ok(down > top);
  await press(page, "PageUp");
  assert.ok((await scrolled(page)) < down);
};
const selects = async (page) => {
  const before = await selection(page);
  await press(page, "ArrowRight");
  assert.notDeepEqual(await selection(page), before);
  await press(page, "ArrowDown");
  assert.equal((await selection(page)).kind, "span");
};
const zoomsToSelection = async (page) => {
  await press(page, "ArrowRight");
  const span = await spanOf(page);
  await press(page, "Enter");
  const view = await times(page);
  assert.ok(view.t0 <= span.t0 && view.t1 >= span.t1 && view.t1 - view.t0 <= Math.max(200, (span.t1 - span.t0) * 1.5));
};
const measures = async (page) => {
  await press(page, "ArrowRight");
  const span = await spanOf(page);
  await press(page, "Shift+ArrowRight");
  const range = await selection(page);
  assert.deepEqual(range, { kind: "range", ...span }, "it takes the span");
  await press(page, "Shift+ArrowRight");
  const longer = await selection(page);
  assert.ok(longer.t0 === range.t0 && longer.t1 > range.t1, "and goes on from there");
  await press(page, "Shift+ArrowLeft");
  assert.ok((await selection(page)).t1 < longer.t1);
  await press(page, "Escape");
  assert.equal(await selection(page), null);
  await press(page, "Shift+ArrowLeft");
  const free = await selection(page);
  assert.ok(free.kind === "range" && free.t1 > free.t0, "from the middle, if nothing is selected");
};
const folds_ = async (page) => {
  await tabTo(page, "(at) => at.classList.contains('row') && at.dataset.kind === 'group'");
  const before = await folds(page);
  await press(page, "Enter");
  assert.notEqual(await folds(page), before);
  await press(page, "Enter");
  assert.equal(await folds(page), before);
};

/** The keys for each line of the help, starting from the lanes. */
const CASES = {
  "wheel": zooms, "w s": zooms, "+ -": zoomsBy("+", "-"), "two fingers": zooms,
  "drag": pans, "a d": pans,
  "shift wheel": scrolls, "PgUp PgDn": scrolls,
  "double click": async (page) => {
    await zoomsToSelection(page);
    await folds_(page);
  },
  "f": async (page) => {
    await press(page, "w");
    await press(page, "f");
    assert.equal(await width(page), await length(page));
  },
  "z": async (page) => {
    const before = await times(page);
    await press(page, "f");
    await press(page, "w");
    await press(page, "z");
    await press(page, "z");
    assert.deepEqual(await times(page), before);
  },
  "click": selects, "← →": selects,
  "shift drag": measures, "Shift ← →": measures,
  "n p": async (page) => {
    const first = await selection(page);
    await press(page, "n");
    assert.notDeepEqual(await selection(page), first);
    await press(page, "p");
    assert.deepEqual(await selection(page), first);
  },
  ". ,": async (page) => {
    // The first poll that woke a task.
    const woke = await page.evaluate(() => {
      for (const { index, kind, waker } of window.statemap.model.sections) {
        const poll = kind === "tasks" && waker !== null ? waker.findIndex((by) => by >= 5) : -1;
        const of = window.statemap.model.sections[index];
        if (poll >= 0) return [index, of.time[poll], of.name(of.rowOf(poll))];
      }
      return null;
    });
    assert.notEqual(woke, null);
    const rowOf = ({ section, transition }) => page.evaluate(([section, transition]) => window.statemap.model.sections[section].rowOf(transition), [section, transition]);
    await page.evaluate((hash) => { location.hash = hash; }, `#sel=at.${woke.join(".")}`);
    await page.waitForFunction(() => window.statemap.selection()?.kind === "span");
    const row = await rowOf(await selection(page));
    await press(page, ",");
    const by = await selection(page);
    assert.notEqual(await rowOf(by), row, "another task woke it");
    await press(page, ".");
    assert.notDeepEqual(await selection(page), by);
  },
  "/": async (page) => {
    await press(page, "/");
    assert.equal(await focused(page), "search");
    await page.keyboard.type("task-12");
    await page.locator("#search-results [role=option]").nth(1).waitFor();
    await press(page, "ArrowDown");
    await press(page, "Enter");
    assert.equal((await selection(page)).kind, "row");
    assert.equal(await focused(page), "lanes");
  },
  "Esc": async (page) => {
    await press(page, "ArrowRight");
    await press(page, "Escape");
    assert.equal(await selection(page), null);
  },
  "?": async (page) => {
    await press(page, "?");
    assert.equal(await page.locator("#help").evaluate((help) => help.open), true);
    await tabToId(page, "help-close");
    await press(page, "Enter");
    assert.equal(await page.locator("#help").evaluate((help) => help.open), false);
  },
  "Tab": async (page) => {
    for (const id of ["tab-issues", "search", "fit", "palette", "share", "help-open", "minimap", "lanes"]) await tabToId(page, id);
  },
  "↑ ↓": async (page) => {
    await press(page, "ArrowRight");
    const before = await selection(page);
    await press(page, "ArrowDown");
    assert.notDeepEqual(await selection(page), before);
    await tabTo(page, "(at) => at.classList.contains('row') && at.getAttribute('aria-expanded') !== null");
    const label = () => page.evaluate(() => document.activeElement.title);
    const first = await label();
    await press(page, "ArrowDown");
    assert.notEqual(await label(), first);
    await press(page, "ArrowUp");
    assert.equal(await label(), first);
  },
  "Enter": async (page) => {
    await zoomsToSelection(page);
    await folds_(page);
  },
  "t": async (page) => {
    await press(page, "ArrowRight");
    const { section, transition } = await selection(page);
    await press(page, "t");
    const row = await page.evaluate(([section, transition]) => window.statemap.model.sections[section].rowOf(transition), [section, transition]);
    assert.deepEqual(await selection(page), { kind: "row", section, row });
  },
  "Home End": async (page) => {
    await press(page, "w");
    await tabToId(page, "minimap");
    await press(page, "Home");
    assert.equal((await times(page)).t0, 0);
    await press(page, "End");
    assert.equal((await times(page)).t1, await length(page));
    const before = await times(page);
    await press(page, "ArrowLeft");
    const left = await times(page);
    assert.ok(left.t0 < before.t0);
    await press(page, "ArrowUp");
    assert.ok((await width(page)) < left.t1 - left.t0);
    await press(page, "ArrowDown");
  },
};

test("each line of the help works by keyboard", () =>
  open("random.html", {}, async (page) => {
    await page.locator("#lanes").focus();
    await page.keyboard.press("?");
    const lines = await page.evaluate(() => [...document.querySelectorAll("#help-body dl:not(.words) dt")].map((line) => line.textContent));
    assert.deepEqual(lines.filter((line) => !Object.hasOwn(CASES, line)), [], "no keys for these");
    assert.deepEqual(Object.keys(CASES).filter((line) => !lines.includes(line)), [], "not in the help");
  }));

for (const [line, act] of Object.entries(CASES)) {
  test(`by keyboard: ${line}`, () =>
    open(line === ". ," ? "path.html" : "random.html", {}, async (page) => {
      await tabToId(page, "lanes");
      await act(page);
    }));
}

test("the panel by keyboard: tabs, the threshold, lists, filters", () =>
  open("random.html", {}, async (page) => {
    await tabTo(page, "(at) => at.getAttribute('role') === 'tab'");
    const names = await page.locator("#tabs [role=tab]:not([hidden])").evaluateAll((tabs) => tabs.map((tab) => tab.id));
    for (const id of [...names.slice(1), names[0]]) {
      await press(page, "ArrowRight");
      assert.equal(await focused(page), id);
      assert.equal(await page.locator(`#${id}`).getAttribute("aria-selected"), "true");
    }
    await tabTo(page, "(at) => at.type === 'range'");
    const before = await longPolls(page);
    for (let i = 0; i < 200; i++) await page.keyboard.press("ArrowRight");
    await longPollsOnce(page, "fewer", before);
    await page.keyboard.press("Home");
    await longPollsOnce(page, "more", before);
    await tabTo(page, "(at) => at.classList.contains('issue')");
    await press(page, "Enter");
    await page.locator("#tab-locations").focus();
    await press(page, "Enter");
    await tabTo(page, "(at) => at.closest('.place-cell') !== null");
    await press(page, "Enter");
    assert.notEqual(await page.evaluate(() => window.statemap.filter()), null);
    await page.locator("#lanes").focus();
    for (let i = 0; i < 2; i++) await press(page, "Escape");
    assert.equal(await page.evaluate(() => window.statemap.filter()), null);
  }));

test("the colours by keyboard", () =>
  open("random.html", {}, async (page) => {
    await tabToId(page, "palette");
    const before = await page.inputValue("#palette");
    await press(page, "ArrowDown");
    assert.notEqual(await page.inputValue("#palette"), before);
  }));

for (const screen of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }]) {
  test(`what has the focus is seen: ${Object.values(screen)}`, () =>
    open("why.html", screen, async (page) => {
      const unseen = [];
      const seen = new Set();
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const at = document.activeElement;
          if (at === document.body) return null;
          window.at = at;
          const { x, y, width, height } = at.getBoundingClientRect();
          const name = at.id || `${at.className} ${at.textContent}`.slice(0, 60);
          return { name, clip: { x: Math.max(0, x - 4), y: Math.max(0, y - 4), width: width + 8, height: height + 8 } };
        });
        if (at === null || seen.has(at.name)) continue;
        seen.add(at.name);
        await frame(page);
        const focused = await page.screenshot({ clip: at.clip });
        await page.evaluate(() => window.at.blur());
        await frame(page);
        const blurred = await page.screenshot({ clip: at.clip });
        if (focused.equals(blurred)) unseen.push(at.name);
        await page.evaluate(() => window.at.focus({ preventScroll: true }));
      }
      assert.ok(seen.size > 12, [...seen].join("; "));
      assert.deepEqual(unseen, []);
    }));
}

test("a single span of tracing is shown on the timeline", () =>
  open("why.html", {}, async (page) => {
    await tabToId(page, "tab-issues");
    await page.keyboard.press("ArrowRight");
    await tabTo(page, "(at) => at.matches('details.request > summary')");
    await page.keyboard.press("Enter");
    assert.match(await page.locator("#pane-requests ol li").nth(1).innerText(), /^100 ns, outside of what is shown/);
    assert.equal(await page.locator("#pane-requests ol button").count(), 1, "only one is within what is shown");
    await tabTo(page, "(at) => at.matches('#pane-requests ol button')");
    await press(page, "Enter");
    const { kind, t0, t1 } = await selection(page);
    assert.deepEqual([kind, t0, t1], ["range", 1000, 1100]);
    const view = await times(page);
    assert.ok(view.t0 < t0 && t1 < view.t1 && view.t1 - view.t0 < 10000, JSON.stringify(view));
  }));
