//! The key `warn_after`: long polls are printed on stderr while they go on.

use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use super::settings::Settings;
use crate::collector::Collector;
use crate::trace::live_poll::LivePoll;
use crate::trace::timeline::SamplingState;
use crate::util::aside;
use crate::util::message::warn;
use crate::util::quantity::count;
use crate::util::sync::lock;

/// The least time between two of them.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long the end of the run waits for one that is being printed.
const LAST: Duration = Duration::from_secs(1);

/// Prints long polls, at most one a second, and none while another waits for stderr's reader.
#[derive(Debug, Default)]
pub(super) struct Warnings(Mutex<State>);

/// Each poll is left out, or waits to be printed, is being printed, and then is or is left out.
#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    waiting: u64,
    /// The one that is being printed, with those that it says were left out.
    printing: u64,
    /// How many were left out, of which nothing was said yet.
    left_out: u64,
    is_over: bool,
}

impl State {
    /// Whether another one is to be printed. Otherwise it is left out.
    fn wants(&mut self, now: Instant, is_busy: bool) -> bool {
        let is_due = self.last.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        let is_wanted = is_due && !is_busy;
        if is_wanted {
            self.last = Some(now);
            self.waiting += 1;
        } else {
            self.left_out += 1;
        }
        is_wanted
    }

    /// What is printed of `poll` now; `None` if the run is over, whose end has counted it.
    fn begin(&mut self, poll: &str) -> Option<String> {
        if self.is_over {
            return None;
        }
        self.waiting -= 1;
        let left_out = self.take_left_out();
        self.printing = left_out + 1;
        Some(match left_out {
            0 => format!("tokio-statemap: {poll}\n"),
            n => format!("tokio-statemap: {poll}\n  {} not shown\n", were(n, "other poll")),
        })
    }

    /// It is printed, or it can't be.
    fn end(&mut self, is_printed: bool) {
        match std::mem::take(&mut self.printing) {
            _ if is_printed => {}
            0 => self.give_up(1),
            n => self.left_out += n,
        }
    }

    /// So many that wait won't be printed.
    fn give_up(&mut self, n: u64) {
        if !self.is_over {
            self.waiting -= n;
            self.left_out += n;
        }
    }

    /// The run is over: what waits won't be printed.
    fn close(&mut self) {
        self.give_up(self.waiting);
        self.is_over = true;
    }

    fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }
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
            move || lock(&wants.0).wants(Instant::now(), aside::is_busy()),
            move |poll| prints.print(poll),
        );
        Some(warnings)
    }

    fn print(self: &Arc<Self>, poll: &LivePoll) {
        lock(&self.0).give_up(poll.missed);
        let (poll, begun, ended) = (poll.to_string(), Arc::clone(self), Arc::clone(self));
        let text = move || lock(&begun.0).begin(&poll);
        if !aside::print(text, move |is_printed| lock(&ended.0).end(is_printed)) {
            lock(&self.0).give_up(1);
        }
    }

    /// The run is over: no more are printed. A program may have closed stderr, and what is opened from
    /// now on may get its number.
    pub(super) fn close(&self) {
        lock(&self.0).close();
    }

    /// Says how many were not printed: after all else that waits for readers.
    pub(super) fn end(&self) {
        let is_read = aside::wait(LAST);
        let left_out = lock(&self.0).take_left_out();
        if is_read && left_out > 0 {
            warn(format_args!("`warn_after`: {} not shown", were(left_out, "poll")));
        }
    }
}

fn were(n: u64, noun: &str) -> String {
    let verb = if n == 1 { "was" } else { "were" };
    format!("{} of that length {verb}", count(n, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_a_second_is_printed_and_the_others_are_counted() {
        let (mut state, from) = (State::default(), Instant::now());
        let mut wants = |ms| state.wants(from + Duration::from_millis(ms), false);
        assert_eq!([0, 1, 999, 1000, 1001].map(&mut wants), [true, false, false, true, false]);
        let text = state.begin("a poll").unwrap();
        assert_eq!(text, "tokio-statemap: a poll\n  3 other polls of that length were not shown\n");
        state.end(true);
        assert_eq!(state.begin("another").unwrap(), "tokio-statemap: another\n");
        state.end(true);
        state.close();
        assert_eq!(state.take_left_out(), 0);
        assert_eq!(were(1, "poll"), "1 poll of that length was");
    }

    #[test]
    fn what_is_not_printed_is_counted_once() {
        let (mut state, from) = (State::default(), Instant::now());
        let wants =
            |state: &mut State, s, is_busy| state.wants(from + Duration::from_secs(s), is_busy);
        assert!(wants(&mut state, 0, false) && !wants(&mut state, 1, true));
        // stderr is closed, before it is known what to print, and after.
        state.end(false);
        assert!(wants(&mut state, 2, false));
        assert!(state.begin("a poll").unwrap().contains("\n  2 other polls "));
        state.end(false);
        assert_eq!(state.left_out, 3);
        // The first doesn't take the turn of the next.
        assert!(wants(&mut state, 3, false) && wants(&mut state, 4, false));
        state.give_up(1);
        assert_eq!((state.waiting, state.left_out), (1, 4));
        state.close();
        assert_eq!((state.begin("late"), state.take_left_out()), (None, 5));
        state.end(false);
        state.give_up(1);
        assert_eq!(state.take_left_out(), 0);
    }
}
