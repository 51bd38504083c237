//! The stack of the calling thread.

use std::cell::Cell;
use std::sync::Mutex;

use super::Tables;
use crate::sys::threads::stack::Registers;
use crate::sys::threads::stack::own::CopyOfOwn;
use crate::util::sync::lock;

/// The address that a function returns to, and the place on the stack where that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Return {
    /// The distance above the stack pointer, in bytes.
    pub(crate) offset: u32,
    pub(crate) address: u64,
}

impl Return {
    /// Returns the distance above the stack pointer, in bytes.
    pub(crate) fn offset(&self) -> u32 {
        self.offset
    }
}

static TABLES: Mutex<Option<Tables>> = Mutex::new(None);

/// Reads the program's unwind tables, which takes a ms or more, so that no poll has to.
pub(crate) fn prepare() {
    lock(&TABLES).get_or_insert_with(Tables::new);
}

/// Returns the addresses that the functions of this thread return to, the innermost first, up to the function in which
/// `stack` ends. `None` if the stack could not be followed that far.
///
/// It takes some µs, and a lock.
pub(crate) fn returns(stack: &CopyOfOwn, registers: &Registers) -> Option<Vec<Return>> {
    let mut tables = lock(&TABLES);
    let tables = tables.get_or_insert_with(Tables::new);
    tables.refresh();
    let mut returns = Vec::new();
    // The words that were read since the last function. One of them is the address to return to.
    let read: Cell<[(u64, u64); 4]> = Cell::new([(0, 0); 4]);
    let is_beyond = Cell::new(false);
    let word = |address: u64| {
        let word = stack.word(address);
        match word {
            Some(word) => {
                let [a, b, c, _] = read.get();
                read.set([(address, word), a, b, c]);
            }
            // The next function is outside the copy.
            None => is_beyond.set(address >= stack.end()),
        }
        word
    };
    let mut is_first = true;
    tables.walk(registers, registers.frame_pointer?, &word, &mut |address| {
        if std::mem::take(&mut is_first) {
            return true; // the function that `registers` are of
        }
        // `address` is within the call.
        for (at, word) in &read.get() {
            if *word == address.wrapping_add(1) {
                let Some(offset) = at.checked_sub(registers.stack_pointer) else { return false };
                let Ok(offset) = u32::try_from(offset) else { return false };
                returns.push(Return { offset, address: *word });
                return true;
            }
        }
        false
    });
    (is_beyond.get() && !returns.is_empty()).then_some(returns)
}
