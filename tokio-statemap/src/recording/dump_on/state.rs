//! Decides which triggers lead to a page, and counts the others.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::kept::Kept;
use super::values::Limits;
use crate::recorder::watch::listeners::PAGES;
use crate::util::quantity::count;

/// A page that is written soon.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pending {
    since: Instant,
    /// The trigger, as words for people.
    why: String,
    /// The number of triggers that joined it.
    others: u64,
}

impl Pending {
    /// Returns why the page is written.
    pub(super) fn why(&self) -> String {
        match self.others {
            0 => self.why.clone(),
            n => format!("{}, and {} after it", self.why, count(n, "trigger")),
        }
    }
}

/// The next step of the thread of the pages.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Wait for this long, or until anything changes; `None` to wait for a change.
    Wait(Option<Duration>),
    /// Say that the limit of pages an hour is reached.
    SayLimit,
    Write(Pending),
    /// The program ends.
    End,
}

/// The end of a page.
#[derive(Debug)]
pub(super) enum Outcome {
    Written,
    /// It is larger than all pages together may be.
    TooLarge,
    NotWritten,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pending: Option<Pending>,
    /// The trigger of the page that is being written.
    writing: Option<Instant>,
    pub(super) kept: Kept,
    written: u64,
    /// The number of triggers that led to no page, because of the limits.
    over_limit: u64,
    /// `true` once it was said that there are such triggers.
    is_limit_said: bool,
    too_large: u64,
    not_written: u64,
    is_over: bool,
}

impl State {
    /// Returns whether a trigger now would lead to a page of its own. A trigger that doesn't is counted.
    pub(super) fn wants(&mut self, now: Instant, limits: &Limits) -> bool {
        if self.is_over {
            return false;
        }
        if let Some(pending) = &mut self.pending {
            pending.others += 1;
            return false;
        }
        let is_allowed = self.kept.allows(now, limits);
        if !is_allowed {
            self.over_limit += 1;
            PAGES.left_out.fetch_add(1, Ordering::Relaxed);
        }
        is_allowed
    }

    /// Notes a trigger. `why` is called if it leads to a page.
    pub(super) fn trigger(&mut self, why: &dyn Fn() -> String, now: Instant, limits: &Limits) {
        if self.wants(now, limits) {
            self.kept.begin(now);
            self.pending = Some(Pending { since: now, why: why(), others: 0 });
        }
    }

    /// Returns what to do next.
    pub(super) fn next(&mut self, now: Instant, after: Duration) -> Next {
        if self.is_over {
            return Next::End;
        }
        if self.over_limit > 0 && !self.is_limit_said {
            self.is_limit_said = true;
            return Next::SayLimit;
        }
        let Some(pending) = &self.pending else { return Next::Wait(None) };
        let left = after.saturating_sub(now.saturating_duration_since(pending.since));
        match self.pending.take_if(|_| left.is_zero()) {
            None => Next::Wait(Some(left)),
            Some(pending) => {
                self.writing = Some(pending.since);
                Next::Write(pending)
            }
        }
    }

    /// Notes the end of the page. Returns `false` if nothing is to be said about it, as the program has counted it.
    pub(super) fn is_written(&mut self, outcome: &Outcome) -> bool {
        let began = self.writing.take();
        if self.is_over {
            return false;
        }
        let is_written = matches!(outcome, Outcome::Written);
        let counter = if is_written { &PAGES.written } else { &PAGES.left_out };
        counter.fetch_add(1, Ordering::Relaxed);
        match outcome {
            Outcome::Written => self.written += 1,
            Outcome::TooLarge => self.too_large += 1,
            Outcome::NotWritten => {
                self.not_written += 1;
                if let Some(began) = began {
                    self.kept.failed(began);
                }
            }
        }
        true
    }

