// The script lists the same issues as the report at the report's threshold, and the first one is that of the headline. At
// other thresholds only the long polls change.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { load } from "../../tokio-statemap/src/render/html/page/data/decode.js";
import { findIssues } from "../../tokio-statemap/src/render/html/page/model/issues.js";
import { buildCumulative } from "../../tokio-statemap/src/render/html/page/model/lanes.js";
import { firstNames, firstTarget } from "../../tokio-statemap/src/render/html/page/model/reported.js";
import { findWhy } from "../../tokio-statemap/src/render/html/page/model/why.js";
import { buildWorkerPolls } from "../../tokio-statemap/src/render/html/page/model/worker_polls.js";

const folder = process.env.PAGES;
const names = readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));

const island = (html, id) => JSON.parse(html.match(new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, "s"))[1]);

async function modelOf(name) {
  const html = readFileSync(join(folder, `${name}.html`), "utf8");
  const chunks = [...html.matchAll(/class="statemap-chunk">(.*?)<\/script>/gs)].map((found) => found[1]);
  const model = await load(island(html, "statemap-meta"), island(html, "statemap-tail"), chunks);
  model.sections.forEach(buildCumulative);
  buildWorkerPolls(model);
  model.sections.forEach(findWhy);
  return { model, html };
}

const isIssue = ({ kind }) => kind === "reported" || kind === "culprit";

/** Returns a description of each issue. */
const listed = (model, threshold) =>
  findIssues(model, threshold).blamed.filter(isIssue).map(({ name, polls, ns, text, group, section }) =>
    ({ kind: name, number: polls, total: ns, text, group: group < 0 ? null : model.sections[section].groups[group].label }));

test(`${names.length} pages list what the report does`, async () => {
  assert.ok(names.length > 0);
  const kinds = new Set();
  for (const name of names) {
    const { issues, verdict } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
    const { model, html } = await modelOf(name);
    const { long } = model.meta;
    assert.deepEqual(listed(model, long), issues, name);
    assert.equal(model.meta.verdict, verdict, name);
    assert.equal(firstTarget(model) === null, issues.length === 0, name);
    if (issues.length > 0) {
      kinds.add(issues[0].kind);
      assert.equal(listed(model, long)[0].text, verdict, name);
      assert.ok(firstNames(model).some((of) => verdict.includes(of)), `${name}: ${firstNames(model)} in ${verdict}`);
    }
    // This works without the script, too.
    const entities = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
    const answer = html.match(/<p id="answer">(.*?)<\/p>/s)[1].replace(/&([a-z]+|#39);/g, (_, entity) => entities[entity]);
    assert.equal(answer, verdict, name);
    const isOther = ({ kind }) => kind !== "long polls";
    for (const threshold of [long / 100, long * 10, long * 1e6]) {
      assert.deepEqual(listed(model, threshold).filter(isOther), issues.filter(isOther), name);
    }
    assert.deepEqual(listed(model, long * 1e6).filter((issue) => !isOther(issue)), [], name);
    assert.deepEqual(listed(model, long), issues, name);
    for (const { spots, list } of findIssues(model, long).blamed.filter(isIssue)) {
      for (const { section, transition, row } of [...spots, ...list]) {
        assert.equal(model.sections[section].rowOf(transition), row);
      }
    }
  }
  assert.equal(kinds.size, 5, `${[...kinds]}`);
});
