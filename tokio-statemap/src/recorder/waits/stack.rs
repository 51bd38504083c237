//! Chains by the stack: recognising one that is known, and following one that isn't.

use super::table::Chain;
pub(super) use crate::recorder::unwind::Return;
pub(super) use crate::recorder::unwind::prepare;
use crate::recorder::unwind::returns;
pub(super) use crate::sys::threads::stack::Registers;
use crate::sys::threads::stack::own::CopyOfOwn;
pub(super) use crate::sys::threads::stack::own::{StackEnd, registers as here};

/// Whether this thread is in the functions of `chain`, whose depth is that of `here`.
///
/// Where a function keeps the address that it returns to depends on that address alone, unless it has a
/// frame of variable size. So if the words at those places are the same, the functions are.
#[inline]
pub(super) fn is_at(here: &Registers, end: StackEnd, chain: &Chain) -> bool {
    chain.returns.iter().all(|to| end.has_word(here, to.offset, to.address))
}

/// Where the functions from `here` up to `end` return to. `None` if the stack can't be followed.
#[cold]
pub(super) fn follow(here: &Registers, end: StackEnd) -> Option<Box<[Return]>> {
    Some(returns(&CopyOfOwn::new(here, end)?, here)?.into())
}
