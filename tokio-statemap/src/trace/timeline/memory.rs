//! Finds the places where tasks without a probe wait, by reading their memory (feature `dwarf`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Timeline;
use super::task::Task;
use super::wait::Wait;
use super::wait::wait_from_memory;
use crate::recorder::Recorder;
use crate::symbols::coroutines::cells::AwaitNode;
use crate::trace::snapshot::Snapshot;
use crate::trace::state::TaskState;
use crate::trace::task_key::TaskKey;

impl Timeline {
    /// Builds a timeline up to now in which tasks without a probe also have places of waiting.
    ///
    /// The tasks are read first, while the program continues. The timeline then shows which of them
    /// were not polled meanwhile; only for these is the result valid.
    pub(crate) fn with_memory(recorder: &Recorder) -> Self {
        let seen = recorder.waiting_tasks().into_iter();
        let probed: HashSet<u64> =
            seen.filter(|task| task.waits.is_some()).map(|task| task.id).collect();
        let lost = recorder.kept.lost(0, 0);
        let read =
            recorder.cells.chains(|| recorder.kept.clock.ticks(), |id| !probed.contains(&id));
        let until = recorder.kept.clock.ticks();
        let snapshot = Snapshot::take(recorder, false);
        let mut timeline = Self::from_snapshot(&snapshot);
        let Some(first) = read.first() else { return timeline };
        // All polls since then must be known.
        let has_gap = timeline.gaps.last().is_some_and(|(_, to)| *to > snapshot.ns(first.at));
        let is_cut = timeline.end_ns < snapshot.ns(until);
        let after = recorder.kept.lost(0, 0);
        let has_lost = lost.refused_events != after.refused_events
            || lost.reentrant_events != after.reentrant_events;
        if has_gap || is_cut || has_lost {
            return timeline;
        }
        let read = read.into_iter().map(|task| (task.id, (snapshot.ns(task.at), task.awaits)));
        timeline.add_read(read.collect());
        timeline
    }

    /// Adds what tasks await, by task id, each with the time at which reading it began.
    fn add_read(&mut self, mut read: HashMap<u64, (u64, AwaitNode)>) {
        let mut known: HashMap<AwaitNode, Arc<Wait>> = HashMap::new();
        let mut waits = HashMap::with_capacity(read.len());
        for task in self.tasks.one_by_one() {
            let TaskKey::Spawned(id) = task.key else { continue };
            let Some((at_ns, awaits)) = read.remove(&id) else { continue };
            if waits_since(&task).is_some_and(|since_ns| since_ns <= at_ns) {
                let wait = match known.get(&awaits) {
                    Some(wait) => Arc::clone(wait),
                    None => {
                        let wait = Arc::new(wait_from_memory(&awaits));
                        known.insert(awaits, Arc::clone(&wait));
                        wait
                    }
                };
                if !wait.frames.is_empty() {
                    waits.insert(id, wait);
                }
            }
        }
        self.places.in_memory = waits.into();
    }
}

/// Returns the end of a task's last poll if it waits, that is, was polled before and has not
/// terminated.
fn waits_since(task: &Task) -> Option<u64> {
    if task.terminated_ns.is_some() {
        return None;
    }
    match task.polls.last() {
        Some(last) => last.end_ns(),
        None => (task.first_state == TaskState::Waiting).then_some(task.first_ns),
    }
}

#[cfg(all(test, tokio_unstable))]
mod tests {
    use std::future::pending;

    use super::*;
    use crate::recorder::task_id::number;
    use crate::{CollectorConfig, register_hooks};

    fn awaits() -> AwaitNode {
        AwaitNode {
            function: "tokio::sync::notify::Notified".to_owned(),
            kind: None,
            file: None,
            line: None,
            children: Vec::new(),
        }
    }

    #[test]
    fn what_was_read_is_of_a_task_that_was_not_polled_since() {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        let tasks = [0; 3].map(|_| runtime.spawn(pending::<()>()));
        let ended = runtime.spawn(async {});
        let rest = runtime.spawn(pending::<()>());
        runtime.block_on(async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            ended.await.unwrap();
        });
        let mut timeline = collector.snapshot();
        let end_ns = timeline.end_ns;
        let [idle, polled, alike] = tasks.map(|task| number(task.id()));
        let read = [(idle, end_ns), (polled, 0), (alike, end_ns), (1 << 40, end_ns)];
        timeline.add_read(read.map(|(id, at_ns)| (id, (at_ns, awaits()))).into());
        let waits = |id| timeline.places.in_memory.get(&id);
        assert_eq!(timeline.places.in_memory.len(), 2);
        assert!(Arc::ptr_eq(waits(idle).unwrap(), waits(alike).unwrap()));
        let text = |id: u64| {
            let trees = timeline.trees();
            trees.iter().find(|tree| tree.id == Some(id)).unwrap().to_string()
        };
        assert!(text(idle).ends_with("\n  tokio::sync::notify::Notified"), "{}", text(idle));
        assert!(!text(polled).contains('\n') && !text(number(rest.id())).contains('\n'));
        runtime.shutdown_background();
    }
}
