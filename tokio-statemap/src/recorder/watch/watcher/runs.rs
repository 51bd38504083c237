//! Whether a thread that is seen to run may be signalled.
//!
//! It may block before the signal arrives, and the call that it blocks in may fail with EINTR. Of a thread
//! that computes for 50 µs and sleeps as long, by turns, that is so of some 5 % of all signals.

/// How often in a row one that blocks now and then is seen to run before it is signalled all the same.
const PATIENCE: u32 = 4;

/// How often such a one blocks between two looks at most. One that blocks more often is never signalled: it
/// is seen blocked sooner or later, which needs no signal.
const NOW_AND_THEN: u64 = 4;

/// What was seen of a thread in one poll.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Runs {
    /// How often it had blocked at the last look.
    blocks: Option<u64>,
    /// How often it was seen to run, but had blocked since the look before.
    seen: u32,
}

impl Runs {
    /// The thread isn't signalled at this look, and has blocked so often.
    pub(super) fn look(&mut self, blocks: Option<u64>) {
        *self = Self { blocks, seen: 0 };
    }

    /// Whether there was a look at which it could be told how often the thread had blocked.
    pub(super) fn has_looked(&self) -> bool {
        self.blocks.is_some()
    }

    /// The thread is seen to run, and has blocked so often: whether it may be signalled.
    pub(super) fn may_be_signalled(&mut self, blocks: Option<u64>) -> bool {
        let before = std::mem::replace(&mut self.blocks, blocks);
        let (Some(before), Some(now)) = (before, blocks) else { return false };
        self.seen += 1;
        let may_be = match now.saturating_sub(before) {
            0 => true,
            1..=NOW_AND_THEN => self.seen >= PATIENCE,
            _ => false,
        };
        if may_be {
            self.seen = 0;
        }
        may_be
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_blocks_again_and_again_is_signalled_seldom() {
        let mut runs = Runs::default();
        runs.look(Some(7));
        assert!(runs.may_be_signalled(Some(7)) && runs.may_be_signalled(Some(7)));
        let mut signalled = (8..24).map(|blocks| runs.may_be_signalled(Some(blocks)));
        assert_eq!(signalled.by_ref().take(4).collect::<Vec<_>>(), [false, false, false, true]);
        assert_eq!(signalled.filter(|signalled| *signalled).count(), 3);
        assert!(runs.may_be_signalled(Some(23)));
    }

    #[test]
    fn one_that_blocks_all_the_time_is_never_signalled() {
        let mut runs = Runs::default();
        assert!(!(0..100).any(|looks| runs.may_be_signalled(Some(50 * looks))));
        assert!(!(0..100).any(|_| Runs::default().may_be_signalled(None)));
    }
}
