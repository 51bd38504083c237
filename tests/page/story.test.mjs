// What the script of the page makes of a run is what the report says. The page of the data that the run leaves is the same page.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { load } from "../../tokio-statemap/src/render/html/page/data/decode.js";
import { findIssues, worstPoll } from "../../tokio-statemap/src/render/html/page/model/issues.js";
import { buildCumulative } from "../../tokio-statemap/src/render/html/page/model/lanes.js";
import { openingOf } from "../../tokio-statemap/src/render/html/page/model/opening.js";
import { findWhy, judgedSection } from "../../tokio-statemap/src/render/html/page/model/why.js";
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

/** What there is to be seen of a poll, wherever it is from. */
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
  const worst = worstPoll(run);
  assert.equal(run.meta.verdict, expected.verdict, name);
  // A whole group, if no poll of the first issue is drawn.
  assert.equal(openingOf(run)?.target.kind === "span", expected.points, name);
  if (expected.worst === null) {
    assert.equal(worst, null, name);
    return;
  }
  const { name: row, start, held, own } = seen(run, worst);
  assert.deepEqual({ row, start, held, own }, expected.worst, name);
  // What the page opens on is the first of its list.
  const listed = findIssues(run, run.meta.long).blamed.find(({ kind }) => kind === "culprit");
  assert.equal(listed.list[0].transition, worst.transition, name);
  const [culprit] = judgedSection(run).why.culprits;
  assert.deepEqual([culprit.place, culprit.polls, culprit.at.length], [expected.culprit, expected.polls, expected.polls], name);
}