    /// Ends all of it, as the program ends. Returns a sentence each on what was written, and what wasn't.
    pub(super) fn close(&mut self) -> Vec<String> {
        self.is_over = true;
        let unfinished =
            u64::from(self.pending.take().is_some()) + u64::from(self.writing.is_some());
        let mut all = Vec::new();
        let mut say = |n: u64, what: &str, rest: &str| {
            if n > 0 {
                all.push(format!("{what} {rest}."));
            }
        };
        let were = |n: u64| format!("{} {}", count(n, "page"), if n == 1 { "was" } else { "were" });
        let removed = self.kept.removed;
        say(self.written, &were(self.written), "written while the program ran (`dump_on`)");
        say(removed, &were(removed), "removed again (`dump_limit`)");
        let triggers = count(self.over_limit, "trigger");
        say(self.over_limit, &triggers, "led to no page, as there were too many (`dump_limit`)");
        let too_large = "removed again, as one alone was over `dump_limit`";
        say(self.too_large, &were(self.too_large), too_large);
        say(unfinished, &were(unfinished), "not written, as the program ended first (`dump_on`)");
        say(self.not_written, &were(self.not_written), "not written, as that failed (`dump_on`)");
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn after(state: &mut State, began: Instant, s: u32) -> Next {
        state.next(began + s * S, S)
    }

    #[test]
    fn a_trigger_joins_the_page_that_is_pending() {
        let (mut state, began, limits) = (State::default(), Instant::now(), Limits::default());
        assert_eq!(after(&mut state, began, 0), Next::Wait(None));
        state.trigger(&|| "a panic".to_owned(), began, &limits);
        state.trigger(&|| panic!("it joins"), began + S / 2, &limits);
        assert!(!state.wants(began + S / 2, &limits));
        assert_eq!(state.next(began + S / 4, S), Next::Wait(Some(3 * S / 4)));
        let Next::Write(pending) = after(&mut state, began, 1) else { panic!("{state:?}") };
        assert_eq!(pending.why(), "a panic, and 2 triggers after it");
        assert_eq!(after(&mut state, began, 1), Next::Wait(None));
        // While that page is written, the next one begins.
        state.trigger(&|| "SIGUSR2".to_owned(), began + 2 * S, &limits);
        assert!(state.is_written(&Outcome::Written));
        let Next::Write(pending) = after(&mut state, began, 3) else { panic!("{state:?}") };
        assert_eq!(pending.why(), "SIGUSR2");
        assert!(state.is_written(&Outcome::NotWritten));
        let ends = ["1 page was written while the program ran (`dump_on`)."];
        assert_eq!(state.close(), [ends[0], "1 page was not written, as that failed (`dump_on`)."]);
    }

    #[test]
    fn what_is_over_the_limit_is_counted_and_said_once() {
        let before = [&PAGES.written, &PAGES.left_out].map(|pages| pages.load(Ordering::Relaxed));
        let (mut state, began, limits) = (State::default(), Instant::now(), Limits::default());
        for s in 0..6 {
            state.trigger(&|| "a panic".to_owned(), began + s * S, &limits);
            let next = after(&mut state, began, s + 1);
            match s {
                0..3 => {
                    assert!(matches!(next, Next::Write(_)) && state.is_written(&Outcome::Written))
                }
                3 => assert_eq!(next, Next::SayLimit),
                _ => assert_eq!(next, Next::Wait(None)),
            }
        }
        // The first page is no longer one of the last hour.
        state.trigger(&|| "a panic".to_owned(), began + 3600 * S, &limits);
        assert!(matches!(after(&mut state, began, 3601), Next::Write(_)));
        assert!(state.is_written(&Outcome::TooLarge));
        let ends = [
            "3 pages were written while the program ran (`dump_on`).",
            "3 triggers led to no page, as there were too many (`dump_limit`).",
            "1 page was removed again, as one alone was over `dump_limit`.",
        ];
        assert_eq!(state.close(), ends);
        // Other tests in this process count, too.
        let counted = [&PAGES.written, &PAGES.left_out].map(|pages| pages.load(Ordering::Relaxed));
        assert!(
            counted[0] >= before[0] + 3 && counted[1] >= before[1] + 4,
            "{before:?} {counted:?}"
        );
    }

    #[test]
    fn what_the_end_cuts_off_is_counted() {
        let (mut state, began, limits) = (State::default(), Instant::now(), Limits::default());
        assert_eq!(State::default().close(), [""; 0]);
        state.trigger(&|| "a panic".to_owned(), began, &limits);
        assert!(matches!(after(&mut state, began, 1), Next::Write(_)));
        state.trigger(&|| "a panic".to_owned(), began + S, &limits);
        let end = "2 pages were not written, as the program ended first (`dump_on`).";
        assert_eq!(state.close(), [end]);
        assert!(!state.is_written(&Outcome::Written) && !state.wants(began + 9 * S, &limits));
        assert_eq!(after(&mut state, began, 9), Next::End);
    }
}
