// Pages with times up to 2^64 ns: JavaScript reads each time exactly, and the page shows no invalid values.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { formatLength } from "../../tokio-statemap/src/render/html/page/format/numbers.js";
import { load } from "../../tokio-statemap/src/render/html/page/data/decode.js";
import { findIssues } from "../../tokio-statemap/src/render/html/page/model/issues.js";
import { buildCumulative, sectionTotals } from "../../tokio-statemap/src/render/html/page/model/lanes.js";
import { locationTable } from "../../tokio-statemap/src/render/html/page/model/locations.js";
import { buildWorkerPolls } from "../../tokio-statemap/src/render/html/page/model/worker_polls.js";

const folder = process.env.PAGES;
const names = readdirSync(folder).filter((name) => name.endsWith(".html"));

const island = (html, id) => JSON.parse(html.match(new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, "s"))[1]);

test(`${names.length} pages of extreme times`, async () => {
  assert.ok(names.length > 0);
  let longest = 0;
  for (const name of names) {
    const html = readFileSync(join(folder, name), "utf8");
    const chunks = [...html.matchAll(/class="statemap-chunk">(.*?)<\/script>/gs)].map((found) => found[1]);
    const meta = island(html, "statemap-meta");
    const model = await load(meta, island(html, "statemap-tail"), chunks);
    model.sections.forEach(buildCumulative);
    buildWorkerPolls(model);
    longest = Math.max(longest, model.lengthNs);
    assert.ok(meta.unit <= 2 ** 11 && Number.isSafeInteger(model.lengthNs / meta.unit), name);
    let all = 0n;
    for (const section of model.sections) {
      for (const time of section.time) assert.ok(time >= 0 && time <= model.lengthNs && Number.isSafeInteger(time / meta.unit), `${name}: ${time}`);
      const totals = sectionTotals(section, 0, model.lengthNs);
      const most = BigInt(model.lengthNs) * BigInt(section.nLanes);
      for (const total of totals) all += total;
      assert.ok(totals.every((total) => total >= 0n && total <= most), name);
    }
    assert.ok(all >= 0n, name);
    const { polls, ready } = findIssues(model);
    for (const { own, held } of polls) assert.doesNotMatch(formatLength(own, held), /NaN|Infinity|undefined|e\+/, name);
    for (const span of [...polls, ...ready]) assert.ok(span.length >= 0 && span.length <= model.lengthNs, name);
    for (const row of locationTable(model)) assert.ok(row.shareOfWorkers === null || row.shareOfWorkers >= 0, name);
  }
  assert.ok(longest > 2 ** 63, "one is so long");
});
