// The SVG: it names the worst poll, can be zoomed, shows details on a click, and is a still picture in an <img>.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserForTests, expected, frame } from "./browser.mjs";

const open = browserForTests(frame);
const { names, totals, lengthNs, rows } = expected("expected.json");

const MS = 1_000_000;
const texts = (page, selector) => page.locator(`${selector} text`).allTextContents();
/** Returns the begin and end, in columns. */
const range = async (page) => {
  const [from, , size] = (await page.locator("#map").getAttribute("viewBox")).split(" ").map(Number);
  return [from, from + size];
};
const press = async (page, key) => {
  await page.keyboard.press(key);
  await frame(page);
};
const boxOf = (page, selector) => page.evaluate((selector) => document.querySelector(selector).getBoundingClientRect().toJSON(), selector);

/** Returns the position of a row at a time, as long as all of the row is in view. */
const at = (page, name, ns) =>
  page.evaluate(
    ([name, share]) => {
      const rows = [...document.querySelectorAll("#map .r")];
      const row = rows.find((row) => row.querySelector("title").textContent === name).getBoundingClientRect();
      const map = document.getElementById("map");
      const [left, width] = ["x", "width"].map((key) => Number(map.getAttribute(key)));
      return [left + share * width, (row.top + row.bottom) / 2];
    },
    [name, ns / lengthNs],
  );

/** Counts the pixels of a picture that have a colour. */
const pixels = (page, png, colour) =>
  page.evaluate(
    async ([png, colour]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (Math.hypot(...colour.map((value, channel) => data[i + channel] - value)) < 12) found++;
      }
      return found;
    },
    [png.toString("base64"), colour],
  );

test("it opens on the worst poll", () =>
  open("blocked.svg", {}, async (page) => {
    assert.deepEqual(await texts(page, ".bar"), ["longest poll: 51.2 ms on worker-1, task-41, at 10.0 ms"]);
    assert.match((await texts(page, "#verdict")).join(" "), /src\/api\.rs:88:20/);
    const outlined = await page.evaluate(() =>
      [...document.querySelectorAll("#map .w")].map((path) => path.parentNode.querySelector("title").textContent),
    );
    assert.deepEqual(outlined, ["worker-1", "task-41"]);
    assert.equal(await page.locator("#map .r").count(), rows);
    const [x, y] = await at(page, "task-41", 30 * MS);
    assert.equal(await page.title(), "blocked");
    const fill = await page.evaluate(([x, y]) => getComputedStyle(document.elementFromPoint(x, y)).fill, [x, y]);
    assert.equal(fill, "rgb(220, 38, 127)", "the poll is seen as running");
  }));

test("wheel and keys zoom, move and go back", () =>
  open("blocked.svg", {}, async (page) => {
    const all = await range(page);
    assert.equal(all[0], 0);
    const [x, y] = await at(page, "task-41", 30 * MS);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -300);
    await frame(page);
    const [from, to] = await range(page);
    assert.ok(to - from < all[1] / 2, "the wheel zooms in");
    const share = (30 * MS) / lengthNs;
    assert.ok(Math.abs(from + share * (to - from) - share * all[1]) < all[1] / 500, "what is at the cursor stays there");
    await press(page, "f");
    assert.deepEqual(await range(page), all);
    await press(page, "z");
    assert.deepEqual(await range(page), [from, to]);
    await press(page, "f");
    for (const [closer, wider] of [["w", "s"], ["+", "-"]]) {
      await press(page, closer);
      const [near, far] = await range(page);
      assert.ok(far - near < all[1] / 1.4, closer);
      await press(page, "d");
      assert.ok((await range(page))[0] > near, "d goes right");
      await press(page, "ArrowLeft");
      assert.ok(Math.abs((await range(page))[0] - near) < 1, "and the arrow left again");
      await press(page, wider);
      const [first, last] = await range(page);
      assert.ok(first < 1 && last > all[1] - 1, wider);
    }
    const [left] = await at(page, "task-41", 0);
    await press(page, "w");
    const before = await range(page);
    await page.mouse.move(left + 300, y);
    await page.mouse.down();
    await page.mouse.move(left + 200, y, { steps: 4 });
    await page.mouse.up();
    await frame(page);
    assert.ok((await range(page))[0] > before[0], "a drag moves");
    for (let n = 0; n < 60; n++) await press(page, "w");
    const [near, far] = await range(page);
    assert.ok(far - near >= 1, "there is an end to it");
  }));

