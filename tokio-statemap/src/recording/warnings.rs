//! The key `warn_after`: prints long polls on stderr while they are running.

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

/// The minimum time between two printed polls.
const INTERVAL: Duration = Duration::from_secs(1);

/// The maximum time that the end of the run waits for a poll being printed.
const LAST: Duration = Duration::from_secs(1);

/// Prints long polls, at most one a second, and none while another one waits for stderr's reader.
#[derive(Debug, Default)]
pub(super) struct Warnings(Mutex<State>);

/// The counts of polls by stage. Each is omitted or waits, is then being printed, and is finally
/// printed or omitted.
#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    waiting: u64,
    /// The number of polls covered by the text being printed, including those that it reports as
    /// omitted.
    printing: u64,
    /// The number of omitted polls that no text has reported yet.
    omitted: u64,
    is_over: bool,
}

impl State {
    /// Decides if another poll is to be printed. Otherwise it counts as omitted.
    fn wants(&mut self, now: Instant, is_busy: bool) -> bool {
        let is_due = self.last.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        let is_wanted = is_due && !is_busy;
        if is_wanted {
            self.last = Some(now);
            self.waiting += 1;
        } else {
            self.omitted += 1;
        }
        is_wanted
    }

    /// Returns the text to print for `poll`; `None` if the run is over, as `close` has counted the
    /// poll.
    fn begin(&mut self, poll: &str) -> Option<String> {
        if self.is_over {
            return None;
        }
        self.waiting -= 1;
        let omitted = self.take_omitted();
        self.printing = omitted + 1;
        Some(match omitted {
            0 => format!("tokio-statemap: {poll}\n"),
            n => format!("tokio-statemap: {poll}\n  {} not shown\n", were(n, "other poll")),
        })
    }

    /// Records that the text was printed or could not be.
    fn end(&mut self, is_printed: bool) {
        match std::mem::take(&mut self.printing) {
            _ if is_printed => {}
            0 => self.omit(1),
            n => self.omitted += n,
        }
    }

    /// Counts `n` waiting polls as omitted.
    fn omit(&mut self, n: u64) {
        if !self.is_over {
            self.waiting -= n;
            self.omitted += n;
        }
    }

    /// Counts all waiting polls as omitted, as the run is over.
    fn close(&mut self) {
        self.omit(self.waiting);
        self.is_over = true;
    }

    fn take_omitted(&mut self) -> u64 {
        std::mem::take(&mut self.omitted)
    }
}

impl Warnings {
    /// Returns the warnings, if the key is set and can have an effect.
    pub(super) fn new(settings: &Settings) -> Option<Arc<Self>> {
        settings.warn_after?;
        // A test binary may have hundreds of recordings, so the warning appears once per process.
        static WARNED: Once = Once::new();
        let Some(why) = unseen(settings) else { return Some(Arc::default()) };
        WARNED.call_once(|| warn(format_args!("`warn_after` has no effect: {why}")));
        None
    }

    /// Prints the polls of a runtime that take longer than `after`.
    pub(super) fn watch(self: &Arc<Self>, collector: &Collector, after: Duration) {
        let (wants, prints) = (Arc::clone(self), Arc::clone(self));
        collector.on_wanted_long_poll(
            after,
            move || lock(&wants.0).wants(Instant::now(), aside::is_busy()),
            move |poll| prints.print(poll),
        );
    }

    fn print(self: &Arc<Self>, poll: &LivePoll) {
        lock(&self.0).omit(poll.missed);
        let (poll, begun, ended) = (poll.to_string(), Arc::clone(self), Arc::clone(self));
        let text = move || lock(&begun.0).begin(&poll);
        if !aside::print(text, move |is_printed| lock(&ended.0).end(is_printed)) {
            lock(&self.0).omit(1);
        }
    }

    /// Ends the run's warnings. The program may have closed stderr, and a file opened from now on
    /// may get its number.
    pub(super) fn close(&self) {
        lock(&self.0).close();
    }

    /// Prints the number of omitted polls, after all other messages were read.
    pub(super) fn end(&self) {
        let is_read = aside::wait(LAST);
        let omitted = lock(&self.0).take_omitted();
        if is_read && omitted > 0 {
            warn(format_args!("`warn_after`: {} not shown", were(omitted, "poll")));
        }
    }
}

/// Returns the reason why polls aren't seen while they go on; `None` if they are.
pub(super) fn unseen(settings: &Settings) -> Option<&'static str> {
    match SamplingState::OF_THIS_BUILD {
        SamplingState::NotBuilt => Some("it needs the feature `stacks` of tokio-statemap"),
        SamplingState::NotSupported => Some("it needs Linux on x86-64 or aarch64"),
        _ if !settings.config.stacks => Some("`stacks = false` is given, too"),
        _ => None,
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
        assert_eq!(state.take_omitted(), 0);
        assert_eq!(were(1, "poll"), "1 poll of that length was");
    }

    #[test]
    fn what_is_not_printed_is_counted_once() {
        let (mut state, from) = (State::default(), Instant::now());
        let wants =
            |state: &mut State, s, is_busy| state.wants(from + Duration::from_secs(s), is_busy);
        assert!(wants(&mut state, 0, false) && !wants(&mut state, 1, true));
        // stderr is closed before the text is known, and after.
        state.end(false);
        assert!(wants(&mut state, 2, false));
        assert!(state.begin("a poll").unwrap().contains("\n  2 other polls "));
        state.end(false);
        assert_eq!(state.omitted, 3);
        // The first one doesn't take the slot of the next.
        assert!(wants(&mut state, 3, false) && wants(&mut state, 4, false));
        state.omit(1);
        assert_eq!((state.waiting, state.omitted), (1, 4));
        state.close();
        assert_eq!((state.begin("late"), state.take_omitted()), (None, 5));
        state.end(false);
        state.omit(1);
        assert_eq!(state.take_omitted(), 0);
    }
}
