//! The runtimes of one recording.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;

use crate::analysis::severity::{self, Severity};
use crate::collector::Collector;
use crate::config::TraceTarget;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::{Task, TaskKey, Timeline};
use crate::util::clean::clean;
use crate::util::quantity::count;
use crate::util::sort::by_key;
use crate::util::sync::lock;

/// From this number of runtimes on, those that have ended are forgotten, the oldest first.
const MAX_SHOWN: usize = 256;

/// The runtimes of one recording, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Runtimes(Mutex<Added>);

#[derive(Debug, Default)]
struct Added {
    all: Vec<Runtime>,
    /// The number of runtimes that were added in all.
    count: usize,
    forgotten: Forgotten,
}

/// The runtimes that have ended and are not kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Forgotten {
    pub(super) count: usize,
    /// The first sentences of the worst verdicts among them, each with its severity and the runtime's name, the worst
    /// first.
    pub(super) worst: Vec<(Severity, String)>,
}

#[derive(Debug)]
struct Runtime {
    collector: Arc<Collector>,
    /// Its number, from 1.
    number: usize,
}

/// The recorded data of all runtimes at a moment, of which no timelines are made yet.
pub(super) struct Captured {
    /// A snapshot of each runtime, with the runtime's number.
    runtimes: Vec<(Snapshot, usize)>,
    /// `true` if the recording has or had more than one runtime.
    has_others: bool,
    forgotten: Forgotten,
}

/// The recorded data of all runtimes.
pub(super) struct Recorded {
    /// One timeline for each runtime that was built, or else one without events.
    pub(super) timelines: Vec<Timeline>,
    pub(super) forgotten: Forgotten,
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
    /// Adds a runtime if `admit` returns `true`. No other thread starts or stops all runtimes while it is called.
    pub(super) fn add(
        &self,
        collector: &Arc<Collector>,
        max_events: usize,
        admit: &dyn Fn() -> bool,
    ) {
        let mut added = lock(&self.0);
        added.forget_ended(max_events);
        if !admit() {
            return;
        }
        added.count += 1;
        let number = added.count;
        added.all.push(Runtime { collector: Arc::clone(collector), number });
    }

    /// Returns `true` if only one runtime was added so far.
    pub(super) fn is_only(&self) -> bool {
        lock(&self.0).count == 1
    }

    /// Calls `act` with each collector, if `is_due` returns `true`. No runtime is added meanwhile.
    pub(super) fn each(&self, is_due: &dyn Fn() -> bool, act: &dyn Fn(&Collector)) {
        let added = lock(&self.0);
        if !is_due() {
            return;
        }
        for runtime in &added.all {
            act(&runtime.collector);
        }
    }

    /// Returns the collector of the runtime of `handle`, if that is known.
    pub(super) fn collector(&self, handle: &Handle) -> Option<Arc<Collector>> {
        self.collectors().into_iter().find(|collector| collector.is_of(handle))
    }

    /// Returns `true` if something is recorded, but no runtime is known to have been built.
    pub(super) fn is_none_built(&self) -> bool {
        let all = self.collectors();
        all.iter().any(|collector| {
            collector.is_recording() && collector.config().trace_target != TraceTarget::None
        }) && !all.iter().any(|collector| collector.is_built())
    }

    /// Returns `true` if something is recorded now.
    #[cfg(feature = "html")]
    pub(super) fn is_any_recording(&self) -> bool {
        self.collectors().iter().any(|collector| collector.is_recording())
    }

    /// Returns all collectors.
    pub(super) fn collectors(&self) -> Vec<Arc<Collector>> {
        lock(&self.0).all.iter().map(|runtime| Arc::clone(&runtime.collector)).collect()
    }

    /// Returns all collectors, each with the name for a runtime that has none of its own.
    pub(super) fn named(&self) -> Vec<(Arc<Collector>, Option<String>)> {
        let added = lock(&self.0);
        let name = |number: usize| (added.count > 1).then(|| default_name(number));
        let of = |runtime: &Runtime| (Arc::clone(&runtime.collector), name(runtime.number));
        added.all.iter().map(of).collect()
    }

    /// Takes a snapshot of each runtime that was built, or of the first one if none was. No runtime is added meanwhile.
    pub(super) fn captured(&self) -> Captured {
        let added = lock(&self.0);
        let is_any_built = added.all.iter().any(|runtime| runtime.collector.is_built());
        let mut runtimes = Vec::new();
        for runtime in &added.all {
            if is_any_built && !runtime.collector.is_built() {
                continue;
            }
            runtimes.push((runtime.collector.capture(), runtime.number));
            if !is_any_built {
                break;
            }
        }
        let has_others = added.all.len() > 1 || added.forgotten.count > 0;
        Captured { runtimes, has_others, forgotten: added.forgotten.clone() }
    }

