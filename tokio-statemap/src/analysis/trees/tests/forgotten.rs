//! Tests of which tasks may wait for ever.

use super::*;

/// Returns `true` if a task that has waited for `for_ns` of `END_NS` is maybe forgotten.
fn is_maybe_forgotten(wait: Wait, for_ns: u64) -> bool {
    let mut timeline = timeline(vec![task(7, vec![poll(S, END_NS - for_ns, 1)])]);
    timeline.places.waits = vec![wait];
    timeline.trees()[0].is_maybe_forgotten
}

#[test]
fn it_depends_on_what_is_awaited() {
    for (leaf, expected) in [
        ("tokio::sync::mutex::Mutex<T>::lock", true),
        ("tokio::sync::notify::Notified", true),
        ("shop::Never", true),
        ("async shop::tokio::time::wait", true),
        ("tokio::time::sleep::Sleep", false),
        ("tokio::net::tcp::stream::TcpStream::read", false),
        ("tokio::io::util::read::Read<R>", false),
        ("tokio::signal::unix::Signal", false),
        ("async tokio::process::Child::wait", false),
        ("async tokio::fs::read", false),
        ("tokio::task::join_set::JoinSet<T>", false),
        ("<tokio::runtime::task::join::JoinHandle<T> as Future>::poll", false),
        ("an async fn of tokio::net::addr", false),
        ("an async fn of tokio::sync::mutex", true),
    ] {
        let wait = chain(&[("async shop::pay", 12), (leaf, 0)]);
        assert_eq!(is_maybe_forgotten(wait, 8 * S), expected, "{leaf}");
    }
    // The function around it says nothing.
    let wait = chain(&[("tokio::time::timeout::Timeout", 0), ("shop::Never", 0)]);
    assert!(is_maybe_forgotten(wait, 8 * S));
}

#[test]
fn one_branch_that_wakes_is_enough() {
    let sleep = || awaits("tokio::time::sleep::Sleep", 0, Vec::new());
    let never = || awaits("shop::Never", 0, Vec::new());
    let select = |branches| Wait { frames: vec![awaits("async shop::select", 3, branches)] };
    assert!(!is_maybe_forgotten(select(vec![never(), sleep()]), 8 * S));
    assert!(!is_maybe_forgotten(select(vec![sleep(), never()]), 8 * S));
    assert!(is_maybe_forgotten(select(vec![never(), never()]), 8 * S));
    // These could not be followed up to the task.
    assert!(!is_maybe_forgotten(Wait { frames: vec![never(), sleep()] }, 8 * S));
    assert!(is_maybe_forgotten(Wait { frames: vec![never(), never()] }, 8 * S));
}

#[test]
fn it_takes_half_of_the_time_and_a_second() {
    let never = || chain(&[("shop::Never", 0)]);
    assert!(is_maybe_forgotten(never(), END_NS / 2));
    assert!(!is_maybe_forgotten(never(), END_NS / 2 - 1));
    for (for_ns, expected) in [(S, true), (S - 1, false)] {
        let mut timeline = timeline(vec![task(7, vec![poll(S, END_NS - for_ns, 1)])]);
        timeline.places.waits = vec![never()];
        timeline.begin_ns = END_NS - S - S / 2;
        assert_eq!(timeline.trees()[0].is_maybe_forgotten, expected, "{for_ns} of 1.5 s");
    }
}

#[test]
fn only_a_task_that_waits_at_a_known_place_is() {
    let tasks = vec![
        task(1, vec![poll(S, 2 * S, 16_383)]),
        task(2, vec![poll(S, 2 * S, 0)]),
        task(3, vec![Poll::open(2 * S, 0, Some(0))]),
        task(4, Vec::new()),
        Task { ready_ns: NonZeroU64::new(3 * S), ..task(5, vec![poll(S, 2 * S, 1)]) },
    ];
    let mut timeline = timeline(tasks);
    timeline.places.waits = vec![chain(&[("shop::Never", 0)])];
    timeline.local_tasks = vec![LocalTask {
        id: 6,
        polled_in: TaskKey::Spawned(4),
        location: SPAWNED_AT,
        name: None,
        waits_since_ns: 2 * S,
        wait: WaitId::new(1),
    }];
    let trees = timeline.trees();
    let forgotten = trees.iter().filter(|tree| tree.is_maybe_forgotten);
    let ids: Vec<_> = forgotten.filter_map(|tree| tree.id).collect();
    assert_eq!(ids, [1, 6]);
}
