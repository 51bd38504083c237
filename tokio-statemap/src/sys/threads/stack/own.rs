//! The stack of the calling thread, between where it is and a place further out.

use std::marker::PhantomData;

use super::{Registers, STACK_BYTES, read_memory};

/// The registers of the function that this is inlined into.
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

/// Where the stack of a function ends; what that function calls is below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackEnd {
    address: u64,
    /// It is on one thread's stack.
    _of_thread: PhantomData<*const ()>,
}

impl StackEnd {
    /// That of the function that this is inlined into.
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Self { address: registers().stack_pointer, _of_thread: PhantomData }
    }

    /// How far `here` is from it, in bytes; `None` if that is more than is copied of a stack, or negative:
    /// it is another stack then.
    #[inline]
    pub(crate) fn depth_of(self, here: &Registers) -> Option<u32> {
        let depth = self.address.checked_sub(here.stack_pointer)?;
        (depth <= STACK_BYTES as u64).then_some(depth as u32)
    }

    /// Whether the word `offset` bytes above the stack pointer of `here`, which a [`CopyOfOwn`] of the same
    /// depth had, is `word`.
    #[inline]
    pub(crate) fn has_word(self, here: &Registers, offset: u32, word: u64) -> bool {
        let address = here.stack_pointer + u64::from(offset);
        if address.saturating_add(8) > self.address {
            return false;
        }
        let found: u64;
        // As an instruction, as the word is in the frame of another function, about which the compiler
        // assumes that no one else reads it.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: it is between two places of this thread's stack, which are at most 256 KiB apart, and in
        // use: the function of the upper one has called that of the lower one. Test:
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
        found == word
    }
}

/// A copy of this thread's stack from its stack pointer up to a place further out.
#[derive(Debug)]
pub(crate) struct CopyOfOwn {
    from: u64,
    bytes: Vec<u8>,
}

impl CopyOfOwn {
    /// From `here` to `end`; `None` if that isn't all in memory, or is too much.
    pub(crate) fn new(here: &Registers, end: StackEnd) -> Option<Self> {
        let length = end.depth_of(here)? as usize;
        let mut bytes = vec![0; length];
        (read_memory(here.stack_pointer, &mut bytes) == length)
            .then_some(Self { from: here.stack_pointer, bytes })
    }

    /// The address at which it ends.
    pub(crate) fn end(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }

    /// The word at `address`; `None` outside.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.from)?).ok()?;
        let bytes = self.bytes.get(offset..offset.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
//! What the calling thread has at hand: its registers, and the part of its stack that its functions use now.

use super::read_memory;

/// The most of the stack that is copied, in bytes.
const MAX_BYTES: usize = 16 << 10;

/// The registers that a function leaves to its caller as they were.
#[cfg(target_arch = "x86_64")]
const REGISTERS: usize = 6;
#[cfg(target_arch = "aarch64")]
const REGISTERS: usize = 12;

/// Calls `see` with words of the registers and the stack, from here up to the address `until`, one after
/// the other, until it returns `true`. Allocates nothing.
#[inline(never)]
pub(crate) fn find_word(until: u64, mut see: impl FnMut(u64) -> bool) -> bool {
    let mut registers = [0_u64; REGISTERS];
    // SAFETY: it writes so many words to where there is room for them, and changes nothing else. Test:
    // `sys::threads::stack::own::tests::what_a_caller_has_is_found`.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "mov [{0}], rbx",
            "mov [{0} + 8], rbp",
            "mov [{0} + 16], r12",
            "mov [{0} + 24], r13",
            "mov [{0} + 32], r14",
            "mov [{0} + 40], r15",
            in(reg) registers.as_mut_ptr(),
            options(nostack, preserves_flags),
        );
    }
    // SAFETY: the same. Test: the same.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            "stp x19, x20, [{0}]",
            "stp x21, x22, [{0}, #16]",
            "stp x23, x24, [{0}, #32]",
            "stp x25, x26, [{0}, #48]",
            "stp x27, x28, [{0}, #64]",
            "stp x29, x30, [{0}, #80]",
            in(reg) registers.as_mut_ptr(),
            options(nostack, preserves_flags),
        );
    }
    if registers.iter().any(|word| see(*word)) {
        return true;
    }
    let mut from = std::ptr::from_ref(&registers).addr() as u64;
    let until = until.min(from.saturating_add(MAX_BYTES as u64));
    let mut part = [0_u8; 1024];
    while from < until {
        let wanted = part.len().min((until - from) as usize);
        let copied = read_memory(from, &mut part[..wanted]);
        let words = part[..copied].chunks_exact(8);
        for word in words.filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?))) {
            if see(word) {
                return true;
            }
        }
        if copied < wanted {
            break;
        }
        from += copied as u64;
    }
    false
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
        for offset in (0..depth).step_by(8).skip(64) {
            let word = copy.word(here.stack_pointer + u64::from(offset)).unwrap();
            // What isn't in this function's own part, where the copy is, hasn't changed.
            assert!(end.has_word(&here, offset, word));
            assert!(!end.has_word(&here, offset, !word));
        }
        assert!(!end.has_word(&here, depth, 0) && !end.has_word(&here, u32::MAX, 0));
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
    #[test]
    fn what_a_caller_has_is_found() {
        let wanted = std::hint::black_box(0x1234_5678_9abc_def0_u64);
        let kept = std::hint::black_box([wanted; 2]);
        let until = std::ptr::from_ref(&kept).addr() as u64 + 64;
        assert!(find_word(until, |word| word == wanted));
        let mut seen = 0;
        assert!(!find_word(0, |_| {
            seen += 1;
            false
        }));
        assert_eq!(seen, REGISTERS);
        let mut seen = 0;
        assert!(!find_word(u64::MAX, |_| {
            seen += 1;
            false
        }));
        assert!(seen <= REGISTERS + MAX_BYTES / 8, "{seen}");
        std::hint::black_box(kept);
    }
}
