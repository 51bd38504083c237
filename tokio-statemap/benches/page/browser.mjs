// What a browser makes of a page and of an SVG: when it is ready, how much memory its renderer
// takes, and how long a frame takes at full zoom-out and zoomed in.
//
// node browser.mjs PAGE.html IMAGE.svg, with `playwright-core` in NODE_PATH/node_modules. Without the
// files it only says whether it could open them.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { delimiter, join } from "node:path";

const { STATEMAP_BROWSER, NODE_PATH, PATH = "" } = process.env;

/** Says why there are no figures, in one line. */
function refuse(why) {
  console.error(`no figures of a browser: ${why}`);
  process.exit(1);
}
const firstLine = (error) => String(error?.message ?? error).split("\n")[0];
process.on("uncaughtException", (error) => refuse(firstLine(error)));

if (parseInt(process.versions.node) < 20) refuse(`this is Node.js ${process.version}; install 20 or later`);
if (!NODE_PATH) refuse("NODE_PATH isn't set");
let playwright;
try {
  playwright = createRequire(join(NODE_PATH, "package.json"))("playwright-core");
} catch {
  refuse(
    `there is no playwright-core in ${NODE_PATH}; ` +
      `\`npm install --prefix ${NODE_PATH} playwright-core\` installs it`,
  );
}
const executablePath =
  STATEMAP_BROWSER ??
  ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge"]
    .flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)))
    .find(existsSync);
if (!executablePath) refuse("there is no Chromium, Chrome or Edge in PATH; install one, or set STATEMAP_BROWSER to its path");

const [page, image] = process.argv.slice(2);
if (!page) process.exit(0);

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const mb = (kb) => `${(kb / 1024).toFixed(0)} MB`;

/** Opens a file in a browser of its own, and gives `look`'s line with the renderer's memory. */
async function open(path, look) {
  const browser = await playwright.chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const tab = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    const began = performance.now();
    await tab.goto(pathToFileURL(path).href, { timeout: 120_000 });
    const line = await look(tab, () => performance.now() - began);
    const cdp = await browser.newBrowserCDPSession();
    const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter((process) => process.type === "renderer");
    const peaks = renderers.map(({ id }) =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? NaN),
    );
    return `${line}, renderer's peak ${mb(Math.max(...peaks))}`;
  } finally {
    await browser.close();
  }
}

const pageLine = await open(page, async (tab) => {
  const ready = await tab.evaluate(async () => {
    await window.statemap.ready;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now();
  });
  const frames = async (share) =>
    median(
      await tab.evaluate(async (share) => {
        const { statemap } = window;
        const length = statemap.model.lengthNs;
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        statemap.frameTimes.length = 0;
        for (let i = 0; i < 60; i++) {
          const width = length * share * (1 - i / 1e4);
          const t0 = Math.round((length - width) * 0.4);
          statemap.setView(t0, Math.round(t0 + width));
          await frame();
        }
        return [...statemap.frameTimes];
      }, share),
    ).toFixed(1);
  return `ready in ${(ready / 1000).toFixed(2)} s, a frame ${await frames(1)} ms, zoomed in ${await frames(0.001)} ms`;
});
console.log(`  page ${pageLine}`);

const imageLine = await open(image, async (tab, since) => {
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const ready = since();
  const zooms = [];
  for (let i = 0; i < 5; i++) {
    await tab.mouse.move(800, 300 + i);
    zooms.push(
      await tab.evaluate(async () => {
        const began = performance.now();
        const target = document.elementFromPoint(800, 400) ?? document.documentElement;
        const wheel = { deltaY: -120, clientX: 800, clientY: 400, bubbles: true, cancelable: true };
        target.dispatchEvent(new WheelEvent("wheel", wheel));
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        return performance.now() - began;
      }),
    );
  }
  return `ready in ${(ready / 1000).toFixed(2)} s, a zoom step ${median(zooms).toFixed(1)} ms`;
});
console.log(`  SVG  ${imageLine}`);
