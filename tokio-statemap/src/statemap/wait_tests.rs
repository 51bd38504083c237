//! Tests that the places where tasks wait in data are read as they were written, and that impossible ones are refused.

mod hostile;
mod random;

use super::check::check_ours;
use super::read::{Statemap, read};
use super::tests::{data, poll, task, timeline};
use super::{Recording, recordings};
use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::timeline::{
    AwaitFrame, CallAtEnd, CarriedWait, FrameOrigin, LocalTask, NamedCall, Poll, StackFrame, Task,
    TaskKey, Timeline, UnnamedChain, UnnamedWaits, Wait, WaitId,
};

const HOSTILE: &str = "a\"b\\c\n\u{1b}[2J\u{202e}</script>";

fn frame(function: &str, line: u32, awaits: Vec<AwaitFrame>) -> AwaitFrame {
    let is_own = line > 0;
    let function = StackFrame {
        function: function.into(),
        file: is_own.then(|| "src/shop.rs".into()),
        line: is_own.then_some(line),
        origin: if is_own { FrameOrigin::Program } else { FrameOrigin::Runtime },
    };
    AwaitFrame { function, awaits, name: None, call: None }
}

/// Returns a program with all variations: two tasks that wait, one of them without polls, and one of a
/// `LocalSet`.
fn full() -> Timeline {
    let polls =
        vec![poll(200, 300).waits_at(WaitId::new(1)), poll(400, 500).waits_at(WaitId::new(3))];
    let polled = Task { name: Some("cart".into()), ..task(TaskKey::Spawned(7), 100, polls) };
    let wait = WaitId::new(3);
    let quiet = Task {
        spawned_ns: None,
        first_state: TaskState::Waiting,
        carried_wait: Some(CarriedWait { since_ns: 3, wait }),
        ..task(TaskKey::Spawned(8), 5, Vec::new())
    };
    let mut timeline = timeline(vec![polled, quiet], Vec::new());
    timeline.begin_ns = 5;
    let named = AwaitFrame {
        name: Some("payment".into()),
        call: Some(1),
        ..frame("async shop::pay", 12, vec![frame("tokio::time::sleep::Sleep", 0, Vec::new())])
    };
    let inner = vec![named, frame("shop::Never", 9, Vec::new())];
    let outer = AwaitFrame { call: Some(0), ..frame("async shop::checkout", 21, inner) };
    timeline.places.waits = vec![
        Wait { frames: vec![outer, frame("async shop::pay", 12, Vec::new())] },
        Wait::default(),
        Wait { frames: vec![frame("shop::Never", 9, Vec::new())] },
    ];
    timeline.places.not_kept = 4;
    timeline.local_tasks = vec![LocalTask {
        id: 9,
        polled_in: TaskKey::Spawned(7),
        location: Some(SpawnLocation { file: "src/local.rs", line: 3, column: 5 }),
        name: None,
        waits_since_ns: 600,
        woken_by: None,
        wait,
    }];
    let call = |entered_ns, fields: Option<&str>| CallAtEnd {
        entered_ns,
        fields: fields.map(str::to_owned),
    };
    timeline.places.calls_at_end =
        vec![(TaskKey::Spawned(7), vec![call(200, None), call(250, Some("cart=7"))])].into();
    timeline
}

fn file(timeline: &Timeline) -> Statemap {
    let bytes = data(timeline.clone()).tasks_to_bytes().unwrap();
    if let Err(error) = check_ours(&bytes[..]) {
        panic!("{error}\n{}", String::from_utf8_lossy(&bytes));
    }
    read(&bytes[..]).unwrap()
}

fn read_again(files: &[Statemap]) -> Timeline {
    match recordings(files).pop() {
        Some(Recording::Run { timeline, .. }) => *timeline,
        other => panic!("{other:?}"),
    }
}

/// Returns the waits up to the last one that is known.
fn known(waits: &[Wait]) -> &[Wait] {
    let last = waits.iter().rposition(|wait| !wait.frames.is_empty());
    &waits[..last.map_or(0, |last| last + 1)]
}

