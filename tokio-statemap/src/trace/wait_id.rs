//! The numbers of places where tasks wait.

use std::num::NonZeroU16;

use crate::recorder::chains::table::{ELSEWHERE, NOTHING};

/// The number of a [`Wait`](crate::trace::timeline::Wait) within one timeline, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WaitId(NonZeroU16);

impl WaitId {
    /// The maximum number: a poll has 14 bits for it.
    pub(crate) const MOST: u16 = (1 << 14) - 1;
    /// The task waits, but nothing took its waker.
    pub(crate) const NOTHING: Self = match NonZeroU16::new(NOTHING) {
        Some(number) => Self(number),
        None => unreachable!(),
    };

    /// A waker was taken at a place that isn't known. Only a part of a timeline has it.
    pub(crate) const ELSEWHERE: Self = match NonZeroU16::new(ELSEWHERE) {
        Some(number) => Self(number),
        None => unreachable!(),
    };

    pub(crate) fn new(number: u16) -> Option<Self> {
        match NonZeroU16::new(number) {
            Some(id) if number <= Self::MOST => Some(Self(id)),
            _ => None,
        }
    }

    pub(crate) fn number(self) -> u16 {
        self.0.get()
    }

    /// Returns the index of its wait.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0.get()) - 1
    }
}
