//! The polls that listeners were notified of.

use std::time::Duration;

use crate::recorder::store::look::WITHIN;

/// The ages up to which listeners were notified of the polls that a thread may be in: the start of each poll, and the
/// age. The inner polls are last.
///
/// There are at most [`WITHIN`], as no more polls are searched for one around them.
#[derive(Clone, Debug, Default)]
pub(super) struct Notified(Vec<(u64, Duration)>);

impl Notified {
    /// Returns the age up to which listeners were notified of the poll that started then, the innermost that goes on.
    /// Polls within it are over.
    pub(super) fn up_to(&mut self, start_ticks: u64) -> Duration {
        self.forget_from(start_ticks.saturating_add(1));
        match self.0.last() {
            Some(&(last, age)) if last == start_ticks => age,
            _ => Duration::ZERO,
        }
    }

    fn forget_from(&mut self, start_ticks: u64) {
        self.0.retain(|&(other, _)| other < start_ticks);
    }

    /// Notes that listeners were notified of this poll up to this age.
    pub(super) fn set(&mut self, start_ticks: u64, age: Duration) {
        self.forget_from(start_ticks);
        if self.0.len() == WITHIN {
            self.0.remove(0);
        }
        self.0.push((start_ticks, age));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_poll_around_others_is_notified_once() {
        let mut notified = Notified::default();
        notified.set(10, 5 * MS);
        notified.set(20, 6 * MS);
        notified.set(20, 7 * MS);
        assert_eq!(notified.up_to(20), 7 * MS);
        assert_eq!(notified.up_to(10), 5 * MS);
        assert_eq!(notified.up_to(20), Duration::ZERO, "another one, as that one is over");
    }

    #[test]
    fn a_thread_that_is_always_in_polls_is_bounded() {
        let mut notified = Notified::default();
        for start in 0..10_000 {
            assert_eq!(notified.up_to(start), Duration::ZERO);
            notified.set(start, 5 * MS);
        }
        assert_eq!(notified.0.len(), WITHIN);
        assert_eq!(
            notified.up_to(9_999 - WITHIN as u64 + 1),
            5 * MS,
            "it may be around all the others"
        );
        for start in 10_000..20_000 {
            notified.up_to(start);
        }
        assert_eq!(notified.0.len(), 1, "what is not notified takes no room");
    }
}
