// The tasks tab: a sorted and filtered table of all tasks, which contains elements only for the rows in view, and the spawn
// tree.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, expected, frame, selection, times } from "./browser.mjs";

const open = browserForTests();

const press = async (page, key) => {
  await page.keyboard.press(key);
  await frame(page);
};
/** Opens the tab, and waits until its table is there. */
const openTasks = async (page) => {
  await page.click("#tab-tasks");
  await page.locator("#task-grid .grid-body .grid-row").first().waitFor();
};
/** Waits until the status has this text. */
const said = (page, text) => page.locator("#task-status", { hasText: text }).waitFor();
const numbers = (text) => Number(text.replace(/\D/g, ""));
/** Returns the number of rows that exist as elements. */
const inDom = (page, grid = "#task-grid") => page.locator(`${grid} .grid-body .grid-row`).count();
const rowCount = async (page, grid = "#task-grid") => Number(await page.locator(grid).getAttribute("aria-rowcount")) - 1;

/** Returns the texts of the rows in view, from the top: one for each column. */
const rowsInView = (page, grid = "#task-grid") =>
  page.evaluate((grid) => {
    const box = document.querySelector(grid).getBoundingClientRect();
    const top = box.top + document.querySelector(`${grid} .grid-head`).offsetHeight;
    return [...document.querySelectorAll(`${grid} .grid-body .grid-row`)]
      .map((row) => [row.getBoundingClientRect(), row])
      .filter(([at]) => at.top > top - 1 && at.bottom < box.bottom + 1)
      .sort(([a], [b]) => a.top - b.top)
      .map(([, row]) => ({ index: Number(row.dataset.index), cells: [...row.children].map((cell) => cell.textContent) }));
  }, grid);

/** Returns each task from the columns of the page: name, polls, and their total time; without the table of the page. */
const tasksOf = (page) =>
  page.evaluate(() => {
    const section = window.statemap.model.sections.find(({ kind }) => kind === "tasks");
    return Array.from({ length: section.nRows }, (_, row) => {
      let polls = 0, held = 0;
      for (let i = section.rowFirst[row]; i < section.rowFirst[row + 1]; i++) {
        if (section.states[section.state[i]].name !== "running") continue;
        polls++;
        held += section.endOf(i) - section.time[i];
      }
      return { name: section.name(row), polls, held, location: section.groups[section.groupOfRow(row)].label, parent: section.parent[row] };
    });
  });

const nameOfSelected = (page) =>
  page.evaluate(() => {
    const { section, row } = window.statemap.selection();
    return window.statemap.model.sections[section].name(row);
  });

test("nothing is counted before the tab is opened; then all tasks are listed", () =>
  open("random.html", {}, async (page) => {
    assert.equal(await page.locator("#pane-tasks *").count(), 0);
    await openTasks(page);
    const tasks = await tasksOf(page);
    assert.equal(await rowCount(page), tasks.length);
    await said(page, `${tasks.length.toLocaleString("en").replace(",", "\u202f")} tasks`);
    // The tasks with the longest total of polls come first.
    const wanted = tasks.toSorted((a, b) => b.held - a.held).map(({ name }) => name);
    const rows = await rowsInView(page);
    assert.ok(rows.length > 8);
    assert.deepEqual(rows.map(({ cells }) => cells[0]), wanted.slice(0, rows.length));
  }));

test("a heading sorts, and a second click reverses the order", () =>
  open("random.html", {}, async (page) => {
    await openTasks(page);
    const tasks = await tasksOf(page);
    const heading = page.locator('#task-grid [data-sort="polls"]');
    const sorted = () => page.locator('#task-grid [role="columnheader"][aria-sort]');
    for (const [direction, sign] of [["descending", -1], ["ascending", 1]]) {
      await heading.click();
      await page.locator(`#task-grid [aria-sort="${direction}"]`).waitFor();
      await frame(page);
      assert.equal(await sorted().count(), 1);
      assert.match(await sorted().innerText(), /^Polls/);
      const wanted = tasks.map(({ polls }) => polls).sort((a, b) => sign * (a - b));
      const rows = await rowsInView(page);
      assert.deepEqual(rows.map(({ cells }) => numbers(cells[4])), wanted.slice(0, rows.length), direction);
    }
    // By keyboard.
    await page.locator('#task-grid [data-sort="name"]').focus();
    await press(page, "Enter");
    await page.locator('#task-grid [role="columnheader"][aria-sort="ascending"]', { hasText: "Task" }).waitFor();
    const names = (await rowsInView(page)).map(({ cells }) => cells[0]).filter((name) => name.startsWith("task-"));
    assert.deepEqual(names.slice(0, 5), ["task-1", "task-2", "task-3", "task-4", "task-5"]);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.sort), "name", "the focus stays");
  }));

