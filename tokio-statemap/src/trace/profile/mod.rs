//! The profile: what calls of instrumented async functions took.

use std::sync::atomic::Ordering;

use crate::recorder::Recorder;
use crate::recorder::clock::Rate;
use crate::recorder::functions::{Counted, Times};
use crate::util::quantity::share;
use crate::util::sync::lock;

/// What the calls of each instrumented async function took, since recording was first started.
///
/// It is counted for every call, however many events are kept. Polls that go on are not in it yet.
/// Its `Display` is a table of all functions, without a newline at its end.
///
/// # Examples
///
/// ```
/// use tokio_statemap::Collector;
///
/// fn print_busiest(collector: &Collector) {
///     let profile = collector.profile();
///     if let Some(busiest) = profile.functions.first() {
///         println!("{}: {} ns in {} calls", busiest.name, busiest.own_ns, busiest.calls);
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The functions that were called, the one with the longest own time first.
    pub functions: Vec<FunctionProfile>,
    /// How long was recorded, in ns: without the time while recording was stopped.
    pub recorded_ns: u64,
    /// How many workers the runtime was seen to have.
    pub workers: u64,
    /// How many calls aren't in it: those of functions beyond the first 4096 of the program.
    pub uncounted_calls: u64,
}

/// What the calls of one function took.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionProfile {
    /// Its path, such as `shop::orders::load`, or the name it was given.
    pub name: String,
    /// The file it is in.
    pub file: String,
    /// The line it begins in, from 1.
    pub line: u32,
    /// The column it begins in, from 1.
    pub column: u32,
    /// How many calls were polled for the first time.
    pub calls: u64,
    /// How many of them returned.
    pub completed: u64,
    /// How many of them were dropped before.
    pub cancelled: u64,
    /// How many polls its calls had that ended.
    pub polls: u64,
    /// How long its calls were polled, in ns: they, and what they called. Where it calls itself, this
    /// counts once. More than the time on a processor, as a poll may be blocked.
    pub total_ns: u64,
    /// The same without what other instrumented functions took: the sum over all functions is the time
    /// in which any was polled.
    pub own_ns: u64,
    /// The times of single calls, of those that ended while recording was started. `None` if there were
    /// none.
    pub ended: Option<Ended>,
}

/// The times of the calls that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// How long a call was polled in all, with what it called.
    pub total: PerCall,
    /// How long a call was polled, without what it called.
    pub own: PerCall,
    /// How long a call was not polled, from its first poll to its end.
    pub waiting: PerCall,
}

/// How a time varies over the calls of a function. The percentiles are within 2 % (and 1 ns).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PerCall {
    /// The mean, in ns.
    pub mean_ns: u64,
    /// What half of the calls took at most, in ns.
    pub p50_ns: u64,
    /// What 90 % of the calls took at most, in ns.
    pub p90_ns: u64,
    /// What 99 % of the calls took at most, in ns.
    pub p99_ns: u64,
    /// What the longest call took, in ns.
    pub longest_ns: u64,
}

impl Profile {
    /// With times by `rate`.
    pub(crate) fn of(recorder: &Recorder, rate: Rate) -> Self {
        let (counted, uncounted_calls) = recorder.functions.read();
        let now = recorder.clock.ticks();
        let recorded_ticks = lock(&recorder.windows).recorded_until(now);
        if counted.is_empty() && uncounted_calls == 0 {
            return Self::default();
        }
        let functions = counted.iter().map(|counted| FunctionProfile::of(counted, rate));
        let mut functions: Vec<_> = functions.collect();
        functions.sort_by(|a, b| {
            let order = |f: &FunctionProfile| (f.own_ns, f.total_ns, f.calls);
            let place = |f: &FunctionProfile| (f.line, f.column);
            (order(b).cmp(&order(a)))
                .then_with(|| a.name.cmp(&b.name))
                .then_with(|| a.file.cmp(&b.file))
                .then_with(|| place(a).cmp(&place(b)))
        });
        Self {
            functions,
            recorded_ns: rate.length_ns(recorded_ticks),
            workers: recorder.functions.workers.load(Ordering::Relaxed),
            uncounted_calls,
        }
    }

    /// Which share of the workers' time `ns` is, from 0 to 1. `None` if no worker was seen. More than 1 is
    /// possible, where functions were polled on threads that are no workers.
    pub fn share_of_workers(&self, ns: u64) -> Option<f64> {
        share(ns, u128::from(self.recorded_ns) * u128::from(self.workers))
    }
}

impl FunctionProfile {
    fn of(counted: &Counted, rate: Rate) -> Self {
        let [total, own, waiting] = &counted.ended;
        let per_call = |times| PerCall::of(times, rate);
        let ended = match (per_call(total), per_call(own), per_call(waiting)) {
            (Some(total), Some(own), Some(waiting)) => Some(Ended { total, own, waiting }),
            _ => None,
        };
        Self {
            name: counted.function.name().to_owned(),
            file: counted.function.file().to_owned(),
            line: counted.function.line(),
            column: counted.function.column(),
            calls: counted.begun,
            completed: counted.completed,
            cancelled: counted.cancelled,
            polls: counted.polls,
            total_ns: rate.length_ns(counted.total_ticks),
            own_ns: rate.length_ns(counted.own_ticks),
            ended,
        }
    }

    /// How many calls go on.
    pub fn running(&self) -> u64 {
        self.calls.saturating_sub(self.completed).saturating_sub(self.cancelled)
    }
}

impl PerCall {
    /// From the numbers in the order of the fields.
    #[cfg(feature = "read")]
    pub(crate) fn new([mean_ns, p50_ns, p90_ns, p99_ns, longest_ns]: [u64; 5]) -> Self {
        Self { mean_ns, p50_ns, p90_ns, p99_ns, longest_ns }
    }

    fn of(times: &Times, rate: Rate) -> Option<Self> {
        let percentile = |percent| times.percentile(percent).map(|ticks| rate.length_ns(ticks));
        Some(Self {
            mean_ns: rate.length_ns(times.sum_ticks.checked_div(times.count)?),
            p50_ns: percentile(50)?,
            p90_ns: percentile(90)?,
            p99_ns: percentile(99)?,
            longest_ns: rate.length_ns(times.longest_ticks),
        })
    }
}

#[cfg(all(test, tokio_unstable))]
mod tests;