test("a click shows state and time, a second one with shift the time between", () =>
  open("blocked.svg", {}, async (page) => {
    await page.mouse.click(...(await at(page, "task-41", 30 * MS)));
    await frame(page);
    const said = await texts(page, "#panel");
    assert.equal(said[0], "task-41");
    assert.ok(said.some((line) => /^running at (29|30)\.\d+ ms$/.test(line)), said.join("\n"));
    assert.ok(said.join(" ").includes("exactly 51\u00a0200\u00a0000 ns on worker-1"), said.join("\n"));
    assert.match((await texts(page, ".bar"))[0], /^task-41: running, a poll of 51\.2 ms, at (29|30)\./);
    await page.keyboard.down("Shift");
    await page.mouse.click(...(await at(page, "task-41", 50 * MS)));
    await page.keyboard.up("Shift");
    await frame(page);
    const delta = /^delta = ([\d.]+) ms/.exec((await texts(page, ".bar"))[0]);
    assert.ok(Math.abs(Number(delta?.[1]) - 20) < 0.3, "20 ms but for a pixel or two");
    await page.mouse.click(...(await at(page, "worker-1", 30 * MS)));
    await frame(page);
    assert.ok((await texts(page, "#panel")).join(" ").includes("held by task-41, src/api.rs:88:20"));
    await press(page, "Escape");
    assert.deepEqual([await texts(page, "#panel"), await texts(page, ".bar")], [[], []]);
  }));

test("the legend shows a single state and its exact total", () =>
  open("blocked.svg", {}, async (page) => {
    for (const [section, states] of totals.entries()) {
      for (const [state, [name, ns]] of states.entries()) {
        const item = page.locator(`#legend .c${section} .k`).nth(state);
        await item.click();
        await frame(page);
        assert.equal(await item.getAttribute("aria-pressed"), "true");
        const [title, sum] = await texts(page, "#panel");
        assert.equal(title, name);
        assert.equal(sum.replace(/\u00a0/g, "").split(": ")[1], `${ns} ns in all`);
        const fills = await page.evaluate(
          ([section, state]) =>
            [...document.querySelectorAll(`#map .c${section} path[class^="s"]`)].map((path) => [
              path.getAttribute("class") === `s${state}`,
              getComputedStyle(path).fill === "rgb(226, 226, 226)",
            ]),
          [section, state],
        );
        assert.ok(fills.length > 0 && fills.every(([isIt, isGrey]) => isIt !== isGrey), "all others are grey");
        await item.focus();
        await press(page, "Enter");
        assert.equal(await item.getAttribute("aria-pressed"), "false", "keys do the same");
      }
    }
  }));

test("the legend shows the time of a state by location", () =>
  open("blocked.svg", {}, async (page) => {
    await page.locator("#legend .c1 .k").nth(1).click();
    await frame(page);
    const said = await texts(page, "#panel");
    assert.ok(said.includes("src/api.rs:88:20") && said.includes("src/api.rs:12:9"), said.join("\n"));
    await press(page, "Escape");
    assert.deepEqual(await texts(page, "#panel"), []);
  }));

test("the head stays in place, and the legend within reach", () =>
  open("random.svg", {}, async (page) => {
    const top = async () => (await boxOf(page, "#body")).top;
    const [head, before] = [await boxOf(page, "#head"), await top()];
    await press(page, "End");
    assert.ok((await top()) < before - 500, "it scrolls");
    assert.deepEqual(await boxOf(page, "#head"), head);
    const topmost = await page.evaluate((y) => Boolean(document.elementFromPoint(600, y).closest("#head, #axis, .bar")), head.bottom - 4);
    assert.ok(topmost, "rows go on beneath the head");
    const legend = await boxOf(page, "#legend .k");
    assert.ok(legend.top > 0 && legend.bottom <= 900);
    await press(page, "Home");
    assert.equal(await top(), before);
  }));

test("in an <img> it is a still picture", () =>
  open("img.html", { embeds: ["blocked.svg"] }, async (page) => {
    assert.ok(await page.evaluate(() => document.images[0].naturalWidth >= 800));
    const png = await page.screenshot();
    assert.ok((await pixels(page, png, [0xdc, 0x26, 0x7f])) > 3_000, "running is there");
    assert.ok((await pixels(page, png, [0x1f, 0x5f, 0xd0])) > 50, "the worst poll is marked");
  }));

test("on a dark page it is dark, also in an <img>", async () => {
  await open("img.html", { embeds: ["blocked.svg"], colorScheme: "dark" }, async (page) => {
    const png = await page.screenshot();
    assert.ok((await pixels(page, png, [0x16, 0x16, 0x1a])) > 200_000, "the paper");
    assert.ok((await pixels(page, png, [0xff, 0x5a, 0xa0])) > 2_000, "running");
    assert.equal(await pixels(page, png, [0xdc, 0x26, 0x7f]), 0, "nothing is as on a light one");
  });
  await open("blocked.svg", { colorScheme: "dark" }, async (page) => {
    const fill = (selector) => page.evaluate((selector) => getComputedStyle(document.querySelector(selector)).fill, selector);
    assert.equal(await fill(".paper"), "rgb(22, 22, 26)");
    assert.equal(await fill("#map .c1 .s1"), "rgb(255, 90, 160)");
    await page.locator("#legend .c1 .k").nth(2).click();
    assert.equal(await fill("#map .c1 .s1"), "rgb(50, 50, 58)", "other states are dimmed");
  });
});

