//! Stands in for the check of the order of locks in a program.

/// The rank of a lock, which nobody asks for.
#[derive(Debug)]
pub(super) struct Rank;

impl Rank {
    #[inline(always)]
    pub(super) fn waits(_: u8) -> Self {
        Self
    }

    #[inline(always)]
    pub(super) fn tries(_: u8) -> Self {
        Self
    }
}