test("text filters by name, location and state", () =>
  open("random.html", {}, async (page) => {
    await openTasks(page);
    const tasks = await tasksOf(page);
    for (const [text, is] of [
      ["api.rs:12", ({ location }) => location.includes("api.rs:12")],
      ["TASK-77", ({ name }) => name.includes("task-77")],
      ["task-7 api.rs:11", ({ name, location }) => name.includes("task-7") && location.includes("api.rs:11")],
    ]) {
      await page.fill("#task-filter", text);
      const wanted = tasks.filter(is);
      assert.ok(wanted.length > 0 && wanted.length < tasks.length, text);
      await page.waitForFunction((n) => document.getElementById("task-grid").getAttribute("aria-rowcount") === String(n + 1), wanted.length);
      await said(page, `${wanted.length} of `);
      const names = new Set(wanted.map(({ name }) => name));
      assert.ok((await rowsInView(page)).every(({ cells }) => names.has(cells[0])), text);
    }
    await page.fill("#task-filter", "no such thing");
    await page.waitForFunction(() => document.getElementById("task-grid").getAttribute("aria-rowcount") === "1");
    assert.equal(await inDom(page), 0);
    await page.locator("#task-filter").press("Escape");
    await page.waitForFunction((n) => document.getElementById("task-grid").getAttribute("aria-rowcount") === String(n + 1), tasks.length);
  }));

test("the selected location filters the table and the lanes", () =>
  open("random.html", {}, async (page) => {
    await openTasks(page);
    const tasks = await tasksOf(page);
    await page.click("#tab-locations");
    await page.locator("#pane-locations tbody tr").first().getByRole("button").first().click();
    const label = await page.evaluate(() => {
      const { section, group } = window.statemap.filter();
      return window.statemap.model.sections[section].groups[group].label;
    });
    const of = tasks.filter(({ location }) => location === label);
    assert.ok(of.length > 0 && of.length < tasks.length);
    await page.click("#tab-tasks");
    await said(page, `${of.length} of `);
    await said(page, `spawned at ${label}`);
    assert.equal(await rowCount(page), of.length);
    const names = new Set(of.map(({ name }) => name));
    assert.ok((await rowsInView(page)).every(({ cells }) => names.has(cells[0])));
    // The text filters within it.
    await page.fill("#task-filter", "task-1");
    const within = of.filter(({ name }) => name.includes("task-1")).length;
    await page.waitForFunction((n) => document.getElementById("task-grid").getAttribute("aria-rowcount") === String(n + 1), within);
    await page.fill("#task-filter", "");
    // Both show everything again.
    await page.click("#task-all");
    await page.waitForFunction((n) => document.getElementById("task-grid").getAttribute("aria-rowcount") === String(n + 1), tasks.length);
    assert.equal(await page.evaluate(() => window.statemap.filter()), null);
    assert.equal(await page.locator("#task-all").isVisible(), false);
  }));

test("a row goes to its task, and a second click zooms to it", () =>
  open("random.html", {}, async (page) => {
    await openTasks(page);
    await page.evaluate(() => window.statemap.setView(0, 10_000));
    await page.click('#task-grid [data-sort="name"]');
    await page.fill("#task-filter", "task-15");
    await said(page, " of ");
    await frame(page);
    const [, { cells: [name] }] = await rowsInView(page);
    const row = page.locator("#task-grid .grid-body .grid-row").nth(1);
    await row.click();
    await frame(page);
    assert.equal(await nameOfSelected(page), name);
    assert.equal(await row.getAttribute("aria-selected"), "true");
    assert.equal(await page.locator("#tab-tasks").getAttribute("aria-selected"), "true", "the table stays");
    const { section, row: index } = await selection(page);
    const where = () => page.evaluate(([section, row]) => {
      const of = window.statemap.model.sections[section];
      return { from: of.rowBegin(row), to: of.rowEnd(row), isVisible: window.statemap.placeOf(section, row).visible };
    }, [section, index]);
    const { from, to, isVisible } = await where();
    assert.ok(isVisible, "its lane is on the screen");
    const shown = await times(page);
    assert.ok(shown.t0 <= to && shown.t1 >= from, "and its time");
    await row.click();
    await frame(page);
    const zoomed = await times(page);
    assert.ok(zoomed.t0 <= from && zoomed.t1 >= Math.min(to, zoomed.t1) && zoomed.t1 - zoomed.t0 < (to - from) * 1.4 + 100);
  }));

