// What the script of the page makes of a run is what it makes of the data that the run leaves, and what the report says.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { load } from "../../tokio-statemap/src/render/html/page/data/decode.js";
import { findIssues, isOfCulprit, sentence, worstPoll } from "../../tokio-statemap/src/render/html/page/model/issues.js";
import { buildCumulative } from "../../tokio-statemap/src/render/html/page/model/lanes.js";
import { locationTable } from "../../tokio-statemap/src/render/html/page/model/locations.js";
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

test(`${names.length} pages of runs say what the report says, and so do those of their data`, async () => {
  assert.ok(names.length > 0);
  for (const name of names) await look(name);
});

async function look(name) {
  const expected = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  const [run, data] = [await modelOf(`${name}.run.html`), await modelOf(`${name}.data.html`)];
  const isNear = (a, b) => Math.abs(a - b) <= expected.slack;
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
  // Of the data: never what it doesn't know, and never nothing above a list of something.
  const worstOfData = worstPoll(data);
  const ofData = sentence(data, worstOfData, worstOfData && readyMeanwhile(data, worstOfData));
  assert.doesNotMatch(ofData, /held a worker|held worker|Nothing held/, name);
  if (worstOfData === null) assert.equal(ofData, expected.ofData, name);
  const issues = findIssues(data);
  const roots = issues.polls.filter((poll) => data.sections[poll.section].isRoot[poll.row] !== 0).length;
  assert.equal(worstOfData === null, issues.polls.length === roots, `${name}: ${ofData}, and a list of ${issues.polls.length}`);
  if (!expected.isComparable) return;
  const ofRun = findIssues(run);
  const order = (model, polls) => polls.map((poll) => seen(model, poll)).sort((a, b) => a.start - b.start || (a.name < b.name ? -1 : 1));
  const [a, b] = [order(run, ofRun.polls), order(data, issues.polls)];
  assert.equal(a.length, b.length, name);
  a.forEach((poll, i) => {
    assert.deepEqual([poll.name, poll.label], [b[i].name, b[i].label], name);
    assert.ok(isNear(poll.start, b[i].start) && isNear(poll.held, b[i].held), name);
  });
  // Whether a future of `block_on` waits for a worker, data doesn't say.
  const ofTasks = (model, spans) => spans.filter((span) => model.sections[span.section].isRoot[span.row] === 0).length;
  assert.equal(ofTasks(run, ofRun.ready), ofTasks(data, issues.ready), name);
  // Nor, then, whether it starved.
  const isTasks = ({ sections }, row) => sections[row.section].isRoot[sections[row.section].groups[row.group].firstRow] === 0;
  const starved = (model, rows) => rows.filter((row) => isTasks(model, row)).map((row) => row.label).sort();
  assert.deepEqual(starved(run, ofRun.starved), starved(data, issues.starved), name);
  if (expected.worst !== null && !expected.worst.isRoot) {
    assert.ok(expected.worst.names.includes(seen(data, worstOfData).name), name);
    assert.equal(readyMeanwhile(data, worstOfData), readyMeanwhile(run, worst), name);
    assert.match(ofData, /on a worker that isn't known/, name);
  }
  const table = (model) => locationTable(model).map((row) => [row.label, row.tasks, row.polls]).sort();
  assert.deepEqual(table(run), table(data), name);
}
