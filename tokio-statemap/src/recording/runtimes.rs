//! The runtimes of one recording.

use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;

use crate::collector::Collector;
use crate::config::TraceTarget;
use crate::trace::timeline::{Task, TaskKey, Timeline};
use crate::util::sync::lock;

/// The number of runtimes that are shown in the outputs. Of those that have ended the oldest is forgotten first.
const MAX_SHOWN: usize = 256;

/// The runtimes of one recording, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Runtimes(Mutex<Added>);

#[derive(Debug, Default)]
struct Added {
    all: Vec<Runtime>,
    /// The number of runtimes that were added in all.
    count: usize,
}

#[derive(Debug)]
struct Runtime {
    collector: Arc<Collector>,
    /// Its number, from 1.
    number: usize,
}

/// What was recorded of all runtimes.
pub(super) struct Recorded {
    /// One for each runtime that was built, or else one without events.
    pub(super) timelines: Vec<Timeline>,
    /// The number of runtimes that ended early and are not shown.
    pub(super) forgotten: usize,
}

impl Recorded {
    /// Returns `true` if no worker and no spawned task was seen.
    pub(super) fn has_root_futures_alone(&self) -> bool {
        self.timelines.iter().all(|timeline| {
            let is_root = |task: &Task| matches!(task.key, TaskKey::Root(_));
            timeline.workers.is_empty() && timeline.tasks.one_by_one().all(|task| is_root(&task))
        })
    }
}

impl Runtimes {
    /// Adds a runtime. `admit` is called while no other thread starts or stops all.
    pub(super) fn add(&self, collector: &Arc<Collector>, max_events: usize, admit: &dyn Fn()) {
        let mut added = lock(&self.0);
        added.forget_ended(max_events);
        admit();
        added.count += 1;
        let number = added.count;
        added.all.push(Runtime { collector: Arc::clone(collector), number });
    }

    /// Calls `act` with each, while none is added. `before` is called first.
    pub(super) fn each(&self, before: &dyn Fn(), act: &dyn Fn(&Collector)) {
        let added = lock(&self.0);
        before();
        for runtime in &added.all {
            act(&runtime.collector);
        }
    }

    /// Returns the one of `handle`, if that is known.
    pub(super) fn of(&self, handle: &Handle) -> Option<Arc<Collector>> {
        self.collectors().into_iter().find(|collector| collector.is_of(handle))
    }

    /// Returns `true` if something is recorded, but no runtime has shown that it was built.
    pub(super) fn is_none_built(&self) -> bool {
        let all = self.collectors();
        all.iter().any(|collector| {
            collector.is_recording() && collector.config().trace_target != TraceTarget::None
        }) && !all.iter().any(|collector| collector.is_built())
    }

    /// Returns all collectors.
    pub(super) fn collectors(&self) -> Vec<Arc<Collector>> {
        lock(&self.0).all.iter().map(|runtime| Arc::clone(&runtime.collector)).collect()
    }

    /// Takes a snapshot of each. Where there are several, each has a name of its own.
    pub(super) fn snapshots(&self) -> Recorded {
        let added = lock(&self.0);
        let mut timelines: Vec<Timeline> = Vec::new();
        let is_any_built = added.all.iter().any(|runtime| runtime.collector.is_built());
        for runtime in &added.all {
            if is_any_built && !runtime.collector.is_built() {
                continue;
            }
            let mut timeline = runtime.collector.snapshot();
            if added.count > 1 {
                let given = timeline.runtime.take();
                let given = given.unwrap_or_else(|| format!("runtime-{}", runtime.number));
                // Names of files are to differ, too.
                let is_taken = |name: &str| {
                    let of = |other: &Timeline| other.runtime.as_deref().map(in_file_names);
                    timelines.iter().any(|other| of(other) == Some(in_file_names(name)))
                };
                let mut name = given.clone();
                let mut number = runtime.number;
                while is_taken(&name) {
                    name = format!("{given}-{number}");
                    number += 1;
                }
                timeline.runtime = Some(name);
            }
            timelines.push(timeline);
            if !is_any_built {
                break;
            }
        }
        Recorded { timelines, forgotten: added.count - added.all.len() }
    }
}

impl Added {
    /// Forgets the oldest of the runtimes that have ended, where all together keep more than `max_events`, or there are too
    /// many.
    fn forget_ended(&mut self, max_events: usize) {
        let is_ended = |runtime: &Runtime| runtime.collector.is_ended();
        let mut kept: u64 = 0;
        for runtime in self.all.iter().filter(|runtime| is_ended(runtime)) {
            // What runs no more isn't to be looked at any more.
            runtime.collector.stop();
            kept = kept.saturating_add(runtime.collector.kept_events());
        }
        while self.all.len() >= MAX_SHOWN || kept > max_events as u64 {
            let Some(oldest) = self.all.iter().position(is_ended) else { return };
            kept = kept.saturating_sub(self.all.remove(oldest).collector.kept_events());
        }
    }
}

/// Returns the name of a runtime as names of files have it.
pub(super) fn in_file_names(name: &str) -> String {
    name.replace(['/', '\\'], "_")
}
