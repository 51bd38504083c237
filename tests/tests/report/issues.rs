//! The headline of the page, the first issue and the report agree with each other, with those that are made from the run's
//! files, and with what was planted: for 300 random programs with one problem or none.
#![cfg(tokio_unstable)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::browser::node;
use tests::files::folder;
use tests::page;
use tests::planted::issues::{ALL, WRONG, Wrong, program};
use tests::planted::{self, crowd, timeline, verdicts};
use tokio_statemap::picture::Picture;
use tokio_statemap::report::{Issue, Report, Verdict};
use tokio_statemap::statemap::read::{Statemap, read};
use tokio_statemap::statemap::{Labels, Recording, StatemapData, recordings};
use tokio_statemap::timeline::ExhaustedPool;
use tokio_statemap::{Timeline, html};

const PROGRAMS: u64 = 100;
/// The number of programs whose page is tested with its own script.
const PAGES: u64 = 70;

/// The outputs of one run.
struct Outputs {
    report: Report,
    page: Vec<u8>,
}

fn labels() -> Labels {
    Labels { title: "api".to_owned(), host: Some("box".to_owned()) }
}

impl Outputs {
    fn from_timeline(timeline: &Timeline) -> Self {
        let mut page = Vec::new();
        html::write(&Picture::of_timeline(timeline, &labels()), &mut page).unwrap();
        Self { report: timeline.report(), page }
    }

    /// Writes the run's files, reads them, and makes the outputs from them.
    fn from_files(timeline: &Timeline) -> Self {
        let data = StatemapData::new(timeline.clone(), labels());
        let files: Vec<Statemap> = [data.tasks_to_bytes(), data.workers_to_bytes()]
            .into_iter()
            .map(|bytes| read(&bytes.unwrap()[..]).unwrap())
            .collect();
        let mut page = Vec::new();
        html::write(&Picture::of_data(&files), &mut page).unwrap();
        let Recording::Run { timeline, .. } = recordings(&files).remove(0) else {
            panic!("it is a run")
        };
        Self { report: timeline.report(), page }
    }

    /// Describes the first contradiction between the outputs, if there is one.
    fn disagreement(&self) -> Option<String> {
        let page = page::check(&self.page).unwrap();
        let verdict = self.report.verdict.to_string();
        let text = self.report.to_string().replace('\n', " ");
        if !text.starts_with(&verdict) {
            return Some(format!("the report begins {text}, the verdict is {verdict}"));
        }
        if page.meta["verdict"] != *verdict {
            return Some(format!("the page says {}, the report {verdict}", page.meta["verdict"]));
        }
        let listed = page_issues(&page.meta);
        let expected: Vec<_> = self.report.issues().iter().map(report_issue).collect();
        if listed != expected {
            return Some(format!("the page lists {listed:#?}, the report {expected:#?}"));
        }
        let first = listed.first().map(|issue| issue["text"].clone());
        if first.is_some_and(|first| first != *verdict) {
            return Some(format!("the first issue is {:#?}", listed[0]));
        }
        None
    }
}

/// Returns the issues of the page.
fn page_issues(meta: &Value) -> Vec<Value> {
    let sections = meta["sections"].as_array().into_iter().flatten();
    let issues = sections.flat_map(|section| section["issues"].as_array().into_iter().flatten());
    let part = |issue: &Value| {
        let keys = ["kind", "number", "total", "text", "group"];
        keys.into_iter().map(|key| (key.to_owned(), issue[key].clone())).collect()
    };
    issues.map(|issue| Value::Object(part(issue))).collect()
}

/// Returns an issue of the report in the form of the page.
fn report_issue(issue: &Issue) -> Value {
    let evidence = issue.evidence();
    json!({
        "kind": issue.explanation().name,
        "number": evidence.number,
        "total": evidence.total_ns,
        "text": issue.to_string(),
        "group": evidence.place.map(|place| place.to_string()),
    })
}

/// Returns the kind of the first issue, and whether it is about the planted tasks.
fn first(report: &Report) -> Option<(&'static str, bool)> {
    let issue = report.issues().first()?;
    let place = issue.evidence().place;
    let is_planted = place.is_some_and(|place| place.location == Some(WRONG));
    Some((issue.explanation().name, is_planted))
}

fn problem(seed: u64) -> Wrong {
    ALL[(seed % ALL.len() as u64) as usize]
}

/// Prints the seed of the program if the test fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the program of seed {} failed: {:?}", self.0, problem(self.0));
        }
    }
}

