//! The stack of the calling thread, between where it is and a place further out.

use std::marker::PhantomData;

use super::{Registers, STACK_BYTES, read_memory, word_at};

/// Returns the registers of the function that this is inlined into.
#[inline(always)]
pub(crate) fn registers() -> Registers {
    let (instruction_pointer, stack_pointer, frame_pointer): (u64, u64, u64);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it only reads registers. Test: `sys::threads::stack::own::tests::the_stack_is_this_one`.
    unsafe {
        std::arch::asm!(
            "lea {}, [rip]", "mov {}, rsp", "mov {}, rbp",
            out(reg) instruction_pointer, out(reg) stack_pointer, out(reg) frame_pointer,
            options(nomem, nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "x86_64")]
    let link = 8; // there is none
    #[cfg(target_arch = "aarch64")]
    let link: u64;
    #[cfg(target_arch = "aarch64")]
    // SAFETY: it only reads registers. Test: as above.
    unsafe {
        std::arch::asm!(
            "adr {}, .", "mov {}, sp", "mov {}, x29", "mov {}, x30",
            out(reg) instruction_pointer, out(reg) stack_pointer, out(reg) frame_pointer,
            out(reg) link, options(nomem, nostack, preserves_flags),
        );
    }
    Registers { instruction_pointer, stack_pointer, frame_pointer: Some(frame_pointer), link }
}

/// The end of a function's stack. The stack of the functions that it calls is below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackEnd {
    address: u64,
    /// The address is on one thread's stack.
    _of_thread: PhantomData<*const ()>,
}

impl StackEnd {
    /// Returns the end of the function that this is inlined into.
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Self { address: registers().stack_pointer, _of_thread: PhantomData }
    }

    /// Returns the end of the stack that these words are.
    #[cfg(test)]
    pub(crate) fn of_words(words: &[u64]) -> Self {
        Self { address: words.as_ptr_range().end.addr() as u64, _of_thread: PhantomData }
    }

    /// Returns the distance of `here` from the end, in bytes. `None` if it is more than is copied of a stack, or
    /// negative, in which case `here` is on another stack.
    #[inline]
    pub(crate) fn depth_of(self, here: &Registers) -> Option<u32> {
        let depth = self.address.checked_sub(here.stack_pointer)?;
        (depth <= STACK_BYTES as u64).then_some(depth as u32)
    }

    /// Returns `true` if the stack has each of these words at its distance above the stack pointer of `here`, as a
    /// [`CopyOfOwn`] of the same depth has. The last word is farthest out.
    #[inline]
    pub(crate) fn has_words<W>(
        self,
        here: &Registers,
        words: &[W],
        word: impl Fn(&W) -> (u32, u64),
    ) -> bool {
        let Some(last) = words.last().map(&word) else { return true };
        if !self.is_below(here, last.0) {
            return false;
        }
        for each in words {
            let (offset, expected) = word(each);
            // A word that is farther out than the last may not be on the stack.
            if offset > last.0 || Self::at(here.stack_pointer + u64::from(offset)) != expected {
                return false;
            }
        }
        true
    }

    /// Returns the word `offset` bytes above the stack pointer of `here`, if that is below the end.
    #[inline]
    pub(crate) fn word(self, here: &Registers, offset: u32) -> Option<u64> {
        self.is_below(here, offset).then(|| Self::at(here.stack_pointer + u64::from(offset)))
    }

    #[inline]
    fn is_below(self, here: &Registers, offset: u32) -> bool {
        (here.stack_pointer + u64::from(offset)).saturating_add(8) <= self.address
    }

    /// Returns the word at an address between the stack pointer of a function of this thread and the end.
    #[inline]
    fn at(address: u64) -> u64 {
        let found: u64;
        // An instruction is needed, as the word is in the frame of another function, which the compiler
        // assumes to be private.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the address is between two places of this thread's stack, which are at most 256 KiB apart and in use:
        // the upper one is in the frame of a function that called that of the lower one, or next to it. Test:
        // `sys::threads::stack::own::tests::the_stack_is_this_one`.
        unsafe {
            std::arch::asm!(
                "mov {}, [{}]", out(reg) found, in(reg) address,
                options(readonly, nostack, preserves_flags),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the same.
        unsafe {
            std::arch::asm!(
                "ldr {}, [{}]", out(reg) found, in(reg) address,
                options(readonly, nostack, preserves_flags),
            );
        }
        found
    }
}

/// A copy of this thread's stack from its stack pointer up to a place further out.
#[derive(Debug)]
pub(crate) struct CopyOfOwn {
    from: u64,
    bytes: Vec<u8>,
}

impl CopyOfOwn {
    /// Copies the stack from `here` to `end`. Returns `None` if that isn't all in memory, or is too much.
    pub(crate) fn new(here: &Registers, end: StackEnd) -> Option<Self> {
        let length = end.depth_of(here)? as usize;
        let mut bytes = vec![0; length];
        (read_memory(here.stack_pointer, &mut bytes) == length)
            .then_some(Self { from: here.stack_pointer, bytes })
    }

    /// Returns the address at which it ends.
    pub(crate) fn end(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }

    /// Returns the word at `address`, or `None` outside.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        word_at(&self.bytes, address.checked_sub(self.from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn inner(end: StackEnd) {
        let here = registers();
        let depth = end.depth_of(&here).unwrap();
        let copy = CopyOfOwn::new(&here, end).unwrap();
        assert_eq!(copy.end(), end.address);
        assert_eq!((copy.word(end.address), copy.word(here.stack_pointer - 8)), (None, None));
        for offset in (0..depth).step_by(8).skip(128) {
            let word = copy.word(here.stack_pointer + u64::from(offset)).unwrap();
            // Only the part of this function, which has the copy, may have changed.
            assert_eq!(end.word(&here, offset), Some(word));
            let has = |word| end.has_words(&here, &[(offset, word)], |word| *word);
            assert!(has(word) && !has(!word));
        }
        assert_eq!((end.word(&here, depth), end.word(&here, u32::MAX)), (None, None));
    }

    #[inline(never)]
    fn outer(end: StackEnd) -> u8 {
        let buffer = std::hint::black_box([7_u8; 4096]);
        inner(end);
        buffer[0]
    }

    #[test]
    fn the_stack_is_this_one() {
        assert_eq!(outer(StackEnd::here()), 7);
        let mut below = registers();
        below.stack_pointer -= 1 << 30;
        assert!(CopyOfOwn::new(&below, StackEnd::here()).is_none(), "too much");
        let mut above = registers();
        above.stack_pointer += 1 << 16;
        assert!(CopyOfOwn::new(&above, StackEnd::here()).is_none(), "the other way round");
    }
}
