//! Tests that the table of requests in data is read as it was written.

use super::check::check_ours;
use super::read::{Statemap, read};
use super::tests::{data, timeline};
use super::{Recording, recordings};
use crate::trace::profile::PerCall;
use crate::trace::requests::{Cause, PartState, Parts, Request, RequestSpan, Requests};
use crate::trace::timeline::{TaskKey, Timeline};

const HOSTILE: &str = "a\"b\\c\n\u{1b}[2J\u{202e}</script>";

fn parts(spans: u64, ns: u64) -> Parts {
    let states = PartState::ALL.into_iter();
    let cause = |state| Cause { state, place: HOSTILE.to_owned(), length_ns: ns };
    Parts {
        spans,
        length_ns: ns * 15,
        running_ns: ns,
        ready_ns: ns * 2,
        waiting_ns: ns * 3,
        elsewhere_ns: ns * 4,
        unknown_ns: ns * 5,
        causes: states.map(cause).collect(),
    }
}

fn row(fields: &str, count: u64) -> Request {
    Request {
        name: "request".to_owned(),
        target: "shop::web".to_owned(),
        fields: fields.to_owned(),
        count,
        times: PerCall::new([1, 2, 3, 4, u64::MAX]),
        total_ns: 1 << 60,
        running_ns: 9,
        own_ns: 8,
        parts: parts(count, 1 << 55),
        slowest: parts(1, 7),
        longest: vec![span(Some(TaskKey::Spawned(u64::MAX)), 1 << 55)],
    }
}

fn span(task: Option<TaskKey>, ns: u64) -> RequestSpan {
    RequestSpan { task, opened_ns: u64::MAX >> 1, parts: parts(1, ns) }
}

fn with_requests(rows: Vec<Request>) -> Timeline {
    let mut timeline = timeline(Vec::new(), Vec::new());
    timeline.requests = Requests { rows, open: 3, cut: u64::MAX, lost: 1 };
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
    let longest = vec![span(Some(TaskKey::Root(0)), 9), span(None, 9), span(None, 0)];
    let last = Request { longest, ..row("GET /", 3) };
    for rows in [vec![row("GET /orders", 5), row(HOSTILE, 1), last], Vec::new()] {
        let timeline = with_requests(rows);
        let workers = data(timeline.clone()).workers_to_bytes().unwrap();
        check_ours(&workers[..]).expect("it is ours");
        let again = read_again(&[file(&timeline), read(&workers[..]).unwrap()]);
        assert_eq!(again.requests(), timeline.requests());
        assert_eq!(again.report().requests, timeline.requests);
        assert_eq!(again.report().to_string(), timeline.report().to_string());
    }
    let none = timeline(Vec::new(), Vec::new());
    assert!(read_again(&[file(&none)]).requests().is_empty());
}

#[test]
fn what_cannot_be_is_refused() {
    let error = |row: Request| {
        let bytes = data(with_requests(vec![row])).tasks_to_bytes().unwrap();
        check_ours(&bytes[..]).unwrap_err().to_string()
    };
    let sum = Parts { length_ns: 1, ..parts(1, 7) };
    assert!(error(Request { slowest: sum, ..row("", 5) }).contains("don't add up"));
    let more = Request { parts: parts(6, 7), ..row("", 5) };
    assert!(error(more).contains("parts of more spans than it has"));
    let cause = Cause { state: PartState::Ready, place: String::new(), length_ns: 1 };
    let many = Parts { causes: vec![cause; 9], ..parts(1, 7) };
    assert!(error(Request { slowest: many, ..row("", 5) }).contains("over 8 places"));
    for (longest, message) in [
        (vec![span(None, 1), span(None, 2)], "the longest span of a request first"),
        (vec![span(None, 1); 6], "more spans of a request than it has"),
        (vec![RequestSpan { opened_ns: u64::MAX, ..span(None, 1) }], "isn't one span"),
        (vec![RequestSpan { parts: parts(2, 1), ..span(None, 1) }], "isn't one span"),
    ] {
        let found = error(Request { longest, ..row("", 5) });
        assert!(found.contains(message), "{found}");
    }
    let found = error(Request { longest: vec![span(None, 1); 11], ..row("", 50) });
    assert!(found.contains("or over 10"), "{found}");
    let bytes = data(with_requests(vec![row("", 5)])).tasks_to_bytes().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let other = text.replacen("\"requestSpans\":[[0,", "\"requestSpans\":[[1,", 1);
    let found = check_ours(other.as_bytes()).unwrap_err().to_string();
    assert!(found.contains("a span of request 1, which isn't there"), "{found}");
    let rows = (0..1002).map(|n| row(&n.to_string(), 1)).collect();
    let bytes = data(with_requests(rows)).tasks_to_bytes().unwrap();
    assert!(check_ours(&bytes[..]).unwrap_err().to_string().contains("over 1001 rows"));
}

#[test]
fn nothing_hidden_is_printed() {
    let timeline = with_requests(vec![row(HOSTILE, 7)]);
    for text in [timeline.requests().to_string(), timeline.report().to_string()] {
        assert!(text.contains("\\u{202e}"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
}

#[test]
fn a_report_lists_ten_and_fits() {
    let rows = (0..50).map(|n| row(&format!("GET /a/long/route/number/{n}"), 1)).collect();
    let report = with_requests(rows).report().to_string();
    let text = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(" The longest opened at 9223372036.85"), "{report}");
    assert!(text.contains(" s in task-18446744073709551615. "), "{report}");
    let listed =
        report.lines().filter(|line| line.contains("number/") && !line.contains("slowest"));
    assert_eq!(listed.count(), 10, "{report}");
    assert!(report.contains("… and 40 kinds more"), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
}
