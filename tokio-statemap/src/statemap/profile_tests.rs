//! Tests that the profile of async functions in data is read as it was written.

use super::check::check_ours;
use super::read::{Statemap, read};
use super::tests::{data, timeline};
use super::{Recording, recordings};
use crate::trace::profile::{Ended, FunctionProfile, PerCall, Profile};
use crate::trace::timeline::Timeline;

const HOSTILE: &str = "a\"b\\c\n\u{1b}[2J\u{202e}</script>";

fn function(name: &str, own_ns: u64, ended: Option<Ended>) -> FunctionProfile {
    FunctionProfile {
        name: name.to_owned(),
        file: format!("src/{name}.rs"),
        line: 3,
        column: u32::MAX,
        calls: 9,
        completed: 4,
        cancelled: 5,
        polls: u64::MAX,
        total_ns: 1 << 60,
        own_ns,
        ended,
    }
}

fn ended(ns: u64) -> Ended {
    let times = |ns| PerCall::new([ns, ns + 1, ns + 2, ns + 3, u64::MAX - ns]);
    Ended { total: times(ns), own: times(2), waiting: times(1 << 55) }
}

fn with_profile(functions: Vec<FunctionProfile>) -> Timeline {
    let mut timeline = timeline(Vec::new(), Vec::new());
    let (recorded_ns, workers, uncounted_calls) = (u64::MAX, 8, 3);
    timeline.profile = Profile { functions, recorded_ns, workers, uncounted_calls };
    timeline
}

fn file(timeline: &Timeline) -> Statemap {
    let bytes = data(timeline.clone()).tasks_to_bytes().unwrap();
    check_ours(&bytes[..]).expect("it is ours");
    read(&bytes[..]).unwrap()
}

fn read_again(files: &[Statemap]) -> Timeline {
    match recordings(files).pop() {
        Some(Recording::Run { timeline, .. }) => *timeline,
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_comes_back_as_it_was() {
    let functions = vec![function("load", 7, Some(ended(5))), function(HOSTILE, 1, None)];
    for functions in [functions, Vec::new()] {
        let timeline = with_profile(functions);
        let workers = data(timeline.clone()).workers_to_bytes().unwrap();
        check_ours(&workers[..]).expect("it is ours");
        let again = read_again(&[file(&timeline), read(&workers[..]).unwrap()]);
        assert!(!again.lacking.tasks && !again.lacking.workers, "they are of one run");
        assert_eq!(again.profile(), timeline.profile());
        assert_eq!(again.profile().to_string(), timeline.profile().to_string());
        assert_eq!(again.report().profile, timeline.profile);
    }
    let none = timeline(Vec::new(), Vec::new());
    assert_eq!(read_again(&[file(&none)]).profile(), &Profile::default());
}

#[test]
fn many_functions_come_back_in_their_order() {
    let functions = (0..4096).map(|n| function(&format!("f{n}"), 4096 - n, Some(ended(n))));
    let timeline = with_profile(functions.collect());
    assert_eq!(read_again(&[file(&timeline)]).profile(), timeline.profile());
}

#[test]
fn what_cannot_be_is_refused() {
    let error = |timeline: &Timeline| {
        let bytes = data(timeline.clone()).tasks_to_bytes().unwrap();
        check_ours(&bytes[..]).unwrap_err().to_string()
    };
    let many = (0..4097).map(|n| function(&format!("f{n}"), n, None)).collect();
    assert!(error(&with_profile(many)).contains("over 4096 functions"));
    let more = FunctionProfile { completed: 5, ..function("f", 0, None) };
    assert!(error(&with_profile(vec![more])).contains("more calls ended than began"));
    let overflow = FunctionProfile { completed: u64::MAX, ..function("f", 0, None) };
    assert!(error(&with_profile(vec![overflow])).contains("more calls ended than began"));
}

#[test]
fn nothing_hidden_is_printed() {
    let timeline = with_profile(vec![function(HOSTILE, 7, Some(ended(5)))]);
    for text in [timeline.profile().to_string(), timeline.report().to_string()] {
        assert!(text.contains("\\u{202e}"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
}

#[test]
fn a_report_lists_twenty_at_most() {
    let functions = (0..50).map(|n| function(&format!("shop::f{n}"), 100 - n, Some(ended(n))));
    let timeline = with_profile(functions.collect());
    let report = timeline.report().to_string();
    let rows = report.lines().filter(|line| line.starts_with("shop::f")).count();
    assert!((5..=20).contains(&rows), "{report}");
    assert!(report.contains(&format!("… and {} functions more", 50 - rows)), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
}
