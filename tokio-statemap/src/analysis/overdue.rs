//! Finds tasks that are ready, or wait, for too long since the last look.
//!
//! A task is found by the look after the moment at which it reached the limit, and by no other.

use crate::analysis::poll::ready_since;
use crate::analysis::trees::TreeFrame;
use crate::analysis::{TaskTree, TreePlace};
use crate::trace::state::TaskState;
use crate::trace::timeline::{Poll, Timeline};
use crate::util::source_path::shown;

/// Returns the first task that is found to have been ready for `limit_ns` since the last look, which was at `last_ns`.
pub(crate) fn ready(timeline: &Timeline, limit_ns: u64, last_ns: u64) -> Option<String> {
    for task in timeline.tasks.one_by_one() {
        let is_polled = task.polls.last().is_some_and(|last| last.end_ns().is_none());
        let may_be_ready = task.terminated_ns.is_none() && !is_polled;
        let next = task.polls.len() + usize::from(may_be_ready);
        for index in (0..next).rev() {
            let until_ns = task.polls.get(index).map_or(timeline.end_ns, Poll::start_ns);
            if until_ns <= last_ns {
                break;
            }
            let since_ns = ready_since(timeline, &task, index);
            let reached_ns = since_ns.map(|since_ns| since_ns.saturating_add(limit_ns));
            if reached_ns.is_some_and(|at_ns| last_ns < at_ns && at_ns <= until_ns) {
                return Some(timeline.task_name(task.key));
            }
        }
    }
    None
}

/// Returns the first task that is found to wait for `limit_ns` since the last look, which was at `last_ns`, and a place at
/// which it waits, if `is_meant` is true for a place.
pub(crate) fn waiting<'a>(
    trees: &'a [TaskTree],
    (limit_ns, last_ns, end_ns): (u64, u64, u64),
    is_meant: &dyn Fn(&str) -> bool,
) -> Option<(&'a str, String)> {
    for tree in trees {
        let since_ns = end_ns.saturating_sub(tree.for_ns);
        let is_due = tree.for_ns >= limit_ns && since_ns.saturating_add(limit_ns) > last_ns;
        if let (true, TaskState::Waiting, TreePlace::Waits(frames)) =
            (is_due, tree.state, &tree.place)
        {
            if let Some(place) = place(frames, is_meant) {
                return Some((&tree.task, place));
            }
        }
    }
    None
}

/// Returns the innermost place that is meant.
fn place(frames: &[TreeFrame], is_meant: &dyn Fn(&str) -> bool) -> Option<String> {
    for frame in frames {
        if let Some(inner) = place(&frame.awaits, is_meant) {
            return Some(inner);
        }
        if let (Some(file), Some(line)) = (&frame.file, frame.line) {
            let file = shown(file);
            let place = format!("{file}:{line}");
            if is_meant(&file) || is_meant(&place) {
                return Some(place);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::trace::timeline::{Task, TaskKey};
    use std::num::NonZeroU64;
    use std::time::Duration;

    fn timeline(end_ns: u64, tasks: Vec<Task>) -> Timeline {
        let mut timeline =
            Timeline::from_events(&[], &CollectorConfig::default(), Duration::from_secs(1));
        (timeline.begin_ns, timeline.end_ns) = (0, end_ns);
        timeline.tasks = tasks.into();
        timeline
    }

    fn task(polls: Vec<Poll>, ready_ns: Option<u64>) -> Task {
        Task {
            key: TaskKey::Spawned(7),
            location: None,
            name: None,
            parent: None,
            spawned_ns: None,
            first_ns: 0,
            first_state: TaskState::Waiting,
            terminated_ns: None,
            polls,
            carried_wait: None,
            waits_since_ns: None,
            ready_ns: ready_ns.and_then(NonZeroU64::new),
        }
    }

    #[test]
    fn a_task_is_found_once_while_it_is_ready_or_afterwards() {
        let poll = |ready: u64, start| Poll::open(start, 0, Some(0)).ready(Some(ready));
        let found =
            |end_ns, tasks, last_ns| ready(&timeline(end_ns, tasks), 100, last_ns).is_some();
        // It is still ready at 150, and polled at 300.
        let before = || vec![task(vec![], Some(20))];
        assert!(!found(110, before(), 0));
        assert!(found(150, before(), 110));
        assert!(!found(290, before(), 150));
        let polled = || vec![task(vec![poll(20, 300).ended(310)], None)];
        assert!(!found(320, polled(), 290));
        // All of it was between two looks.
        assert!(found(320, polled(), 110));
        // It was polled in time.
        assert!(!found(320, vec![task(vec![poll(20, 119).ended(310)], None)], 0));
        // It is polled now, whatever woke it meanwhile.
        assert!(!found(320, vec![task(vec![poll(20, 21)], Some(25))], 0));
    }

    #[test]
    fn a_task_is_found_where_it_waits() {
        let frame = |file: &str, line, awaits| TreeFrame {
            file: Some(file.to_owned()),
            line: Some(line),
            awaits,
            ..TreeFrame::default()
        };
        let mut tree = timeline(0, vec![task(vec![], None)]).trees().remove(0);
        (tree.state, tree.for_ns) = (TaskState::Waiting, 100);
        let inner = frame("src/auth.rs", 9, vec![]);
        tree.place = TreePlace::Waits(vec![frame("src/shop.rs", 7, vec![inner])]);
        let trees = [tree];
        let found = |limit_ns, last_ns, files: &str| {
            let found = waiting(&trees, (limit_ns, last_ns, 500), &|file| file == files);
            found.map(|(task, place)| format!("{task} {place}"))
        };
        assert_eq!(found(100, 450, "src/auth.rs").as_deref(), Some("task-7 src/auth.rs:9"));
        assert_eq!(found(50, 449, "src/shop.rs:7").as_deref(), Some("task-7 src/shop.rs:7"));
        assert_eq!(found(50, 450, "src/shop.rs"), None, "it was found before");
        assert_eq!(found(101, 0, "src/shop.rs"), None);
        assert_eq!(found(100, 0, "src/shop.rs:8"), None);
    }
}
