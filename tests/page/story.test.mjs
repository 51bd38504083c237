// The script of the page comes to the same results as the report. The page of the data files is the same page.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { load } from "../../tokio-statemap/src/render/html/page/data/decode.js";
import { findIssues } from "../../tokio-statemap/src/render/html/page/model/issues.js";
import { buildCumulative } from "../../tokio-statemap/src/render/html/page/model/lanes.js";
import { pollInfo } from "../../tokio-statemap/src/render/html/page/model/polls.js";
import { openingOf } from "../../tokio-statemap/src/render/html/page/model/opening.js";
import { findWhy } from "../../tokio-statemap/src/render/html/page/model/why.js";
import { buildWorkerPolls } from "../../tokio-statemap/src/render/html/page/model/worker_polls.js";

const folder = process.env.PAGES;

const island = (html, id) => JSON.parse(html.match(new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, "s"))[1]);

async function modelOf(name) {
  const html = readFileSync(join(folder, name), "utf8");
  const chunks = [...html.matchAll(/class="statemap-chunk">(.*?)<\/script>/gs)].map((found) => found[1]);
  const model = await load(island(html, "statemap-meta"), island(html, "statemap-tail"), chunks);
  model.sections.forEach(buildCumulative);
  buildWorkerPolls(model);
  model.sections.forEach(findWhy);
  return model;
}

/** Returns the visible properties of a poll, whatever its origin. */
function seen(model, poll) {
  const section = model.sections[poll.section];
  return { name: section.name(poll.row), start: poll.start, held: poll.held, own: poll.own };
}

const names = readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));

test(`${names.length} pages of runs say what the report says`, async () => {
  assert.ok(names.length > 0);
  for (const name of names) await look(name);
});

async function look(name) {
  const expected = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  const run = await modelOf(`${name}.run.html`);
  const judged = run.sections.find(({ why }) => why !== null);
  const longest = judged?.why.culprits[0]?.longest;
  const worst = longest === undefined ? null : pollInfo(judged, longest.transition);
  assert.equal(run.meta.verdict, expected.verdict, name);
  // It is a whole group if no poll of the first issue is drawn.
  assert.equal(openingOf(run)?.target.kind === "span", expected.points, name);
  if (expected.worst === null) {
    assert.equal(worst, null, name);
    return;
  }
  const { name: row, start, held, own } = seen(run, worst);
  assert.deepEqual({ row, start, held, own }, expected.worst, name);
  // The initial selection is the first one of the list.
  const listed = findIssues(run, run.meta.long).blamed.find(({ kind }) => kind === "culprit");
  assert.equal(listed.list[0].transition, worst.transition, name);
  const [culprit] = judged.why.culprits;
  assert.deepEqual([culprit.place, culprit.polls, culprit.at.length], [expected.culprit, expected.polls, expected.polls], name);
}
