//! Tests of the tree of a single task, by its state.

use super::*;
use crate::trace::timeline::PollSample;

#[test]
fn a_task_waits_in_a_chain_of_functions() {
    let polls = vec![poll(2 * S, 2 * S + MS, 2), poll(3 * S, 4 * S, 1)];
    let mut timeline = timeline(vec![task(7, polls)]);
    timeline.places.waits = vec![
        chain(&[
            ("async shop::checkout", 21),
            ("async shop::pay", 12),
            ("tokio::time::sleep::Sleep", 0),
        ]),
        chain(&[("async shop::checkout", 20)]),
    ];
    let trees = timeline.trees();
    let [tree] = &trees[..] else { panic!("{trees:?}") };
    assert_eq!((&*tree.task, tree.id, tree.polled_in.as_deref()), ("task-7", Some(7), None));
    assert_eq!(tree.location.as_deref(), Some("src/shop.rs:7:5"));
    assert_eq!((tree.state, tree.for_ns, tree.is_older), (TaskState::Waiting, 6 * S, false));
    let shown = "async shop::checkout:21(async shop::pay:12(tokio::time::sleep::Sleep))";
    assert_eq!(waits(tree), shown, "that of its last poll");
    let TreePlace::Waits(frames) = &tree.place else { panic!() };
    assert_eq!(frames[0].file.as_deref(), Some("src/shop.rs"));
    assert_eq!((&frames[0].name, frames[0].for_ns, &frames[0].fields), (&None, None, &None));
}

#[test]
fn what_is_polled_at_once_are_branches() {
    let mut timeline = timeline(vec![task(7, vec![poll(2 * S, 3 * S, 1)])]);
    let both =
        vec![awaits("async b", 2, vec![awaits("Sleep", 0, vec![])]), awaits("async c", 3, vec![])];
    timeline.places.waits =
        vec![Wait { frames: vec![awaits("async a", 1, both), awaits("async d", 4, vec![])] }];
    assert_eq!(waits(&timeline.trees()[0]), "async a:1(async b:2(Sleep) async c:3) async d:4");
}

/// A future that keeps its waker, and clones no other, leaves the number of the place unchanged.
#[test]
fn a_place_holds_for_each_poll_that_ends_there() {
    let polls = vec![poll(2 * S, 3 * S, 1), poll(5 * S, 6 * S, 1)];
    let mut timeline = timeline(vec![task(7, polls)]);
    timeline.places.waits = vec![chain(&[("async shop::pay", 12)])];
    let tree = &timeline.trees()[0];
    assert_eq!((&*waits(tree), tree.for_ns), ("async shop::pay:12", 4 * S), "since the last one");
}

#[test]
fn a_wait_from_before_the_left_edge_is_as_long_as_it_was() {
    let carried = |since_ns, wait| Some(CarriedWait { since_ns, wait: WaitId::new(wait) });
    let tasks = vec![
        quiet(1, carried(4 * S, 1)),
        quiet(2, carried(4 * S, 9)),
        quiet(3, None),
        // The task was polled since then.
        Task { polls: vec![poll(6 * S, 7 * S, 2)], ..quiet(4, carried(4 * S, 1)) },
    ];
    let mut timeline = timeline(tasks);
    (timeline.begin_ns, timeline.tasks[0].first_ns) = (5 * S, 5 * S);
    for task in timeline.tasks.iter_mut() {
        task.first_ns = 5 * S;
    }
    timeline.places.waits = vec![chain(&[("async a", 1)]), chain(&[("async b", 2)])];
    let trees = timeline.trees();
    assert_eq!(
        (&*waits(&trees[0]), trees[0].for_ns, trees[0].is_older),
        ("async a:1", 6 * S, false)
    );
    assert_eq!(
        (&trees[1].place, trees[1].for_ns),
        (&TreePlace::Unknown, 6 * S),
        "none has number 9"
    );
    let third = (&trees[2].place, trees[2].for_ns, trees[2].is_older);
    assert_eq!(third, (&TreePlace::Unknown, 5 * S, true));
    assert_eq!(
        (&*waits(&trees[3]), trees[3].for_ns, trees[3].is_older),
        ("async b:2", 3 * S, false)
    );
}

#[test]
fn nothing_wakes_a_task_that_no_one_took_the_waker_of() {
    let tasks =
        vec![task(1, vec![poll(2 * S, 3 * S, 16_383)]), task(2, vec![poll(2 * S, 3 * S, 0)])];
    let mut timeline = timeline(tasks);
    timeline.places.waits = vec![chain(&[("async a", 1)])];
    let places: Vec<_> = timeline.trees().into_iter().map(|tree| tree.place).collect();
    assert_eq!(places, [TreePlace::NothingWakes, TreePlace::Unknown]);
}