test("with a hundred thousand tasks, only the rows in view exist", () =>
  open("many.html", {}, async (page) => {
    const { tasks } = expected("many.json");
    await openTasks(page);
    await said(page, "tasks.");
    assert.equal(await rowCount(page), tasks);
    const most = 60;
    for (const share of [0, 0.13, 0.5, 0.77, 1]) {
      await page.evaluate((share) => {
        const grid = document.getElementById("task-grid");
        grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * share;
      }, share);
      await frame(page);
      assert.ok((await inDom(page)) <= most, `${await inDom(page)} rows at ${share}`);
      const rows = await rowsInView(page);
      assert.ok(rows.length > 10, "what is in view is filled");
      assert.ok(Math.abs(rows[0].index / (tasks - rows.length) - share) < 0.01, `${rows[0].index} at ${share}`);
      rows.forEach(({ index }, k) => assert.equal(index, rows[0].index + k, "without a gap, in order"));
    }
    // Sorting and filtering may take a while; the result must be right.
    await page.click('#task-grid [data-sort="longest"]');
    await page.locator('#task-grid [aria-sort="descending"]', { hasText: "Longest" }).waitFor();
    await page.fill("#task-filter", "api.rs:30");
    const [, requests] = expected("many.json").tree;
    await page.waitForFunction((n) => document.getElementById("task-grid").getAttribute("aria-rowcount") === String(n + 1), requests);
    await frame(page);
    assert.deepEqual(new Set((await rowsInView(page)).map(({ cells }) => cells[6])), new Set(["1.31 µs"]), "300 and 1008 ns");
  }));

test("keys move through the rows, and Enter selects", () =>
  open("many.html", {}, async (page) => {
    const { tasks } = expected("many.json");
    await openTasks(page);
    const grid = page.locator("#task-grid");
    await grid.focus();
    await frame(page);
    const active = async () => {
      const id = await grid.getAttribute("aria-activedescendant");
      return page.evaluate((id) => {
        const row = document.getElementById(id), grid = document.getElementById("task-grid").getBoundingClientRect(), box = row.getBoundingClientRect();
        return { index: Number(row.dataset.index), at: row.getAttribute("aria-rowindex"), isSeen: box.top >= grid.top && box.bottom <= grid.bottom + 1 };
      }, id);
    };
    assert.deepEqual(await active(), { index: 0, at: "2", isSeen: true });
    for (const [key, index] of [["ArrowDown", 1], ["ArrowDown", 2], ["ArrowUp", 1], ["End", tasks - 1], ["ArrowUp", tasks - 2], ["Home", 0]]) {
      await press(page, key);
      assert.deepEqual(await active(), { index, at: String(index + 2), isSeen: true }, key);
    }
    await press(page, "PageDown");
    const { index } = await active();
    assert.ok(index > 5 && index < 60);
    const { cells: [name] } = (await rowsInView(page)).find((row) => row.index === index);
    await press(page, "Enter");
    assert.equal(await nameOfSelected(page), name);
    assert.equal(await page.evaluate(() => document.activeElement.id), "task-grid");
  }));

test("the parent of a task is one click away", () =>
  open("many.html", {}, async (page) => {
    await openTasks(page);
    await page.fill("#task-filter", "api.rs:50");
    await said(page, " of ");
    await page.waitForFunction(() => document.querySelector("#task-grid .of-location:not([role=columnheader])")?.title.includes("api.rs:50"));
    await frame(page);
    const [{ cells }] = await rowsInView(page);
    const parent = await page.evaluate((name) => {
      const section = window.statemap.model.sections.find(({ kind }) => kind === "tasks");
      for (let row = 0; row < section.nRows; row++) if (section.name(row) === name) return section.name(section.parent[row]);
      return null;
    }, cells[0]);
    assert.equal(cells.at(-1), parent);
    await page.locator("#task-grid .grid-body [data-act=parent]").first().click();
    await frame(page);
    assert.equal(await nameOfSelected(page), parent);
  }));