    /// Returns the timelines of all runtimes up to now.
    pub(super) fn snapshots(&self) -> Recorded {
        self.captured().recorded()
    }
}

impl Captured {
    /// Returns the numbers of the runtimes, in the order of their timelines.
    #[cfg(feature = "html")]
    pub(super) fn numbers(&self) -> Vec<usize> {
        self.runtimes.iter().map(|(_, number)| *number).collect()
    }

    /// Builds the timelines. Runtimes may be added meanwhile. If there are several, each timeline has a name of its
    /// own.
    pub(super) fn recorded(self) -> Recorded {
        let mut timelines: Vec<Timeline> = Vec::new();
        for (snapshot, number) in self.runtimes {
            let mut timeline = Timeline::from_snapshot(&snapshot);
            if self.has_others {
                let given = timeline.runtime.take().unwrap_or_else(|| default_name(number));
                // The names of files must differ, too.
                let is_taken = |name: &str| {
                    let of = |other: &Timeline| other.runtime.as_deref().map(in_file_names);
                    timelines.iter().any(|other| of(other) == Some(in_file_names(name)))
                };
                let mut name = given.clone();
                let mut next = number;
                while is_taken(&name) {
                    name = format!("{given}-{next}");
                    next += 1;
                }
                timeline.runtime = Some(name);
            }
            timelines.push(timeline);
        }
        Recorded { timelines, forgotten: self.forgotten }
    }
}

impl Added {
    /// Forgets the oldest of the runtimes that have ended, if together these keep more than `max_events`, or there are
    /// too many runtimes. The newest that has ended stays in any case.
    fn forget_ended(&mut self, max_events: usize) {
        // If the builder is gone and no runtime was built from it, there is nothing to show.
        self.all.retain(|runtime| !runtime.is_ended() || runtime.collector.is_built());
        let max_events = max_events as u64;
        let mut kept: u64 = 0;
        let mut ended = 0;
        for runtime in self.all.iter().filter(|runtime| runtime.is_ended()) {
            // A runtime that has ended need not be looked at any more.
            runtime.collector.stop();
            kept = kept.saturating_add(runtime.kept_events(max_events));
            ended += 1;
        }
        while ended > 1 && (self.all.len() >= MAX_SHOWN || kept > max_events) {
            let Some(oldest) = self.all.iter().position(Runtime::is_ended) else { return };
            let oldest = self.all.remove(oldest);
            kept = kept.saturating_sub(oldest.kept_events(max_events));
            ended -= 1;
            self.forgotten.add(&oldest);
        }
    }
}

impl Runtime {
    fn is_ended(&self) -> bool {
        self.collector.is_ended()
    }

    /// Returns the number of events that the runtime keeps. Those over the limit don't count, as they are a part of a
    /// block.
    fn kept_events(&self, max_events: u64) -> u64 {
        self.collector.kept_events().min(max_events)
    }
}

impl Forgotten {
    /// The number of verdicts that are kept.
    const MOST: usize = 20;

    fn add(&mut self, runtime: &Runtime) {
        self.count += 1;
        let timeline = runtime.collector.snapshot();
        let report = timeline.report();
        if report.issues().is_empty() {
            return;
        }
        let name = timeline.runtime.clone().unwrap_or_else(|| default_name(runtime.number));
        let sentence = format!("{}: {}", clean(&name), report.verdict.headline());
        self.worst.push((severity::severity(&report), sentence));
        by_key(&mut self.worst, |(severity, _)| Reverse(*severity));
        self.worst.truncate(Self::MOST);
    }

    /// Returns sentences that say how many runtimes were forgotten, and the worst verdicts. Empty if none were.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.count > 0 {
            let runtimes = count(self.count as u64, "runtime");
            all.push(format!(
                "{runtimes} that ended earlier are not shown, so that memory stays bounded."
            ));
            all.extend(self.worst.iter().map(|(_, sentence)| sentence.clone()));
        }
        all
    }
}

fn default_name(number: usize) -> String {
    format!("runtime-{number}")
}

/// Returns the name of a runtime as it is in the names of files.
pub(super) fn in_file_names(name: &str) -> String {
    name.replace(['/', '\\'], "_")
}
