//! The profile: the times of calls of instrumented async functions.

use crate::recorder::capture::Calls;
use crate::recorder::clock::Rate;
use crate::recorder::functions::{Counted, Times};
use crate::util::quantity::share;

/// The times of the calls of each instrumented async function, since recording was first started.
///
/// Every call counts, however many events are kept. Polls in progress are not included yet.
/// `Display` writes a table of all functions, without a trailing newline.
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
    /// The recorded time in ns, without the time while recording was stopped.
    pub recorded_ns: u64,
    /// The number of workers seen.
    pub workers: u64,
    /// The number of calls that are not included: those of functions beyond the first 4096 of the
    /// program.
    pub uncounted_calls: u64,
}

/// The times of the calls of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionProfile {
    /// The path, such as `shop::orders::load`, or the name that was given.
    pub name: String,
    /// The file of the function.
    pub file: String,
    /// The line at which it begins, from 1.
    pub line: u32,
    /// The column at which it begins, from 1.
    pub column: u32,
    /// The number of calls that were polled at least once.
    pub calls: u64,
    /// The number of calls that returned.
    pub completed: u64,
    /// The number of calls that were dropped before they returned.
    pub cancelled: u64,
    /// The number of finished polls of its calls.
    pub polls: u64,
    /// The time in which its calls were polled, in ns, including what they called. Recursive calls
    /// count once. It can exceed the time on a processor, as a poll may be blocked.
    pub total_ns: u64,
    /// The same time without that of other instrumented functions. The sum over all functions is
    /// the time in which any was polled.
    pub own_ns: u64,
    /// The times of single calls that ended while recording was on. `None` if there were none.
    pub ended: Option<Ended>,
}

/// The distributions of the times of calls that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The time for which a call was polled, including what it called.
    pub total: PerCall,
    /// The time for which a call was polled, without what it called.
    pub own: PerCall,
    /// The time for which a call was not polled, from its first poll to its end.
    pub waiting: PerCall,
}

/// The distribution of a time over the calls of a function. The percentiles are within 2 % (and 1
/// ns).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PerCall {
    /// The mean, in ns.
    pub mean_ns: u64,
    /// The median, in ns.
    pub p50_ns: u64,
    /// The 90th percentile, in ns.
    pub p90_ns: u64,
    /// The 99th percentile, in ns.
    pub p99_ns: u64,
    /// The maximum, in ns.
    pub longest_ns: u64,
}

impl Profile {
    /// Converts the counts of calls, with times by `rate`.
    pub(crate) fn from_calls(calls: &Calls, rate: Rate) -> Self {
        let Calls { functions: counted, uncounted, recorded, workers } = calls;
        if counted.is_empty() && *uncounted == 0 {
            return Self::default();
        }
        let mut functions = Vec::new();
        for counted in counted {
            functions.push(FunctionProfile::from_counted(counted, rate));
        }
        crate::util::sort::by(&mut functions, |a, b| {
            let order = |f: &FunctionProfile| (f.own_ns, f.total_ns, f.calls);
            let place = |f: &FunctionProfile| (f.line, f.column);
            (order(b).cmp(&order(a)))
                .then_with(|| a.name.cmp(&b.name))
                .then_with(|| a.file.cmp(&b.file))
                .then_with(|| place(a).cmp(&place(b)))
        });
        Self {
            functions,
            recorded_ns: rate.length_ns(*recorded),
            workers: *workers,
            uncounted_calls: *uncounted,
        }
    }

    /// Returns the share of the workers' time that `ns` is, from 0 to 1; `None` if no worker was
    /// seen. It exceeds 1 if functions were polled on threads that are no workers.
    pub fn share_of_workers(&self, ns: u64) -> Option<f64> {
        share(ns, u128::from(self.recorded_ns) * u128::from(self.workers))
    }
}

impl FunctionProfile {
    fn from_counted(counted: &Counted, rate: Rate) -> Self {
        let [total, own, waiting] = &counted.ended;
        let per_call = |times| PerCall::from_times(times, rate);
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

    /// Returns the number of calls in progress.
    pub fn running(&self) -> u64 {
        self.calls.saturating_sub(self.completed).saturating_sub(self.cancelled)
    }
}

impl PerCall {
    /// Creates it from the numbers in the order of the fields.
    #[cfg(feature = "read")]
    pub(crate) fn new([mean_ns, p50_ns, p90_ns, p99_ns, longest_ns]: [u64; 5]) -> Self {
        Self { mean_ns, p50_ns, p90_ns, p99_ns, longest_ns }
    }

    pub(crate) fn from_times(times: &Times, rate: Rate) -> Option<Self> {
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
