//! A reader of RFC 4180 reads the output.

use super::field::Line;
use super::*;
use crate::analysis::picture::why_tests::explained;
use crate::statemap::Labels;
use crate::trace::requests::{Request, Requests};

/// Reads CSV by RFC 4180 only.
fn read(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if field.is_empty() => loop {
                match chars.next().expect("a quote at the end") {
                    '"' if chars.next_if_eq(&'"').is_some() => field.push('"'),
                    '"' => break,
                    c => field.push(c),
                }
            },
            ',' => row.push(std::mem::take(&mut field)),
            '\r' => {
                assert_eq!(chars.next(), Some('\n'));
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => {
                assert!(!matches!(c, '\n' | '"'), "{text:?}");
                field.push(c);
            }
        }
    }
    assert!(row.is_empty() && field.is_empty(), "the last line isn't complete");
    rows
}

#[test]
fn any_text_is_one_field() {
    let texts = ["", "a", "a,b", "\"", "a\"\"b", "=1+1", "-2,\"3\"", "@x", "\u{e9}"];
    let mut line = Line::default();
    texts.iter().for_each(|text| line.text(text));
    line.number(None);
    line.number(Some(u64::MAX));
    line.bool(true);
    let mut written = Vec::new();
    line.write(&mut written).unwrap();
    let read = read(std::str::from_utf8(&written).unwrap());
    let mut expected: Vec<_> = texts
        .iter()
        .map(|text| match text.starts_with(['=', '-', '@']) {
            true => format!("'{text}"),
            false => (*text).to_owned(),
        })
        .collect();
    expected.extend(["".to_owned(), u64::MAX.to_string(), "true".to_owned()]);
    assert_eq!(read, [expected]);
}

#[test]
fn each_poll_has_a_row() {
    let (mut timeline, longest) = explained("shop::compute, \"fast\"");
    for task in timeline.tasks.seen_mut() {
        task.name = Some("=cmd()\u{1b}[1m".into());
    }
    let labels = Labels { title: "a,b".to_owned(), host: None };
    let run = Run::new(&timeline, &labels, None);
    let mut written = Vec::new();
    write_polls(&[&run], &mut written).unwrap();
    let rows = read(std::str::from_utf8(&written).unwrap());
    let polls: Vec<_> = timeline.tasks.seen().iter().flat_map(|task| &task.polls).collect();
    assert_eq!(rows.len(), 1 + polls.len());
    let columns: Vec<_> = columns(&POLL_COLUMNS).collect();
    assert_eq!(rows[0], columns);
    let column = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    for (row, poll) in rows[1..].iter().zip(&polls) {
        assert_eq!(row.len(), columns.len());
        assert_eq!(row[column("start_ns")], poll.start_ns().to_string());
        assert_eq!(row[column("length_ns")], poll.length_ns(timeline.end_ns).to_string());
        assert_eq!((row[0].as_str(), &*row[column("name")]), ("a,b", "'=cmd()\\u{1b}[1m"));
        if poll.key() == longest {
            assert_eq!(row[column("blamed_function")], "shop::compute, \"fast\"");
            assert_eq!((&*row[column("blamed_line")], &*row[column("run_delay_ns")]), ("21", "7"));
        }
    }
    let held = |row: &&Vec<String>| row[column("held_ns")].parse::<u64>().unwrap();
    let sum: u64 = rows[1..].iter().map(|row| held(&row)).sum();
    let expected: u64 = polls
        .iter()
        .map(|poll| match poll.worker() {
            Some(_) => timeline.held_ns(poll),
            None => poll.length_ns(timeline.end_ns),
        })
        .sum();
    assert_eq!(sum, expected);
}

#[test]
fn each_kind_of_span_has_a_row() {
    let (mut timeline, _) = explained("shop::compute");
    let request = Request {
        name: "request".to_owned(),
        fields: "GET /a,b".to_owned(),
        count: 7,
        own_ns: 9,
        ..Request::default()
    };
    timeline.requests = Requests { rows: vec![request], ..Requests::default() };
    let labels = Labels { title: "shop".to_owned(), host: Some("pod".to_owned()) };
    let run = Run::new(&timeline, &labels, None);
    let mut written = Vec::new();
    write_requests(&[&run], &mut written).unwrap();
    let rows = read(std::str::from_utf8(&written).unwrap());
    let columns: Vec<_> = columns(&REQUEST_COLUMNS).collect();
    assert_eq!((rows.len(), rows[1].len()), (2, columns.len()));
    assert_eq!(rows[0], columns);
    assert_eq!(rows[1][..7], ["shop", "", "pod", "request", "GET /a,b", "", "7"]);
    let own = columns.iter().position(|&column| column == "own_ns").unwrap();
    assert_eq!(rows[1][own], "9");
}