#[test]
fn only_live_tasks_have_trees_by_state() {
    let ready = NonZeroU64::new(8 * S);
    let tasks = vec![
        Task { key: TaskKey::Root(0), ..task(0, vec![poll(2 * S, 3 * S, 1)]) },
        Task { key: TaskKey::Root(1), ..task(0, vec![Poll::open(4 * S, 3, None)]) },
        task(1, Vec::new()),
        Task { terminated_ns: Some(9 * S), ..task(2, vec![poll(2 * S, 9 * S, 1)]) },
        Task { ready_ns: ready, ..task(3, vec![poll(2 * S, 3 * S, 1)]) },
        task(4, vec![poll(2 * S, 3 * S, 1), Poll::open(5 * S, 0, Some(0))]),
    ];
    let mut timeline = timeline(tasks);
    timeline.places.waits = vec![chain(&[("async a", 1)])];
    timeline.runtime = Some("api".to_owned());
    let said: Vec<_> = timeline
        .trees()
        .iter()
        .map(|tree| {
            let is_known = tree.place != TreePlace::Unknown;
            format!(
                "{} {:?} {} {} {is_known}",
                tree.task,
                tree.id,
                tree.state.name(),
                tree.for_ns / S
            )
        })
        .collect();
    let expected = [
        "api/main None waiting 7 true",
        "api/main-2 None running 6 false",
        "api/task-1 Some(1) spawned 9 false",
        "api/task-3 Some(3) ready 2 false",
        "api/task-4 Some(4) running 5 false",
    ];
    assert_eq!(said, expected);
    // If ready times aren't known, a task that is ready waits, at a place of which nothing is known.
    timeline.settings.schedule_latency = false;
    let tree = &timeline.trees()[3];
    assert_eq!(
        (tree.state, tree.for_ns, &tree.place),
        (TaskState::Waiting, 7 * S, &TreePlace::Unknown)
    );
}

#[test]
fn a_poll_that_goes_on_has_the_stack_of_its_last_sample() {
    let mut timeline =
        timeline(vec![task(7, vec![poll(2 * S, 3 * S, 1), Poll::open(5 * S, 4, Some(1))])]);
    timeline.places.waits = vec![chain(&[("async a", 1)])];
    let sample = |poll_start_ns, at_ns, blocked_in: Option<&str>, frames| PollSample {
        thread: 4,
        poll_start_ns,
        at_ns,
        blocked_in: blocked_in.map(str::to_owned),
        frames,
        is_complete: true,
    };
    timeline.long_polls.samples = vec![
        sample(2 * S, 2 * S + MS, None, vec![function("earlier", 1)]),
        sample(5 * S, 6 * S, None, vec![function("before", 2)]),
        sample(
            5 * S,
            7 * S,
            Some("read of /tmp/x"),
            vec![function("inner", 3), function("outer", 4)],
        ),
    ];
    let place = |timeline: &Timeline| match timeline.trees().remove(0).place {
        TreePlace::Polled(frames) => show(&frames),
        other => panic!("{other:?}"),
    };
    assert_eq!(place(&timeline), "outer:4(inner:3(blocked in read of /tmp/x))");
    timeline.long_polls.samples.pop();
    assert_eq!(place(&timeline), "before:2");
    timeline.long_polls.samples.pop();
    assert_eq!(timeline.trees()[0].place, TreePlace::Unknown, "that sample is of another poll");
}

#[test]
fn tasks_and_calls_have_the_names_that_they_were_given() {
    let mut timeline = timeline(vec![
        Task { name: Some("cart 7".into()), ..task(7, vec![poll(2 * S, 3 * S, 1)]) },
        task(8, vec![poll(2 * S, 3 * S, 1)]),
    ]);
    let mut inner = awaits("async shop::pay", 12, Vec::new());
    (inner.name, inner.call) = (Some("payment".into()), Some(1));
    let mut outer = awaits("async shop::checkout", 21, vec![inner]);
    outer.call = Some(0);
    timeline.places.waits = vec![Wait { frames: vec![outer] }];
    let call = |entered_ns, fields: Option<&str>| CallAtEnd {
        entered_ns,
        fields: fields.map(str::to_owned),
    };
    timeline.places.calls_at_end =
        vec![(TaskKey::Spawned(7), vec![call(2 * S, None), call(5 * S, Some("cart=7"))])].into();
    let trees = timeline.trees();
    assert_eq!((trees[0].name.as_deref(), trees[1].name.as_deref()), (Some("cart 7"), None));
    let frames = |tree: &TaskTree| match &tree.place {
        TreePlace::Waits(frames) => (frames[0].clone(), frames[0].awaits[0].clone()),
        other => panic!("{other:?}"),
    };
    let (outer, inner) = frames(&trees[0]);
    assert_eq!((outer.name, outer.for_ns, outer.fields), (None, Some(8 * S), None));
    assert_eq!((inner.name.as_deref(), inner.for_ns), (Some("payment"), Some(5 * S)));
    assert_eq!(inner.fields.as_deref(), Some("cart=7"));
    // The calls of the other task aren't known.
    let (outer, inner) = frames(&trees[1]);
    assert_eq!((outer.for_ns, inner.for_ns, inner.fields), (None, None, None));
    assert_eq!(inner.name.as_deref(), Some("payment"));
}