#[test]
#[ignore = "slow: needs node"]
fn headline_issues_and_report_agree() {
    let pages = folder(env!("CARGO_TARGET_TMPDIR"), "issue_pages");
    for seed in 0..PROGRAMS {
        let _seed = Seed(seed);
        let wrong = problem(seed);
        let timeline = program(seed, wrong);
        let (outputs, again) = (Outputs::from_timeline(&timeline), Outputs::from_files(&timeline));
        let report = &outputs.report;
        assert_eq!(first(report), wrong.kind().map(|kind| (kind, true)), "{report}");
        let is_healthy = matches!(report.verdict, Verdict::Healthy { .. });
        assert_eq!(is_healthy, wrong == Wrong::Nothing, "{report}");
        assert_eq!(outputs.disagreement(), None);
        assert_eq!(again.disagreement(), None);
        assert_eq!(again.report, *report);
        assert!(again.page == outputs.page, "the pages differ");
        if seed < PAGES {
            fs::write(pages.join(format!("{seed}.html")), &outputs.page).unwrap();
            let issues: Vec<_> = report.issues().iter().map(report_issue).collect();
            let expected = json!({ "verdict": report.verdict.to_string(), "issues": issues });
            fs::write(pages.join(format!("{seed}.json")), expected.to_string()).unwrap();
        }
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/issues.test.mjs");
    if let Some(Err(printed)) = node(&here, &pages) {
        panic!("{printed}");
    }
}

/// Headlines are read in logs and on dashboards, where a long line is cut. Names of functions and paths are shortened only
/// where they are longer than a line, so a headline with longer names than these may be longer.
#[test]
fn headlines_have_at_most_160_characters() {
    const LONGEST: usize = 160;
    let planted = [
        planted::blocked(),
        planted::two_culprits(),
        planted::ties(),
        planted::nearly(),
        planted::healthy(),
        crowd::busy(),
        verdicts::woken_then_blocked(),
        verdicts::saturated(40, 100, 300_000),
        verdicts::partly_taken(),
        timeline(&[]),
    ];
    let programs = (0..5).flat_map(|seed| ALL.map(|wrong| program(seed, wrong)));
    let mut kinds = BTreeSet::new();
    for mut timeline in planted.into_iter().chain(programs) {
        for is_pool_exhausted in [false, true] {
            timeline.pool.exhausted = is_pool_exhausted.then(exhausted);
            let report = timeline.report();
            let issues = report.issues().iter().map(Issue::headline);
            for headline in issues.chain([report.verdict.headline()]) {
                let length = headline.chars().count();
                assert!(length <= LONGEST, "{length} characters: {headline}");
            }
            kinds.extend(report.issues().iter().map(|issue| issue.explanation().name));
        }
    }
    assert_eq!(kinds.len(), 7, "{kinds:?}");
}

/// Returns a pool with large figures.
fn exhausted() -> ExhaustedPool {
    let mut pool = ExhaustedPool::default();
    (pool.threads, pool.tasks, pool.most_waiting) = (512, 12_000, 100_000);
    (pool.waited_ns, pool.longest_ns) = (99_900_000_000_000, 25_500_000_000);
    pool.ran_ns = 50_000_000_000;
    (pool.location, pool.other_locations) = (Some(planted::BLOCKS), 3);
    pool
}

/// The outputs depend on what was planted, and the test finds contradictions.
#[test]
fn contradictions_between_outputs_are_found() {
    for (seed, wrong) in (0..).zip(ALL) {
        let _seed = Seed(seed);
        let timeline = program(seed, wrong);
        let mut outputs = Outputs::from_timeline(&timeline);
        let Some(kind) = wrong.kind() else { continue };
        // Without the planted tasks there is no issue.
        let mut healthy = timeline.clone();
        healthy.tasks.retain(|task| task.location != Some(WRONG));
        assert_eq!(first(&healthy.report()), None, "{}", healthy.report());
        assert_eq!(first(&outputs.report), Some((kind, true)));
        // The page has another sentence.
        let page = String::from_utf8(outputs.page.clone()).unwrap();
        let text = serde_json::to_string(&outputs.report.verdict.to_string()).unwrap();
        let text = text.trim_matches('"').to_owned();
        let at = page.find(&format!("\"verdict\":\"{text}")).expect("it is there");
        let changed = format!("{}X{}", &page[..at + 11], &page[at + 12..]);
        outputs.page = changed.into_bytes();
        assert!(outputs.disagreement().is_some(), "{wrong:?}");
        // The report has another issue.
        outputs.page = page.into_bytes();
        assert_eq!(outputs.disagreement(), None);
        let Verdict::Issues(issues) = &mut outputs.report.verdict else { panic!("{wrong:?}") };
        let again = issues[0].clone();
        issues.push(again);
        assert!(outputs.disagreement().is_some(), "{wrong:?}");
    }
}
