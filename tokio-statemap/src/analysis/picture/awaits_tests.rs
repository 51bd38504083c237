//! Tests that tasks wait in a picture where they wait in the timeline.

use super::tests::timeline;
use super::*;
use crate::analysis::WaitRow;
use crate::trace::state::TaskState;
use crate::trace::timeline::{AwaitFrame, FrameOrigin, StackFrame, Wait, WaitId};

fn frame(function: &str, line: Option<u32>, awaits: Vec<AwaitFrame>) -> AwaitFrame {
    let origin = if line.is_some() { FrameOrigin::Program } else { FrameOrigin::Runtime };
    let file = line.map(|_| "src/shop.rs".into());
    let function = StackFrame { function: function.into(), file, line, origin };
    AwaitFrame { function, awaits, name: None, call: None }
}

/// Tasks that wait for a lock, for a lock and a timer, for nothing, or for something unknown.
fn waiting() -> Timeline {
    let lock = || frame("async tokio::sync::mutex::Mutex<T>::lock", None, Vec::new());
    let sleep = frame("tokio::time::sleep::Sleep", None, Vec::new());
    let joins = vec![
        frame("async shop::checkout", Some(18), vec![lock()]),
        frame("async shop::tick", Some(30), vec![sleep]),
    ];
    let mut timeline = timeline(40, 5);
    timeline.places.waits = vec![
        Wait { frames: vec![frame("async shop::checkout", Some(18), vec![lock()])] },
        // A wait that couldn't be followed.
        Wait::default(),
        Wait { frames: vec![frame("async shop::main", Some(9), joins)] },
    ];
    let ids = [WaitId::new(1), WaitId::new(3), Some(WaitId::NOTHING), None, WaitId::new(2)];
    let mut ids = ids.into_iter().cycle();
    for task in &mut timeline.tasks {
        for poll in &mut task.polls {
            *poll = poll.waits_at(ids.next().flatten());
        }
    }
    timeline
}

fn section(timeline: &Timeline) -> Section<'_> {
    let labels = Labels { title: "waits".to_owned(), host: None };
    let picture = Picture::of_timeline(timeline, &labels);
    picture.sections.into_iter().find(|section| section.awaits.is_some()).expect("the tasks")
}

#[test]
fn each_wait_bears_its_place() {
    let timeline = waiting();
    let section = section(&timeline);
    let awaits = section.awaits.as_ref().expect("it is there");
    assert_eq!(section.tags.len(), awaits.places.len());
    let mut seen = [0; 4];
    for &row in &section.rows {
        let task = timeline.tasks.at(row as usize);
        let mut polls = task.polls.iter();
        let mut last = None;
        section.source.walk(row, &mut |transition| {
            if transition.state == u32::from(TaskState::Running.value()) {
                last = polls.next();
            }
            let is_wait = transition.state == u32::from(TaskState::Waiting.value());
            let wait = last.filter(|_| is_wait).and_then(|poll| poll.wait());
            let tag = match wait.map(WaitId::number) {
                Some(1) => Some(0),
                Some(3) => Some(2),
                Some(_) if wait == Some(WaitId::NOTHING) => Some(3),
                _ => None,
            };
            assert_eq!(transition.tag, tag, "{task:?}");
            if let Some(tag) = tag {
                seen[tag as usize] += 1;
            }
        });
    }
    assert!(seen[0] > 0 && seen[1] == 0 && seen[2] > 0 && seen[3] > 0, "{seen:?}");
}

#[test]
fn places_are_the_waits_and_lines_the_reports() {
    let timeline = waiting();
    let (section, report) = (section(&timeline), timeline.report());
    let awaits = section.awaits.as_ref().expect("it is there");
    let labels: Vec<_> = awaits.lines.iter().map(|line| line.row.label()).collect();
    assert_eq!(labels, report.waits.lines.iter().map(WaitRow::label).collect::<Vec<_>>());
    let of_place = |place: usize| {
        let place = &awaits.places[place];
        let functions = place.functions.iter().map(|function| {
            let by = function.awaited_by.map(|by| place.functions[by as usize].frame as usize);
            let name = |frame: usize| awaits.frames[frame].short();
            (name(function.frame as usize), by.map(name))
        });
        let lines = place.lines.iter().map(|&line| labels[line as usize].as_str());
        (functions.collect::<Vec<_>>(), lines.collect::<Vec<_>>())
    };
    let pair = |name: &str, by: Option<&str>| (name.to_owned(), by.map(str::to_owned));
    let (functions, lines) = of_place(2);
    assert_eq!(
        functions,
        [
            pair("async main", None),
            pair("async checkout", Some("async main")),
            pair("async lock", Some("async checkout")),
            pair("async tick", Some("async main")),
            pair("Sleep", Some("async tick")),
        ]
    );
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["src/shop.rs:18, Mutex::lock", "src/shop.rs:30, Sleep"]);
    assert_eq!(of_place(0).1, ["src/shop.rs:18, Mutex::lock"]);
    assert_eq!((of_place(1), of_place(3)), ((vec![], vec![]), (vec![], vec![])));
}

#[test]
fn those_who_still_wait_are_the_reports() {
    let timeline = waiting();
    let (section, report) = (section(&timeline), timeline.report());
    let awaits = section.awaits.as_ref().expect("it is there");
    assert_eq!(awaits.still.len(), report.still_waiting.len());
    assert!(!awaits.still.is_empty());
    for (still, group) in awaits.still.iter().zip(&report.still_waiting) {
        let mut name = String::new();
        section.source.name(still.row, &mut name);
        assert_eq!((&name, still.for_ns), (&group.longest.task, group.longest.for_ns));
        assert_eq!(still.tasks, group.tasks);
    }
}

#[test]
fn without_waits_there_are_no_tags() {
    let timeline = timeline(40, 5);
    let labels = Labels { title: "waits".to_owned(), host: None };
    let picture = Picture::of_timeline(&timeline, &labels);
    for section in &picture.sections {
        assert!(section.awaits.is_none() && section.tags.is_empty());
    }
}

#[test]
fn a_tasks_name_stands_behind_its_id() {
    let mut timeline = timeline(3, 5);
    for task in &mut timeline.tasks {
        task.name = Some("conn".into());
    }
    let labels = Labels { title: "names".to_owned(), host: None };
    let picture = Picture::of_timeline(&timeline, &labels);
    let tasks = picture.sections.iter().find(|section| section.kind == SectionKind::Tasks);
    let tasks = tasks.expect("tasks");
    let mut names = Vec::new();
    for &row in &tasks.rows {
        let mut name = String::new();
        tasks.source.name(row, &mut name);
        names.push(name);
    }
    assert!(names.iter().any(|name| name == "task-2 \"conn\""), "{names:?}");
}
