//! Tasks of `LocalSet`s.

use super::*;
use crate::trace::woken_by::WokenBy;

fn local(id: u64, polled_in: TaskKey, wait: u16) -> LocalTask {
    LocalTask {
        id,
        polled_in,
        location: Some(SpawnLocation { line: 30, ..SPAWNED_AT }),
        name: None,
        waits_since_ns: 9 * S,
        woken_by: None,
        wait: WaitId::new(wait),
    }
}

#[test]
fn they_are_behind_the_task_that_polls_them() {
    let root = Task { key: TaskKey::Root(0), ..task(0, vec![poll(2 * S, 3 * S, 1)]) };
    let ended = Task { terminated_ns: Some(4 * S), ..task(5, vec![poll(2 * S, 4 * S, 0)]) };
    let mut timeline = timeline(vec![root, task(3, vec![poll(2 * S, 3 * S, 1)]), ended]);
    timeline.runtime = Some("api".to_owned());
    timeline.places.waits = vec![chain(&[("async a", 1)]), chain(&[("async b", 2)])];
    let (three, five) = (TaskKey::Spawned(3), TaskKey::Spawned(5));
    let named = LocalTask { name: Some("cart".into()), ..local(12, TaskKey::Root(0), 2) };
    timeline.local_tasks = vec![
        local(11, three, 2),
        named,
        local(13, three, 16_383),
        local(14, five, 2),
        local(15, three, 0),
    ];
    let trees = timeline.trees();
    let said: Vec<_> = trees
        .iter()
        .map(|tree| format!("{} in {}", tree.task, tree.polled_in.as_deref().unwrap_or("none")))
        .collect();
    let expected = [
        "api/main in none",
        "api/task-12 in api/main",
        "api/task-3 in none",
        "api/task-11 in api/task-3",
        "api/task-13 in api/task-3",
        "api/task-15 in api/task-3",
    ];
    assert_eq!(said, expected, "not the one whose `LocalSet` is gone");
    let tree = &trees[1];
    assert_eq!((tree.id, tree.name.as_deref()), (Some(12), Some("cart")));
    assert_eq!(tree.location.as_deref(), Some("src/shop.rs:30:5"));
    assert_eq!((tree.state, tree.for_ns, tree.is_older), (TaskState::Waiting, S, false));
    assert_eq!(waits(tree), "async b:2");
    assert_eq!(waits(&trees[3]), "async b:2");
    assert_eq!((&trees[4].place, &trees[5].place), (&TreePlace::NothingWakes, &TreePlace::Unknown));
}

#[test]
fn those_that_still_wait_are_listed_by_host_and_place() {
    let ended = Task { terminated_ns: Some(4 * S), ..task(5, vec![poll(2 * S, 4 * S, 0)]) };
    let mut timeline = timeline(vec![task(3, vec![poll(2 * S, 3 * S, 1)]), ended]);
    timeline.places.waits = vec![chain(&[("async a", 1)]), chain(&[("async b", 2)])];
    let (three, five) = (TaskKey::Spawned(3), TaskKey::Spawned(5));
    let plain = |id, host, wait| LocalTask { location: None, ..local(id, host, wait) };
    let woken = LocalTask {
        waits_since_ns: 8 * S,
        woken_by: Some(WokenBy::Task(five)),
        ..plain(12, three, 2)
    };
    timeline.local_tasks = vec![
        plain(11, three, 2),
        woken,
        plain(13, three, 1),
        plain(14, five, 2),
        plain(15, three, 0),
    ];
    let said: Vec<_> = timeline
        .still_waiting()
        .iter()
        .map(|group| {
            let tree = &group.longest;
            let by = tree.woken_by.as_deref().unwrap_or("nobody");
            let host = tree.polled_in.as_deref().unwrap_or("none");
            let key = group.key.to_string();
            format!(
                "{} in {host}, {} s by {by}, {} of {key}",
                tree.task,
                tree.for_ns / S,
                group.tasks
            )
        })
        .collect();
    let expected = [
        "task-3 in none, 7 s by nobody, 1 of task-3",
        "task-12 in task-3, 2 s by task-5, 2 of task-3",
        "task-13 in task-3, 1 s by nobody, 1 of task-3",
    ];
    assert_eq!(said, expected, "neither one whose place isn't known, nor one whose set is gone");
}

#[test]
fn their_calls_are_known_too() {
    let mut timeline = timeline(vec![task(3, vec![poll(2 * S, 3 * S, 0)])]);
    let mut call = awaits("async shop::pay", 12, Vec::new());
    call.call = Some(0);
    timeline.places.waits = vec![Wait { frames: vec![call] }];
    timeline.local_tasks = vec![local(11, TaskKey::Spawned(3), 1)];
    let at_end = CallAtEnd { entered_ns: 4 * S, fields: Some("cart=7".to_owned()) };
    timeline.places.calls_at_end = vec![(TaskKey::Spawned(11), vec![at_end])].into();
    let TreePlace::Waits(frames) = &timeline.trees()[1].place else { panic!() };
    assert_eq!((frames[0].for_ns, frames[0].fields.as_deref()), (Some(6 * S), Some("cart=7")));
}

#[test]
fn many_of_many_tasks_are_not_compared_with_each_other() {
    const MANY: u64 = 100_000;
    let mut timeline = timeline((0..MANY).map(|id| quiet(id, None)).collect());
    timeline.local_tasks =
        (0..MANY).map(|id| local(MANY + id, TaskKey::Spawned(id / 2), 0)).collect();
    let began = std::time::Instant::now();
    let trees = timeline.trees();
    // This is no measurement: comparing each local task with all others would take far longer.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(trees.len() as u64, 2 * MANY);
    let ids: Vec<_> = trees[..6].iter().filter_map(|tree| tree.id).collect();
    assert_eq!(ids, [0, MANY, MANY + 1, 1, MANY + 2, MANY + 3]);
}
