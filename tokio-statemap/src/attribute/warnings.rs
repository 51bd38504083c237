//! The key `warn_after`: long polls are printed on stderr while they go on.

use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use super::settings::Settings;
use crate::collector::Collector;
use crate::trace::live_poll::LivePoll;
use crate::trace::timeline::SamplingState;
use crate::util::message::warn;
use crate::util::quantity::count;
use crate::util::sync::lock;

/// The least time between two of them.
const INTERVAL: Duration = Duration::from_secs(1);

/// Prints long polls, at most one a second.
#[derive(Debug, Default)]
pub(super) struct Warnings(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    /// How many were not printed since.
    left_out: u64,
}

impl Warnings {
    /// Those of the key, if it is given.
    pub(super) fn start(collector: &Collector, settings: &Settings) -> Option<Arc<Self>> {
        let after = settings.warn_after?;
        // Once per process, as a test binary may have hundreds of runs.
        static WARNED: Once = Once::new();
        let no_effect = |why: &str| {
            WARNED.call_once(|| warn(format_args!("`warn_after` has no effect: {why}")));
            None
        };
        match SamplingState::OF_THIS_BUILD {
            SamplingState::NotBuilt => {
                return no_effect("it needs the feature `stacks` of tokio-statemap");
            }
            SamplingState::NotSupported => {
                return no_effect("it needs Linux on x86-64 or aarch64");
            }
            _ if !settings.stacks => return no_effect("`stacks = false` is given, too"),
            _ => {}
        }
        let warnings = Arc::new(Self::default());
        let (wants, prints) = (Arc::clone(&warnings), Arc::clone(&warnings));
        collector.on_wanted_long_poll(
            after,
            move || wants.wants(Instant::now()),
            move |poll| prints.print(poll),
        );
        Some(warnings)
    }

    /// Whether another one is due. Otherwise it is counted.
    fn wants(&self, now: Instant) -> bool {
        let mut state = lock(&self.0);
        let is_due = state.last.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if is_due {
            state.last = Some(now);
        } else {
            state.left_out += 1;
        }
        is_due
    }

    fn print(&self, poll: &LivePoll) {
        match self.take_left_out() {
            0 => warn(format_args!("{poll}")),
            n => warn(format_args!("{poll}\n  {} not shown", before(n))),
        }
    }

    fn take_left_out(&self) -> u64 {
        std::mem::take(&mut lock(&self.0).left_out)
    }

    /// Says how many were not printed, as the run is over.
    pub(super) fn end(&self) {
        match self.take_left_out() {
            0 => {}
            n => warn(format_args!("{} not shown", before(n))),
        }
    }
}

fn before(n: u64) -> String {
    let were = if n == 1 { "was" } else { "were" };
    format!("{} of that length {were}", count(n, "other poll"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_a_second_is_printed_and_the_others_are_counted() {
        let (warnings, from) = (Warnings::default(), Instant::now());
        let wants =
            [0, 1, 999, 1000, 1001].map(|ms| warnings.wants(from + Duration::from_millis(ms)));
        assert_eq!(wants, [true, false, false, true, false]);
        assert_eq!((warnings.take_left_out(), warnings.take_left_out()), (3, 0));
        assert_eq!(before(1), "1 other poll of that length was");
        assert_eq!(before(3), "3 other polls of that length were");
    }
}
