//! Checks the order of locks, in unit tests.

use std::cell::Cell;

thread_local! {
    /// The ranks that this thread holds, a bit each.
    static HELD: Cell<u16> = const { Cell::new(0) };
}

/// A rank that this thread holds.
#[derive(Debug)]
pub(super) struct Rank(u16);

impl Rank {
    /// Notes that a lock of this rank is waited for.
    pub(super) fn waits(rank: u8) -> Self {
        let held = HELD.get();
        assert!(held >> rank == 0, "rank {rank} is waited for, while {held:b} are held");
        Self::tries(rank)
    }

    /// Notes that a lock of this rank was taken without waiting.
    pub(super) fn tries(rank: u8) -> Self {
        let bit = 1 << rank;
        assert_eq!(HELD.get() & bit, 0, "rank {rank} is held");
        HELD.set(HELD.get() | bit);
        Self(bit)
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        HELD.set(HELD.get() & !self.0);
    }
}

#[cfg(test)]
mod tests {
    use crate::recorder::locks::{LATE, Lock, MEMORY, lock, try_lock};

    #[test]
    fn an_earlier_lock_may_be_tried_but_not_waited_for() {
        let (memory, late) = (Lock::<(), MEMORY>::default(), Lock::<(), LATE>::default());
        drop((lock(&memory), lock(&late)));
        let _late = lock(&late);
        assert!(try_lock(&memory).is_some());
        let waits = std::panic::AssertUnwindSafe(|| drop(lock(&memory)));
        assert!(std::panic::catch_unwind(waits).is_err());
    }
}
