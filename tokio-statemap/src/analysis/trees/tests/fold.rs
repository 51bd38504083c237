//! Tests that similar tasks are shown as one.

use super::*;
use crate::analysis::TreeGroup;

fn tree(id: u64, for_ns: u64, place: TreePlace) -> TaskTree {
    TaskTree {
        task: format!("task-{id}"),
        id: Some(id),
        name: None,
        location: Some("src/shop.rs:7:5".to_owned()),
        polled_in: None,
        woken_by: None,
        state: TaskState::Waiting,
        for_ns,
        is_older: false,
        place,
        is_forgotten: false,
    }
}

fn at(line: u32) -> TreePlace {
    TreePlace::Waits(vec![TreeFrame::from_frame(&function("async shop::pay", line))])
}

/// Returns each group's task, its number of tasks, and the least time.
fn folded(trees: &[TaskTree]) -> Vec<(u64, usize, u64)> {
    let of = |group: &TreeGroup<'_>| (group.first.id.unwrap_or(0), group.tasks, group.least_ns);
    TreeGroup::fold(trees).iter().map(of).collect()
}

#[test]
fn equal_trees_are_one_with_the_longest_first() {
    let trees = [
        tree(1, 5, at(12)),
        tree(2, 7, at(13)),
        tree(3, 9, at(12)),
        tree(4, 3, at(12)),
        tree(5, 9, at(12)),
        tree(6, 1, TreePlace::NothingWakes),
        tree(7, 2, TreePlace::Unknown),
        tree(8, 3, TreePlace::NothingWakes),
        tree(9, 4, TreePlace::Unknown),
    ];
    // Groups are in the order of their first tasks. Task 5 waits as long as task 3, which comes before it.
    assert_eq!(folded(&trees), [(3, 4, 3), (2, 1, 7), (8, 2, 1), (9, 2, 2)]);
    assert_eq!(folded(&[]), []);
}

#[test]
fn what_tells_trees_apart() {
    let base = || tree(2, 5, at(12));
    let with = |change: &dyn Fn(&mut TaskTree)| {
        let mut other = base();
        change(&mut other);
        folded(&[base(), other]).len()
    };
    fn frame(tree: &mut TaskTree) -> &mut TreeFrame {
        let TreePlace::Waits(frames) = &mut tree.place else { panic!() };
        &mut frames[0]
    }
    let differ: &[&dyn Fn(&mut TaskTree)] = &[
        &|tree| tree.location = None,
        &|tree| tree.polled_in = Some("main".to_owned()),
        &|tree| tree.state = TaskState::Ready,
        &|tree| tree.place = TreePlace::NothingWakes,
        &|tree| tree.place = TreePlace::Unknown,
        &|tree| frame(tree).line = Some(13),
        &|tree| frame(tree).file = None,
        &|tree| frame(tree).function.push('x'),
        &|tree| frame(tree).name = Some("payment".to_owned()),
        &|tree| frame(tree).awaits.push(TreeFrame::default()),
        // Both have the same state, but a task in a poll, or a root future, is a group of its own.
        &|tree| tree.id = None,
    ];
    for (i, change) in differ.iter().enumerate() {
        assert_eq!(with(change), 2, "number {i}");
    }
    let alike: &[&dyn Fn(&mut TaskTree)] = &[
        &|tree| tree.name = Some("other".to_owned()),
        &|tree| tree.for_ns = 1,
        &|tree| frame(tree).for_ns = Some(1),
        &|tree| frame(tree).fields = Some("cart=7".to_owned()),
    ];
    for (i, change) in alike.iter().enumerate() {
        assert_eq!(with(change), 1, "number {i}");
    }
    // A named call is the same, whichever function polls it.
    let named = |function: &str| {
        let mut tree = base();
        (frame(&mut tree).name, frame(&mut tree).function) =
            (Some("payment".into()), function.into());
        tree
    };
    assert_eq!(folded(&[named("a"), named("b")]).len(), 1);
    // A function within another isn't the same as one beside it.
    let leaf = || TreeFrame::from_frame(&function("async b", 2));
    let within =
        TreeFrame { awaits: vec![leaf()], ..TreeFrame::from_frame(&function("async a", 1)) };
    let beside = vec![TreeFrame::from_frame(&function("async a", 1)), leaf()];
    let trees = [tree(1, 5, TreePlace::Waits(vec![within])), tree(2, 5, TreePlace::Waits(beside))];
    assert_eq!(folded(&trees).len(), 2);
    // Nothing else may be known about the two.
    let roots = [TaskTree { id: None, ..base() }, TaskTree { id: None, ..base() }];
    assert_eq!(folded(&roots).len(), 2);
    let polled = || TaskTree { state: TaskState::Running, ..base() };
    assert_eq!(folded(&[polled(), polled()]).len(), 2);
}

/// The report groups tasks of one spawn location and one place.
#[test]
fn those_that_still_wait_are_grouped_by_place() {
    let root = |number| Task { key: TaskKey::Root(number), ..task(0, vec![poll(S, 2 * S, 1)]) };
    let elsewhere = Some(SpawnLocation { line: 8, ..SPAWNED_AT });
    let mut all = timeline(vec![
        root(0),
        task(1, vec![poll(S, 3 * S, 1)]),
        task(2, vec![poll(S, 5 * S, 1)]),
        task(3, vec![poll(S, 4 * S, 2)]),
        task(4, vec![poll(S, 4 * S, 16_383)]),
        // The places of these tasks aren't known, or they don't wait.
        task(5, vec![poll(S, 3 * S, 0)]),
        task(6, vec![Poll::open(2 * S, 0, Some(0))]),
        Task { terminated_ns: Some(4 * S), ..task(7, vec![poll(S, 4 * S, 1)]) },
        Task { location: elsewhere, ..task(8, vec![poll(S, 6 * S, 1)]) },
    ]);
    all.places.waits = vec![chain(&[("async a", 1)]), chain(&[("async b", 2)])];
    let said = |group: &StillWaiting| (group.longest.task.clone(), group.tasks, group.least_ns / S);
    let groups: Vec<_> = all.still_waiting().iter().map(said).collect();
    let expected =
        [("main", 1, 8), ("task-1", 2, 5), ("task-3", 1, 6), ("task-4", 1, 6), ("task-8", 1, 4)];
    assert_eq!(groups, expected.map(|(task, tasks, least)| (task.to_owned(), tasks, least)));
    // If only root futures wait, they wait for tasks that others spawned.
    all.tasks = vec![root(0), root(1), task(5, vec![poll(S, 3 * S, 0)])].into();
    assert_eq!(all.still_waiting(), []);
}
