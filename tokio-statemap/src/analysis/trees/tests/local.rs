//! Tasks of `LocalSet`s.

use super::*;

fn local(id: u64, polled_in: TaskKey, wait: u16) -> LocalTask {
    LocalTask {
        id,
        polled_in,
        location: SpawnLocation { line: 30, ..SPAWNED_AT },
        name: None,
        waits_since_ns: 9 * S,
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
