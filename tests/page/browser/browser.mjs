// Opens pages in Chromium, and asserts that none of them requests or reports anything.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);

/** Returns what a file beside the pages contains. */
export const expected = (name) => JSON.parse(readFileSync(join(process.env.PAGES, name), "utf8"));

/** Waits until the page is complete. It is measured again after everything is counted: labels return with a frame. */
const isReady = async (page) => {
  await page.evaluate(async () => {
    await window.statemap.ready;
    await window.statemap.settled;
  });
  await frame(page);
};

/** Starts the browser that the tests of the pages share. Returns the function that opens a page in it, and `wait`s. */
export const browserForTests = (wait = isReady) => {
  let browser;
  before(async () => {
    browser = await chromium.launch({ executablePath: process.env.STATEMAP_BROWSER, args: ["--no-sandbox"] });
  });
  after(() => browser.close());

  /** Opens a page, waits for its picture, passes it to `use`, and asserts that it reported nothing. */
  return async (name, { hash = "", embeds = [], ...options }, use) => {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
    // A wait ends with its condition. Only a page that never fulfils it takes this long, so the limit is generous.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const complaints = [];
    const [url, ...embedded] = [name, ...embeds].map((file) => pathToFileURL(join(process.env.PAGES, file)).href);
    page.on("console", (message) => {
      // The tests read pixels, which causes this warning.
      if (message.text().includes("willReadFrequently")) return;
      if (["error", "warning"].includes(message.type())) complaints.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
    page.on("request", (request) => {
      if (![url, ...embedded].includes(request.url().split("#")[0])) complaints.push(`request: ${request.url().slice(0, 200)}`);
    });
    page.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    try {
      await page.goto(url + hash);
      await wait(page);
      await use(page);
      // A page without a script has none.
      if (options.javaScriptEnabled !== false) await frame(page);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  };
};

/** Waits until the changes are on the screen. */
export const frame = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Resizes the window, and waits until the page has been drawn for it. */
export const resize = async (page, size) => {
  await page.setViewportSize(size);
  await page.waitForFunction(({ width, height }) => window.innerWidth === width && window.innerHeight === height, size);
  await frame(page);
};

/** Advances the clock of the page by so many ms. Its timers don't fire earlier. */
export const letTimePass = (page, ms) =>
  page.evaluate((ms) => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + ms;
  }, ms);

/**
 * Waits until the address contains `text`, and returns it. The page writes the whole address at once, some time after a
 * change.
 */
export const addressWith = async (page, text) => {
  await page.waitForFunction((text) => location.hash.includes(text), text);
  return page.evaluate(() => location.hash);
};

/** Waits for the delayed effects of a move: the times in the legend are those of the view. */
export const counted = async (page) => {
  await page.waitForFunction(() => {
    const { from, to } = document.getElementById("legend").dataset;
    const { t0, t1 } = window.statemap.view;
    return Number(from) === Math.round(t0) && Number(to) === Math.round(t1);
  });
  await frame(page);
};

/** Returns the times of the view. */
export const times = (page) => page.evaluate(() => ({ ...window.statemap.view }));

/** Returns the selection. */
export const selection = (page) => page.evaluate(() => window.statemap.selection());

/** Returns the times in the legend as text: by kind of section, then by state. */
export const legend = (page) =>
  page.evaluate(() => {
    const { sections } = window.statemap.model;
    const found = {};
    for (const key of document.querySelectorAll("#legend [data-state]")) {
      const { kind } = sections[Number(key.dataset.section)];
      (found[kind] ??= {})[key.dataset.state] = key.dataset.ns;
    }
    return found;
  });

/** Counts the pixels of the lanes' canvas within the box (in its pixels) for which `is` holds. */
export const pixels = (page, id, test) =>
  page.evaluate(
    ([id, test]) => {
      const canvas = document.getElementById(id);
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let i = 0; i < data.length; i += 4) {
        const [r, g, b, a] = data.subarray(i, i + 4);
        if (test === "painted" ? a > 0 : Math.hypot(r - test[0], g - test[1], b - test[2]) < 12) found++;
      }
      return found;
    },
    [id, test],
  );

/** Returns a colour of the palette on this page: red, green and blue. */
export const colour = (page, name) =>
  page.evaluate((name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
    probe.remove();
    return found;
  }, name);

/** Returns the number of long polls in the issues tab. */
export const longPolls = async (page) => {
  const groups = page.locator("#issue-list .blame:not(.reported)");
  return groups.evaluateAll((all) => all.reduce((sum, { dataset }) => sum + Number(dataset.number), 0));
};

/** Waits until the issues tab counts fewer long polls than `n`, or more, and returns the number. */
export const longPollsOnce = async (page, is, n) => {
  await page.waitForFunction(([is, n]) => {
    const groups = [...document.querySelectorAll("#issue-list .blame:not(.reported)")];
    const sum = groups.reduce((sum, { dataset }) => sum + Number(dataset.number), 0);
    return is === "fewer" ? sum < n : sum > n;
  }, [is, n]);
  return longPolls(page);
};
