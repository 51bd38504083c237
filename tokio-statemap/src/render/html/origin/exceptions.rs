//! Lists of exceptions to a rule.

use super::varint;

/// A list of exceptions, each with the number of the item that it applies to.
#[derive(Debug, Default)]
pub(super) struct Exceptions {
    count: u64,
    next: u64,
    bytes: Vec<u8>,
}

impl Exceptions {
    /// Adds an exception for the `nth` item, and returns where its value is to be written.
    pub(super) fn add(&mut self, nth: u64) -> &mut Vec<u8> {
        varint(nth - self.next, &mut self.bytes);
        self.next = nth + 1;
        self.count += 1;
        &mut self.bytes
    }

    /// Adds an exception whose value is a number.
    pub(super) fn number(&mut self, nth: u64, number: u64) {
        varint(number, self.add(nth));
    }

    /// Adds an exception for the time of the `nth` item if it differs from `drawn_ns`: the sign and the amount
    /// of the difference.
    pub(super) fn time(&mut self, real_ns: u64, drawn_ns: u64, nth: u64) {
        if real_ns != drawn_ns {
            let to = self.add(nth);
            varint(u64::from(real_ns < drawn_ns), to);
            varint(real_ns.abs_diff(drawn_ns), to);
        }
    }

    /// Writes the list.
    pub(super) fn end(&self, to: &mut Vec<u8>) {
        varint(self.count, to);
        to.extend_from_slice(&self.bytes);
    }
}
