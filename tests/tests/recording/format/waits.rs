//! For data of any program, the reader finds where tasks wait as it was planted, and the writer writes the same.

use std::collections::BTreeMap;

use tests::cases::cases;
use tests::check::waits::{NOTHING, Node};
use tests::mutate::Random;
use tests::planted::waits::{WithWaits, plant};
use tokio_statemap::Timeline;
use tokio_statemap::statemap::{Recording, recordings, write_tasks};
use tokio_statemap::timeline::{AwaitFrame, Waiting};

use super::*;

/// Describes a place in one line: `async shop::pay|src/shop.rs|12|name(Sleep|||)`.
fn show(frames: &[AwaitFrame]) -> String {
    let show = |frame: &AwaitFrame| {
        let function = &frame.function;
        let inner = show(&frame.awaits);
        format!(
            "{}|{:?}|{:?}|{:?}({inner})",
            function.function, function.file, function.line, frame.name
        )
    };
    frames.iter().map(show).collect::<Vec<_>>().join(" ")
}

/// Describes a planted place in the same form.
fn planted_place(planted: &WithWaits, place: u16) -> Option<String> {
    fn children(planted: &WithWaits, nodes: &[Node], parent: Option<usize>) -> String {
        let show = |(at, node): (usize, &Node)| {
            let function = &planted.functions[node.function];
            let inner = children(planted, nodes, Some(at));
            format!(
                "{}|{:?}|{:?}|{:?}({inner})",
                function.name, function.file, function.line, node.name
            )
        };
        let inner = nodes.iter().enumerate().filter(|(_, node)| node.parent == parent);
        inner.map(show).collect::<Vec<_>>().join(" ")
    }
    Some(children(planted, planted.places.get(&place)?, None))
}

/// Describes where a task waits, if that is known.
fn known(waiting: Waiting<'_>) -> Option<String> {
    match waiting {
        Waiting::At(wait) => Some(show(&wait.frames)),
        Waiting::Nothing => Some("nothing".to_owned()),
        _ => None,
    }
}

fn expected(planted: &WithWaits, place: Option<u16>) -> Option<String> {
    match place? {
        NOTHING => Some("nothing".to_owned()),
        place => planted_place(planted, place),
    }
}

/// Compares where each task waits: after each poll, or all the time if it isn't polled.
fn compare(timeline: &Timeline, planted: &WithWaits, ends: &BTreeMap<String, bool>) {
    for task in &timeline.tasks {
        let name = task.key.to_string();
        let none = Vec::new();
        let places = planted.waits.get(&name).unwrap_or(&none);
        assert_eq!(task.name.as_deref(), planted.names.get(&name).map(String::as_str), "{name}");
        let carried = task.carried_wait.map(|carried| carried.since_ns);
        assert_eq!(carried, planted.carried.get(&name).copied(), "{name}");
        let end = places.last().copied().flatten().filter(|_| ends[&name]);
        assert_eq!(known(timeline.waiting_at_end(task)), expected(planted, end), "{name}");
        if task.polls.is_empty() {
            continue;
        }
        // The time before the first poll is no wait.
        let waits = task.polls.iter().map(|poll| timeline.wait_after(poll));
        let read: Vec<_> = waits.flatten().map(|wait| show(&wait.frames)).collect();
        let planted: Vec<_> =
            places.iter().flatten().filter_map(|&place| planted_place(planted, place)).collect();
        assert_eq!(read, planted, "{name}");
    }
    let local = timeline
        .local_tasks
        .iter()
        .map(|task| (task.id, task.polled_in.to_string(), known(timeline.waiting_of_local(task))));
    let planted_local = planted.local_tasks.iter();
    let planted_local =
        planted_local.map(|(id, by, wait)| (*id, by.clone(), expected(planted, *wait)));
    assert!(local.eq(planted_local), "{:?}", timeline.local_tasks);
    assert_eq!(timeline.places.not_kept, planted.not_kept);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn planted_waits_are_read_and_written_again(
        steps in steps(),
        schedule_latency in any::<bool>(),
        skip in any::<Index>(),
        seed in any::<u64>(),
    ) {
        let program = Program::run(&steps, 1, &[0; THREADS as usize]);
        let events = &program.events[skip.index(program.events.len() + 1) / 2..];
        let data = collector(schedule_latency).events_to_data(events).tasks_to_bytes().unwrap();
        let planted = plant(&String::from_utf8(data).unwrap(), &mut Random::new(seed));
        let bytes = planted.data.as_bytes();
        let summary = check(bytes).unwrap_or_else(|problem| panic!("{problem}\n{}", planted.data));
        agree(&summary, bytes);
        if summary.entities.is_empty() {
            return Ok(());
        }
        let counts = summary.waits;
        prop_assert_eq!(counts.places, planted.places.len());
        prop_assert_eq!((counts.names, counts.carried), (planted.names.len(), planted.carried.len()));
        prop_assert_eq!(counts.local_tasks, planted.local_tasks.len());

        let files = [read(bytes).unwrap()];
        let Some(Recording::Run { timeline, labels, .. }) = recordings(&files).pop() else {
            panic!("it is a run: {}", planted.data);
        };
        let ends = summary.entities.iter().map(|(name, row)| {
            (name.clone(), row.last().is_some_and(|last| summary.states[last.state] == "waiting"))
        });
        compare(&timeline, &planted, &ends.collect());
        let mut again = Vec::new();
        write_tasks(&timeline, &labels, &mut again).unwrap();
        prop_assert_eq!(String::from_utf8(again).unwrap(), planted.data.clone());
        // No name can harm a terminal.
        for text in [timeline.report().to_string(), tokio_statemap::trees::Folded(&timeline.trees()).to_string()] {
            prop_assert!(!text.contains(['\u{1b}', '\u{202e}']), "{}", text);
        }
    }
}