/// The file of a run has all facts of the run, and is written the same again.
#[track_caller]
fn comes_back(timeline: &Timeline) {
    let workers = data(timeline.clone()).workers_to_bytes().unwrap();
    let again = read_again(&[file(timeline), read(&workers[..]).unwrap()]);
    assert!(!again.lacking.tasks && !again.lacking.workers, "they are of one run");
    assert_eq!(again.tasks.to_vec(), timeline.tasks.to_vec());
    assert_eq!(again.places.waits, known(&timeline.places.waits));
    assert_eq!(again.places.unnamed, timeline.places.unnamed);
    assert_eq!(again.places.calls_at_end, timeline.places.calls_at_end);
    assert_eq!(again.local_tasks, timeline.local_tasks);
    assert_eq!(again.places.not_kept, timeline.places.not_kept);
    assert_eq!(again.trees(), timeline.trees());
    assert_eq!(again.report().waits, timeline.report().waits);
    assert_eq!(again.report().still_waiting, timeline.report().still_waiting);
    assert_eq!(again.report().to_string(), timeline.report().to_string());
    let bytes = |timeline: &Timeline| data(timeline.clone()).tasks_to_bytes().unwrap();
    assert!(bytes(&again) == bytes(timeline), "it is written otherwise");
}

#[test]
fn it_comes_back_as_it_was() {
    comes_back(&timeline(Vec::new(), Vec::new()));
    comes_back(&full());
}

#[test]
fn how_it_is_written() {
    let text = String::from_utf8(data(full()).tasks_to_bytes().unwrap()).unwrap();
    for part in [
        r#","waitsNotKept":4}"#,
        r#""waits":[[1,[[0,null,null,0],[1,0,"payment",1],[2,1,null,null],[3,0,null,null],[1,null,null,null]]],[3,[[3,null,null,null]]]]"#,
        r#""names":[[7,"cart"]],"carried":[[8,3]],"localTasks":[[9,7,["src/local.rs",3,5],null,600,3,null]],"calls":[[7,[[200,null],[250,"cart=7"]]]]}"#,
        r#"{"state":2,"tag":"waits (1): async shop::pay at src/shop.rs:12, for tokio::time::sleep::Sleep, and 2 more","wait":1,"waitsAt":"async shop::pay at src/shop.rs:12, for tokio::time::sleep::Sleep; shop::Never at src/shop.rs:9; async shop::pay at src/shop.rs:12"}"#,
        r#"{"state":2,"tag":"waits (3): shop::Never at src/shop.rs:9","wait":3,"waitsAt":"shop::Never at src/shop.rs:9"}"#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// A program without symbols.
#[test]
fn chains_of_addresses_come_back() {
    let address = |name: &str| -> std::sync::Arc<[StackFrame]> {
        [frame(name, 0, Vec::new()).function].into()
    };
    let places = vec![
        (0, address("0x1f of shop (build id 00ff)")),
        (4, [].into()),
        (1, address("0x2f of shop (build id 00ff)")),
        (0, [frame("b", 2, Vec::new()).function, frame("c", 3, Vec::new()).function].into()),
    ];
    let call = NamedCall { name: HOSTILE.into(), file: "src/shop.rs".into(), line: 7 };
    let named = UnnamedChain { places: places.clone(), calls: vec![call.clone(), call] };
    let chains = vec![named, UnnamedChain { places, calls: Vec::new() }];
    let waits = [(2, vec![0, 1, 0]), (9, vec![1]), (16_382, Vec::new())];
    let waits = waits.map(|(id, chains)| (WaitId::new(id).unwrap(), chains)).to_vec();
    let mut timeline = full();
    timeline.places.unnamed = UnnamedWaits { chains, waits }.into();
    comes_back(&timeline);
    let report = timeline.report().to_string();
    assert!(!report.contains("0x"), "{report}");
}

/// A part of a run has no facts about its end.
#[test]
fn a_window_has_no_tasks_of_the_end() {
    let mut part = file(&full());
    part.cut(100, Some(400));
    let part = read_again(&[part]);
    assert!(part.local_tasks.is_empty() && part.places.calls_at_end.is_empty());
    assert_eq!(part.places.waits, full().places.waits);
    let name = |task: &Task| task.name.as_deref().map(str::to_owned);
    assert_eq!(part.tasks.iter().map(name).collect::<Vec<_>>(), [Some("cart".to_owned()), None]);
}
