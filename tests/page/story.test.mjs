// What the script of the page makes of a run is what the report says. The page of the data that the run leaves is the same page.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { load } from "../../tokio-statemap/src/render/html/page/data/decode.js";
import { isOfCulprit, sentence, worstPoll } from "../../tokio-statemap/src/render/html/page/model/issues.js";
import { buildCumulative } from "../../tokio-statemap/src/render/html/page/model/lanes.js";
import { readyMeanwhile } from "../../tokio-statemap/src/render/html/page/model/waits.js";
import { buildWorkerPolls } from "../../tokio-statemap/src/render/html/page/model/worker_polls.js";

const folder = process.env.PAGES;

const island = (html, id) => JSON.parse(html.match(new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, "s"))[1]);

async function modelOf(name) {
  const html = readFileSync(join(folder, name), "utf8");
  const chunks = [...html.matchAll(/class="statemap-chunk">(.*?)<\/script>/gs)].map((found) => found[1]);
  const model = await load(island(html, "statemap-meta"), island(html, "statemap-tail"), chunks);
  model.sections.forEach(buildCumulative);
  buildWorkerPolls(model);
  return model;
}

/** What there is to be seen of a poll, wherever it is from. */
function seen(model, poll) {
  const section = model.sections[poll.section];
  return { name: section.name(poll.row), label: section.groups[poll.group].label, start: poll.start, held: poll.held };
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
  const headline = sentence(run, worst, worst && readyMeanwhile(run, worst));
  if (expected.worst === null) {
    assert.equal(worst, null, name);
    assert.equal(headline, expected.verdict, name);
  } else {
    const { name: row, start, held, label } = seen(run, worst);
    assert.deepEqual({ start, held }, { start: expected.worst.start, held: expected.worst.held }, name);
    assert.ok(expected.worst.names.includes(row), `${name}: ${row}`);
    assert.ok(headline.startsWith(label) && headline.includes(" held "), `${name}: ${headline}`);
    // The report is told, too, unless it names the same.
    assert.equal(isOfCulprit(run, worst), expected.culprit === label, name);
  }
}
