//! What is true of some things, where of all others something else is known.

use super::varint;

/// A list of exceptions, by which of the things each is of.
#[derive(Debug, Default)]
pub(super) struct Exceptions {
    count: u64,
    next: u64,
    bytes: Vec<u8>,
}

impl Exceptions {
    /// Something is true of the `nth` thing: `value` writes what.
    pub(super) fn add(&mut self, nth: u64, value: impl FnOnce(&mut Vec<u8>)) {
        varint(nth - self.next, &mut self.bytes);
        self.next = nth + 1;
        self.count += 1;
        value(&mut self.bytes);
    }

    /// A number is that of the `nth` thing.
    pub(super) fn number(&mut self, nth: u64, number: u64) {
        self.add(nth, |to| varint(number, to));
    }

    /// The time of the `nth` thing, if that isn't what is told of it: how much it is after or before.
    pub(super) fn time(&mut self, real_ns: u64, told_ns: u64, nth: u64) {
        if real_ns != told_ns {
            self.add(nth, |to| {
                varint(u64::from(real_ns < told_ns), to);
                varint(real_ns.abs_diff(told_ns), to);
            });
        }
    }

    /// Writes all of them.
    pub(super) fn end(self, to: &mut Vec<u8>) {
        varint(self.count, to);
        to.extend_from_slice(&self.bytes);
    }
}