test("states are those at the selection on request", () =>
  open("blocked.html", {}, async (page) => {
    await openTasks(page);
    const states = async () => {
      await page.click('#task-grid [data-sort="state"]');
      await frame(page);
      const rows = await rowsInView(page);
      return rows.map(({ cells }) => cells[2]);
    };
    assert.ok((await states()).every((state) => ["waiting", "completed"].includes(state)));
    // The worst poll is selected: it began at 10 ms.
    await page.selectOption("#task-moment", "selection");
    await said(page, "State at 0.010");
    await page.locator("#task-grid .of-state", { hasText: "running" }).waitFor();
    const now = await page.evaluate(() => {
      const section = window.statemap.model.sections.find(({ kind }) => kind === "tasks");
      const at = (row) => {
        let found = "not spawned yet";
        for (let i = section.rowFirst[row]; i < section.rowFirst[row + 1]; i++) if (section.time[i] <= 10e6) found = section.states[section.state[i]].name;
        return found;
      };
      return Object.fromEntries(Array.from({ length: section.nRows }, (_, row) => [section.name(row), at(row)]));
    });
    for (const { cells } of await rowsInView(page)) assert.equal(cells[2], now[cells[0]], cells[0]);
    const age = (await rowsInView(page)).find(({ cells }) => cells[2] === "running").cells[3];
    assert.equal(age, "8.50 ms", "from 1.5 ms on");
  }));

test("the spawn tree, folded by location", () =>
  open("many.html", {}, async (page) => {
    const { tree: [acceptors, requests, asks] } = expected("many.json");
    await openTasks(page);
    await page.click("#task-tree");
    await said(page, "nodes");
    const tree = page.locator("#spawn-tree");
    await tree.locator(".grid-body .grid-row").first().waitFor();
    assert.equal(await tree.getAttribute("role"), "treegrid");
    const lines = () => page.evaluate(() => [...document.querySelectorAll("#spawn-tree .grid-body .grid-row")].map((row) => ({
      level: Number(row.getAttribute("aria-level")), open: row.getAttribute("aria-expanded"),
      label: row.querySelector(".name").textContent, tasks: row.children[1].textContent, below: row.children[2].textContent,
    })));
    const found = await lines();
    assert.deepEqual(found.map(({ level, tasks, open }) => [level, numbers(tasks), open]),
      [[1, 1, "true"], [2, acceptors, "true"], [3, requests, "true"], [4, asks, null]]);
    assert.deepEqual(found.map(({ below }) => numbers(below)), [1 + acceptors + requests + asks, acceptors + requests + asks, requests + asks, asks]);
    assert.match(found[3].label, /api\.rs:50/);
    // Keys fold and unfold it.
    await tree.focus();
    await press(page, "ArrowDown");
    await press(page, "ArrowLeft");
    assert.deepEqual((await lines()).map(({ level, open }) => [level, open]), [[1, "true"], [2, "false"]]);
    await press(page, "ArrowRight");
    await press(page, "ArrowRight");
    assert.equal((await lines()).length, 4);
    assert.equal(await tree.getAttribute("aria-activedescendant"), "spawn-tree-2");
    // The number of tasks lists them.
    await press(page, "t");
    await said(page, " of ");
    assert.equal(await rowCount(page), requests);
    assert.equal(await page.evaluate(() => document.activeElement.id), "task-grid");
    await page.click("#task-all");
    await page.waitForFunction((n) => document.getElementById("task-grid").getAttribute("aria-rowcount") === String(n + 1), 1 + acceptors + requests + asks);
  }));

test("narrow and wide, light and dark: nothing exceeds the width of the page", async () => {
  for (const width of [1600, 1280, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      await open("random.html", { viewport: { width, height: 844 }, colorScheme }, async (page) => {
        await openTasks(page);
        for (const isTree of [false, true]) {
          if (isTree) await page.click("#task-tree");
          await frame(page);
          const found = await page.evaluate(() => ({
            page: document.documentElement.scrollWidth,
            grid: document.querySelector(".grid:not([hidden])").getBoundingClientRect(),
            lanes: document.getElementById("overlay").getBoundingClientRect().width,
          }));
          assert.ok(found.page <= width, `${found.page} of ${width}`);
          assert.ok(found.grid.height > 200 && found.grid.right <= width + 1, JSON.stringify(found.grid));
          assert.ok(found.lanes > 150, `the lanes are ${found.lanes} wide`);
        }
      });
    }
  }
});

test("a page without tasks says so", () =>
  open("workers-only.html", {}, async (page) => {
    await page.click("#tab-tasks");
    assert.match(await page.locator("#pane-tasks").innerText(), /not recorded/);
  }));
