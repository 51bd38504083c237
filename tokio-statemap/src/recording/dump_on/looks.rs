//! The triggers that must be polled for: `ready`, `wait`, and `file`.
//!
//! The first two take a snapshot of each runtime, which costs more the more is kept. So there are two looks a second, or
//! as many as take 1 % of a processor if that is less.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Weak;
use std::time::{Duration, Instant, SystemTime};

use super::DumpOn;
use super::values::Trigger;
use crate::analysis::overdue;
use crate::recording::active::Active;
use crate::recording::exits;
use crate::recording::path::Names;
use crate::recording::target::Target;
use crate::util::glob::has_pattern;
use crate::util::quantity::human_setting;

/// The time between two looks.
const PERIOD: Duration = Duration::from_millis(500);

/// The time from one look with snapshots to the next, as a multiple of the time that the first one took.
const REST: u32 = 100;

/// The things that are looked for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The time for which a task is ready, in ns.
    pub(super) ready_ns: Option<u64>,
    /// The times for which a task waits, in ns, each with the pattern of the source files that it applies to.
    pub(super) waits: Vec<(u64, Option<String>)>,
    /// The file that appears or changes.
    file: Option<PathBuf>,
    /// The time at which that file was last changed before this process looked.
    was_changed: Option<SystemTime>,
}

impl Wanted {
    /// Adds a trigger. The path of a file is one as those of outputs are.
    pub(super) fn add(&mut self, trigger: Trigger, is_test: bool) {
        match trigger {
            Trigger::Ready(ns) => self.ready_ns = Some(ns),
            Trigger::Wait(ns, at) => self.waits.push((ns, at)),
            Trigger::File(path) => {
                let path = path.unwrap_or_else(|| "{bin}.dump".to_owned());
                let path = Names::of_this_process(is_test).fill_in(Path::new(&path));
                let path = Target::new("dump_on", &path).path;
                (self.was_changed, self.file) = (changed(&path), Some(path));
            }
            _ => {}
        }
    }

    fn has_snapshots(&self) -> bool {
        self.ready_ns.is_some() || !self.waits.is_empty()
    }

    /// Returns whether there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_snapshots() && self.file.is_none()
    }
}

/// The looks of the thread that waits for triggers.
#[derive(Debug)]
pub(super) struct Looks {
    next: Instant,
    next_snapshots: Instant,
    was_changed: Option<SystemTime>,
    /// The end of the last snapshot of each runtime, in ns, by its number.
    last_ns: Vec<(usize, u64)>,
}

impl Looks {
    pub(super) fn new(wanted: &Wanted) -> Self {
        let next = Instant::now() + PERIOD;
        let was_changed = wanted.was_changed;
        Self { next, next_snapshots: next, was_changed, last_ns: Vec::new() }
    }

    /// Returns the time up to the next look; `None` if there is none.
    pub(super) fn due_in(&self, wanted: &Wanted, now: Instant) -> Option<Duration> {
        (!wanted.is_empty()).then(|| self.next.saturating_duration_since(now))
    }

    /// Looks, and triggers pages.
    pub(super) fn look(&mut self, dump_on: &DumpOn, active: &Weak<Active>) {
        let began = Instant::now();
        if let Some(path) = &dump_on.wanted.file {
            let changed = changed(path);
            if changed.is_some() && changed != self.was_changed {
                dump_on.trigger(&|| "the file of `dump_on` was changed".to_owned());
            }
            self.was_changed = changed;
        }
        self.next = began + PERIOD;
        if dump_on.wanted.has_snapshots() && began >= self.next_snapshots {
            let cpu_before = cpu_time();
            // What is wrong here must not end the other triggers.
            let look = AssertUnwindSafe(|| self.look_at_tasks(dump_on, active));
            if catch_unwind(look).is_err() {
                self.last_ns.clear();
            }
            // While others have the processors, the look takes longer, and costs no more.
            let took = cpu_time()
                .zip(cpu_before)
                .map_or(began.elapsed(), |(now, then)| now.saturating_sub(then));
            self.next_snapshots = (began + took * REST).max(self.next);
            if dump_on.wanted.file.is_none() {
                self.next = self.next_snapshots;
            }
        }
    }

    fn look_at_tasks(&mut self, dump_on: &DumpOn, active: &Weak<Active>) {
        let Some(recording) = active.upgrade() else { return };
        let captured = recording.runtimes.is_any_recording().then(|| recording.runtimes.captured());
        exits::release(recording);
        let Some(captured) = captured else { return };
        let numbers = captured.numbers();
        let timelines = captured.recorded().timelines;
        self.last_ns.retain(|(number, _)| numbers.contains(number));
        for (number, timeline) in numbers.into_iter().zip(timelines) {
            let end_ns = timeline.end_ns;
            let known = self.last_ns.iter_mut().find(|(known, _)| *known == number);
            let last_ns = match known {
                Some((_, last_ns)) => std::mem::replace(last_ns, end_ns),
                None => {
                    self.last_ns.push((number, end_ns));
                    0
                }
            };
            let wanted = &dump_on.wanted;
            if let Some(ns) = wanted.ready_ns {
                if let Some(task) = overdue::ready(&timeline, ns, last_ns) {
                    let length = human_setting(ns);
                    dump_on.trigger(&|| format!("{task} was ready for over {length}"));
                }
            }
            if wanted.waits.is_empty() {
                continue;
            }
            let trees = timeline.trees();
            for (ns, at) in &wanted.waits {
                let is_meant = |file: &str| {
                    at.as_ref().is_none_or(|at| has_pattern(file.as_bytes(), at.as_bytes()))
                };
                let found = overdue::waiting(&trees, (*ns, last_ns, end_ns), &is_meant);
                if let Some((task, place)) = found {
                    let length = human_setting(*ns);
                    dump_on.trigger(&|| format!("{task} has waited for over {length} at {place}"));
                }
            }
        }
    }
}

/// Returns the processor time of this thread, where that is known.
fn cpu_time() -> Option<Duration> {
    #[cfg(has_stacks)]
    return crate::sys::threads::cpu_ns().map(Duration::from_nanos);
    #[cfg(not(has_stacks))]
    None
}

/// Returns when a file was last changed; `None` if it isn't there.
fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// Returns why tasks that are ready or wait aren't seen, if they aren't.
pub(super) fn unseen(settings: &super::Settings, trigger: &Trigger) -> Option<&'static str> {
    let config = &settings.config;
    let has_tasks = config.trace_target.tracks_tasks() && cfg!(tokio_unstable);
    match trigger {
        Trigger::Ready(_) | Trigger::Wait(..) if !has_tasks => Some("no tasks are recorded"),
        Trigger::Ready(_) if !config.schedule_latency => {
            Some("`schedule_latency = false` is given, too")
        }
        Trigger::Wait(..) if !cfg!(has_wakes) => {
            Some("it needs the feature `wakes` of tokio-statemap, and Linux on x86-64 or aarch64")
        }
        Trigger::Wait(..) if !config.wakes => Some("`wakes = false` is given, too"),
        _ => None,
    }
}
