//! Tests that a page yields the same data as the files of its run, even where the columns don't contain it.

use std::time::Duration;

use super::super::{origin, read, write};
use super::parts::CHUNK;
use crate::analysis::picture::Picture;
use crate::analysis::picture::tests::timeline;
use crate::config::CollectorConfig;
use crate::statemap::read::{Statemap, read as read_data};
use crate::statemap::{Labels, StatemapData};
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::timeline::{Poll, TaskKey, Timeline};
use crate::trace::woken_by::WokenBy;

fn labels() -> Labels {
    Labels { title: "x".to_owned(), host: Some("host".to_owned()) }
}

fn page_of(timeline: &Timeline) -> Vec<u8> {
    let mut page = Vec::new();
    write(&Picture::of_timeline(timeline, &labels()), &mut page).expect("memory doesn't fail");
    page
}

fn files_of(timeline: &Timeline) -> [Statemap; 2] {
    let data = StatemapData::new(timeline.clone(), labels());
    [data.tasks_to_bytes(), data.workers_to_bytes()]
        .map(|bytes| read_data(&bytes.expect("memory doesn't fail")[..]).expect("our own data"))
}

#[track_caller]
fn assert_is_in_the_page(timeline: &Timeline) {
    let (read, files) = (read(&page_of(timeline)[..]).expect("a page"), files_of(timeline));
    assert_eq!(read.len(), 2);
    for (of_page, of_file) in read.iter().zip(&files) {
        assert!(of_file.run.is_some());
        assert_eq!(of_page, of_file);
    }
}

#[test]
fn a_page_holds_the_data_of_its_run() {
    for seed in 0..20 {
        assert_is_in_the_page(&timeline(1 + seed * 11, seed));
    }
}

#[test]
fn data_beyond_the_columns_is_kept() {
    let mut timeline = timeline(60, 3);
    timeline.runtime = Some("a name/\"quoted\" ".to_owned());
    // The page draws these up to the end.
    timeline.end_ns -= timeline.length_ns() / 3;
    let keys: Vec<_> = timeline.tasks.iter().map(|task| task.key).collect();
    for (n, task) in timeline.tasks.iter_mut().enumerate() {
        match n % 7 {
            1 => task.parent = Some(TaskKey::Spawned(u64::MAX >> 1)),
            2 => task.parent = Some(TaskKey::Root(7)),
            3 => task.location = None,
            4 => {
                let file = "src/<script>\u{2028}.rs";
                task.location = Some(SpawnLocation { file, line: n as u32, column: 1 });
            }
            5 => task.name = Some(format!("a \"name\" {n}").into()),
            _ => {}
        }
        for (k, poll) in task.polls.iter_mut().enumerate() {
            let (start_ns, end_ns, ready_ns) = (poll.start_ns(), poll.end_ns(), poll.ready_ns());
            let worker = [None, Some(0), Some(1), Some(300)][(n + k) % 4];
            let thread = ((n * 3 + k) % 5) as u32;
            let woken_by = match (n + 2 * k) % 7 {
                0 => None,
                1 => Some(WokenBy::Runtime),
                2 => Some(WokenBy::BlockingTask),
                3 => Some(WokenBy::Thread),
                // One task that has a row, and one that has none.
                4 => Some(WokenBy::Task(keys[(n * 5 + k) % keys.len()])),
                5 => Some(WokenBy::Task(TaskKey::Spawned(1 << 40))),
                _ => Some(WokenBy::Task(TaskKey::Root(3))),
            };
            *poll = Poll::open(start_ns, thread, worker).ready(ready_ns).by(woken_by);
            if let Some(end_ns) = end_ns {
                *poll = poll.ended(end_ns);
            }
        }
    }
    assert_is_in_the_page(&timeline);
}

/// Beyond 104 days, the unit of times in the columns is longer than a nanosecond.
#[test]
fn times_are_exact_after_years() {
    let year_ns = 365 * 24 * 3_600 * 1_000_000_000_u64;
    let mut events = vec![Event::WorkerStart { time_ns: 3, thread: 0, worker: Some(0) }];
    let location = Some(SpawnLocation { file: "src/main.rs", line: 7, column: 5 });
    let (thread, worker, task_id) = (0, Some(0), 9);
    events.push(Event::TaskSpawn { task_id, time_ns: 5, thread, location });
    for n in 1..100 {
        let time_ns = year_ns / 50 * n + n;
        let ready_ns = (n > 1).then_some(time_ns - 1);
        events.push(Event::TaskPollStart {
            task_id,
            time_ns,
            thread,
            worker,
            ready_ns,
            woken_by: None,
        });
        let time_ns = time_ns + 1 + n % 3;
        events.push(Event::TaskPollEnd { task_id, time_ns, thread, worker });
    }
    let mut timeline = Timeline::from_events(
        &events,
        &CollectorConfig::default(),
        Duration::from_secs(1_700_000_000),
    );
    (timeline.settings.task_hooks, timeline.settings.schedule_latency) = (true, true);
    assert!(super::super::chunk::unit_ns(timeline.length_ns()) > 1);
    assert_is_in_the_page(&timeline);
}

/// A page may have five megabytes per million transitions, which isn't enough to contain them twice.
#[test]
fn data_beyond_the_columns_takes_little_room() {
    let page = String::from_utf8(page_of(&timeline(4_000, 5))).expect("a page is UTF-8");
    let length_of = |begin: &str| -> usize {
        let elements = page.split(begin).skip(1);
        elements.map(|rest| rest.find("</script>").expect("an end")).sum()
    };
    let (columns, origins) = (length_of(CHUNK), length_of(origin::ELEMENT));
    assert!(columns > 50_000 && origins > 0, "{columns}");
    assert!(origins < 3_000 + columns / 50, "{origins} bytes besides {columns}");
}

#[test]
#[ignore = "slow"]
fn any_damage_is_an_error_and_no_panic() {
    let page = page_of(&timeline(20, 1));
    let text = std::str::from_utf8(&page).expect("a page is UTF-8");
    // The parts outside of the script, which isn't read here.
    let ends = |begin: &'static str| {
        text.match_indices(begin)
            .map(|(at, _)| at..at + text[at..].find("</script>").expect("an end"))
    };
    let places: Vec<usize> = ends(CHUNK).chain(ends(origin::ELEMENT)).flatten().collect();
    let mut seed = 1;
    let mut refused = 0;
    for _ in 0..400 {
        let mut page = page.clone();
        let at =
            places[crate::analysis::picture::tests::below(&mut seed, places.len() as u64) as usize];
        page[at] = b'A' + crate::analysis::picture::tests::below(&mut seed, 26) as u8;
        refused += u32::from(read(&page[..]).is_err());
    }
    assert!(refused > 10, "{refused}");
}
