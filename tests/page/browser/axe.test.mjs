// axe-core finds no serious problems: light, dark, and in forced colours; in each tab, the help and the search.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browserForTests, frame } from "./browser.mjs";

const open = browserForTests();
const source = readFileSync(join(process.env.AXE, "axe.min.js"), "utf8");

const SCREENS = [
  { colorScheme: "light" }, { colorScheme: "dark" },
  { colorScheme: "light", forcedColors: "active" }, { colorScheme: "dark", forcedColors: "active" },
];

/** Returns the problems that axe finds, one per line. */
const found = async (page, where) => {
  const violations = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary}`) }));
  });
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${where}: ${id}\n  ${nodes.slice(0, 4).join("\n  ")}`);
};

/** Opens everything that can be open. */
const everywhere = async (page) => {
  // It isn't a script of the page, whose policy wouldn't allow it.
  await page.evaluate(source);
  const all = [];
  for (const tab of await page.locator("#tabs [role=tab]:not([hidden])").all()) {
    await tab.click();
    await frame(page);
    for (const row of await page.locator("details.request > summary").filter({ visible: true }).all()) await row.click();
    all.push(...await found(page, await tab.innerText()));
  }
  await page.fill("#search", "1");
  await page.locator("#search-results li").first().waitFor();
  all.push(...await found(page, "search"));
  await page.fill("#search", "no such thing");
  await page.locator("#search-results .none").waitFor();
  all.push(...await found(page, "search in vain"));
  await page.keyboard.press("Escape");
  await page.click("#help-open");
  all.push(...await found(page, "help"));
  return all;
};

for (const name of ["why.html", "waits.html"]) {
  for (const screen of SCREENS) {
    test(`${name}, ${Object.values(screen).join(", ")}`, () =>
      open(name, screen, async (page) => assert.deepEqual(await everywhere(page), [])));
  }
}

for (const name of ["random.html", "empty.html"]) {
  test(name, () => open(name, {}, async (page) => assert.deepEqual(await everywhere(page), [])));
}

test("a narrow screen", () =>
  open("why.html", { viewport: { width: 390, height: 800 } }, async (page) => assert.deepEqual(await everywhere(page), [])));
