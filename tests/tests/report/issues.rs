//! One story: of 300 random programs, each with one thing wrong or nothing, the headline of the page, the first issue and
//! the report say the same, and the same from the files that the run leaves; and it is what was planted.
#![cfg(tokio_unstable)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::browser::node;
use tests::page;
use tests::planted::issues::{ALL, WRONG, Wrong, program};
use tokio_statemap::picture::Picture;
use tokio_statemap::report::{IssueKind, Report, Verdict};
use tokio_statemap::statemap::read::{Statemap, read};
use tokio_statemap::statemap::{Labels, Recording, StatemapData, recordings};
use tokio_statemap::{Timeline, html};

const PROGRAMS: u64 = 300;
/// Of how many the page is looked at by its own script.
const PAGES: u64 = 70;

/// All that is said of one run.
struct Told {
    report: Report,
    page: Vec<u8>,
}

fn labels() -> Labels {
    Labels { title: "api".to_owned(), host: Some("box".to_owned()) }
}

impl Told {
    fn of(timeline: &Timeline) -> Self {
        let mut page = Vec::new();
        html::write(&Picture::of_timeline(timeline, &labels()), &mut page).unwrap();
        Self { report: timeline.report(), page }
    }

    /// The same from the files.
    fn of_files(timeline: &Timeline) -> Self {
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

    /// What isn't the same in two places, if anything isn't.
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
        let listed = told(&page.meta);
        let expected: Vec<_> = self.report.issues.iter().map(of_report).collect();
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

/// The issues as the page has them.
fn told(meta: &Value) -> Vec<Value> {
    let sections = meta["sections"].as_array().into_iter().flatten();
    let issues = sections.flat_map(|section| section["issues"].as_array().into_iter().flatten());
    let part = |issue: &Value| {
        let keys = ["kind", "number", "total", "text", "group"];
        keys.into_iter().map(|key| (key.to_owned(), issue[key].clone())).collect()
    };
    issues.map(|issue| Value::Object(part(issue))).collect()
}

fn of_report(issue: &tokio_statemap::report::Issue) -> Value {
    json!({
        "kind": issue.kind.name(),
        "number": issue.number,
        "total": issue.total_ns,
        "text": issue.to_string(),
        "group": issue.place.map(|place| place.to_string()),
    })
}

/// What is said first, and of whom.
fn first(report: &Report) -> Option<(IssueKind, bool)> {
    let issue = report.issues.first()?;
    let is_planted = issue.place.is_some_and(|place| place.location == Some(WRONG));
    Some((issue.kind, is_planted))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn wrong_of(seed: u64) -> Wrong {
    ALL[(seed % ALL.len() as u64) as usize]
}

/// Says which program it was that failed.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the program of seed {} failed: {:?}", self.0, wrong_of(self.0));
        }
    }
}

#[test]
#[ignore = "slow: needs node"]
fn headline_issues_and_report_are_one_story() {
    let pages = folder("issue_pages");
    for seed in 0..PROGRAMS {
        let _seed = Seed(seed);
        let wrong = wrong_of(seed);
        let timeline = program(seed, wrong);
        let (told, of_files) = (Told::of(&timeline), Told::of_files(&timeline));
        let report = &told.report;
        assert_eq!(first(report), wrong.kind().map(|kind| (kind, true)), "{report}");
        let is_healthy = matches!(report.verdict, Verdict::Healthy { .. });
        assert_eq!(is_healthy, wrong == Wrong::Nothing, "{report}");
        assert_eq!(told.disagreement(), None);
        assert_eq!(of_files.disagreement(), None);
        assert_eq!(of_files.report, *report);
        assert!(of_files.page == told.page, "the pages differ");
        if seed < PAGES {
            fs::write(pages.join(format!("{seed}.html")), &told.page).unwrap();
            let issues: Vec<_> = report.issues.iter().map(of_report).collect();
            let expected = json!({ "verdict": report.verdict.to_string(), "issues": issues });
            fs::write(pages.join(format!("{seed}.json")), expected.to_string()).unwrap();
        }
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/issues.test.mjs");
    if let Some(Err(printed)) = node(&here, &pages) {
        panic!("{printed}");
    }
}

/// What is said depends on what was planted, and a story that isn't one is found out.
#[test]
fn a_false_story_is_found_out() {
    for (seed, wrong) in (0..).zip(ALL) {
        let _seed = Seed(seed);
        let timeline = program(seed, wrong);
        let mut told = Told::of(&timeline);
        let Some(kind) = wrong.kind() else { continue };
        // Without those that are wrong there is nothing to say.
        let mut healthy = timeline.clone();
        healthy.tasks.retain(|task| task.location != Some(WRONG));
        assert_eq!(first(&healthy.report()), None, "{}", healthy.report());
        assert_eq!(first(&told.report), Some((kind, true)));
        // Another sentence in the page.
        let page = String::from_utf8(told.page.clone()).unwrap();
        let text = serde_json::to_string(&told.report.verdict.to_string()).unwrap();
        let text = text.trim_matches('"').to_owned();
        let at = page.find(&format!("\"verdict\":\"{text}")).expect("it is there");
        let changed = format!("{}X{}", &page[..at + 11], &page[at + 12..]);
        told.page = changed.into_bytes();
        assert!(told.disagreement().is_some(), "{wrong:?}");
        // Another order of the issues.
        told.page = page.into_bytes();
        assert_eq!(told.disagreement(), None);
        let again = told.report.issues[0].clone();
        told.report.issues.push(again);
        assert!(told.disagreement().is_some(), "{wrong:?}");
    }
}