test("text is readable, light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open("blocked.svg", { colorScheme }, async (page) => {
      await press(page, "?");
      const faint = await page.evaluate(() => {
        const light = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
        const shine = (css) => css.match(/[\d.]+/g).slice(0, 3).map((c) => light(Number(c))).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const paper = shine(getComputedStyle(document.querySelector(".paper")).fill);
        return [...document.querySelectorAll("text, tspan")].filter((text) => text.textContent.trim() !== "").map((text) => {
          const ink = shine(getComputedStyle(text).fill);
          return [text.textContent, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)];
        }).filter(([, contrast]) => contrast < 4.5);
      });
      assert.deepEqual(faint, [], colorScheme);
    });
  }
});

test("a completed task is blank and has no share", () =>
  open("blocked.svg", {}, async (page) => {
    const completed = totals[1].findIndex(([name]) => name === "completed");
    const fill = () => page.evaluate((state) => getComputedStyle(document.querySelector(`#map .c1 .s${state}`)).fill, completed);
    assert.equal(await fill(), "none");
    const keys = await page.locator("#legend .c1 .k text").allTextContents();
    assert.equal(keys[completed], "completed");
    const shares = keys.map((key) => /([\d.]+) %$/.exec(key)?.[1]).filter(Boolean).map(Number);
    assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100) < 0.3, keys.join("; "));
    await page.locator("#legend .c1 .k").nth(completed).click();
    assert.notEqual(await fill(), "none", "unless it is what one looks for");
  }));

test("it begins like the report", () =>
  open("blocked.svg", {}, async (page) => {
    const headline = (await texts(page, "#verdict")).join(" ");
    const description = await page.locator("#about").textContent();
    assert.ok(headline.length > 40 && description.startsWith(headline.slice(0, 60)), headline);
    const sizes = await page.evaluate(() => [".headline", ".rest"].map((kind) => parseFloat(getComputedStyle(document.querySelector(`#verdict ${kind}`)).fontSize)));
    assert.ok(sizes[0] > sizes[1], "what matters is larger");
  }));

test("an empty picture is valid", () =>
  open("empty.svg", {}, async (page) => {
    assert.ok((await texts(page, "#head")).includes("empty"));
    for (const key of ["w", "d", "End", "f", "z", "?"]) await press(page, key);
    assert.equal((await texts(page, "#panel"))[0], "Keys");
  }));

for (let n = 0; n < names; n++) {
  test(`names number ${n}, meant to do harm, do nothing`, () =>
    open(`${n}.svg`, {}, async (page) => {
      for (const row of ["task-41", "worker-1", "main"]) {
        const [x, y] = await page.evaluate((name) => {
          const rows = [...document.querySelectorAll("#map .r")];
          const box = rows.find((row) => row.querySelector("title").textContent.endsWith(name)).getBoundingClientRect();
          return [600, (box.top + box.bottom) / 2];
        }, row);
        await page.mouse.click(x, y);
        await frame(page);
      }
      await page.locator("#legend .c1 .k").nth(1).click();
      await frame(page);
      const found = await page.evaluate(() => ({
        hacked: window.hacked,
        scripts: document.querySelectorAll("script").length,
        others: document.querySelectorAll("img, image, iframe, foreignObject, use, a, [href], [onload], [onerror]").length,
        controls: /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.textContent),
      }));
      assert.deepEqual(found, { hacked: undefined, scripts: 1, others: 0, controls: false });
    }));
}

for (const name of ["blocked.svg", "random.svg"]) {
  test(`${name} on a small screen`, () =>
    open(name, { viewport: { width: 360, height: 700 } }, async (page) => {
      const check = async () => {
        const out = await page.evaluate(() =>
          [...document.querySelectorAll("text")]
            .filter((text) => text.getClientRects().length > 0 && text.textContent !== "")
            .map((text) => [text.textContent, text.getBoundingClientRect()])
            .filter(([, { left, right }]) => left < -1 || right > 361)
            .map(([text]) => text),
        );
        assert.deepEqual(out, [], "no text is cut");
      };
      assert.equal((await boxOf(page, "svg")).width, 360);
      await check();
      await press(page, "w");
      await press(page, "?");
      await check();
    }));
}
