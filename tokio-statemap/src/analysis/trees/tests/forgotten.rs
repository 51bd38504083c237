//! Tests of which tasks are forgotten.

use super::*;

/// The place of a wait for which nothing kept the waker.
const NOTHING: u16 = 16_383;

/// Returns `true` if a task that has waited for `for_ns` of `END_NS` is forgotten.
fn is_forgotten(wait: u16, for_ns: u64) -> bool {
    let mut timeline = timeline(vec![task(7, vec![poll(S, END_NS - for_ns, wait)])]);
    timeline.places.waits = vec![chain(&[("shop::Never", 0)])];
    timeline.trees()[0].is_forgotten
}

#[test]
fn only_a_task_whose_waker_nothing_kept_is() {
    assert!(is_forgotten(NOTHING, 8 * S));
    // Another thread may have the waker, as that of a `main` that waits for a sender in it, and may use it.
    assert!(!is_forgotten(1, 8 * S));
    assert!(!is_forgotten(0, 8 * S), "nothing is known of its waker");
}

#[test]
fn it_takes_half_of_the_time_and_a_second() {
    assert!(is_forgotten(NOTHING, END_NS / 2));
    assert!(!is_forgotten(NOTHING, END_NS / 2 - 1));
    for (for_ns, expected) in [(S, true), (S - 1, false)] {
        let mut timeline = timeline(vec![task(7, vec![poll(S, END_NS - for_ns, NOTHING)])]);
        timeline.begin_ns = END_NS - S - S / 2;
        assert_eq!(timeline.trees()[0].is_forgotten, expected, "{for_ns} of 1.5 s");
    }
}

#[test]
fn only_a_task_that_waits_is() {
    let tasks = vec![
        task(1, vec![poll(S, 2 * S, NOTHING)]),
        task(3, vec![Poll::open(2 * S, 0, Some(0))]),
        task(4, Vec::new()),
        Task { ready_ns: NonZeroU64::new(3 * S), ..task(5, vec![poll(S, 2 * S, NOTHING)]) },
    ];
    let mut timeline = timeline(tasks);
    timeline.local_tasks = vec![LocalTask {
        id: 6,
        polled_in: TaskKey::Spawned(4),
        location: Some(SPAWNED_AT),
        name: None,
        waits_since_ns: 2 * S,
        woken_by: None,
        wait: Some(WaitId::NOTHING),
    }];
    let trees = timeline.trees();
    let forgotten = trees.iter().filter(|tree| tree.is_forgotten);
    let ids: Vec<_> = forgotten.filter_map(|tree| tree.id).collect();
    assert_eq!(ids, [1, 6]);
}
