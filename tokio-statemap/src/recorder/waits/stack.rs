//! Chains by the stack: recognising one that is known, and following one that isn't.

pub(super) use crate::recorder::unwind::Return;
pub(super) use crate::recorder::unwind::prepare;
use crate::recorder::unwind::returns;
pub(super) use crate::sys::threads::stack::Registers;
use crate::sys::threads::stack::own::CopyOfOwn;
pub(super) use crate::sys::threads::stack::own::{StackEnd, registers as here};

/// Returns whether this thread is in the functions of a chain that return there, whose depth is that of `here`.
///
/// The place where a function keeps its return address depends on that address alone, unless it has a
/// frame of variable size. So if the words at those places are the same, the functions are.
#[inline]
pub(super) fn is_at(here: &Registers, end: StackEnd, returns: &[Return]) -> bool {
    returns.iter().all(|to| end.has_word(here, to.offset, to.address))
}

/// Returns where the functions from `here` up to `end` return to. `None` if the stack can't be followed.
#[cold]
pub(super) fn follow(here: &Registers, end: StackEnd) -> Option<Vec<Return>> {
    returns(&CopyOfOwn::new(here, end)?, here)
}
