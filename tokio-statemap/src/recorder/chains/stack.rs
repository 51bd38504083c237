//! Chains by the stack: recognising one that is known, and following one that isn't.

pub(super) use crate::recorder::unwind::Return;
pub(super) use crate::recorder::unwind::prepare;
use crate::recorder::unwind::returns;
pub(super) use crate::sys::threads::stack::Registers;
use crate::sys::threads::stack::own::CopyOfOwn;
pub(crate) use crate::sys::threads::stack::own::StackEnd;
pub(super) use crate::sys::threads::stack::own::registers as here;
use crate::sys::threads::stack::range::own_stack;

/// The stack that following another stack takes, in bytes: as measured, and half as much again. Unoptimised code takes
/// more.
const NEEDED: u64 = if cfg!(debug_assertions) { 96 << 10 } else { 24 << 10 };

/// Returns whether this thread has enough stack left below `here` to capture a chain.
#[inline]
pub(super) fn has_room(here: &Registers) -> bool {
    let stack = own_stack();
    // It isn't known how much is left of a stack other than the thread's own, such as a fiber's.
    stack.contains(&here.stack_pointer) && here.stack_pointer - stack.start >= NEEDED
}

/// Returns the word at this place of the stack.
#[inline]
pub(super) fn word(here: &Registers, end: StackEnd, offset: u32) -> Option<u64> {
    end.word(here, offset)
}

/// Returns whether this thread is in the functions of a chain with these `returns`, whose depth is that of `here`.
///
/// The place where a function keeps its return address depends on that address alone, unless it has a
/// frame of variable size. So if the words at those places are the same, the functions are.
#[inline]
pub(super) fn is_at(here: &Registers, end: StackEnd, returns: &[Return]) -> bool {
    end.has_words(here, returns, |to| (to.offset, to.address))
}

/// Returns where the functions from `here` up to `end` return to. `None` if the stack can't be followed.
#[cold]
pub(super) fn follow(here: &Registers, end: StackEnd) -> Option<Vec<Return>> {
    returns(&CopyOfOwn::new(here, end)?, here)
}

#[cfg(test)]
mod tests {
    use super::NEEDED;
    use crate::recorder::chains::capture::ProbePoll;
    use crate::sys::paint::stack_used_by;

    #[test]
    fn to_follow_a_stack_takes_two_thirds_of_what_must_be_left() {
        super::prepare();
        let mut captured = false;
        let poll = std::hint::black_box(ProbePoll::new());
        let used = stack_used_by(&mut || {
            std::hint::black_box(&poll).capture();
            captured = !poll.is_empty();
        });
        assert!(captured && used as u64 <= NEEDED / 3 * 2, "{used} bytes");
    }
}
