//! Searches the registers of the calling thread, and the part of its stack that is in use.

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
    // SAFETY: it writes `REGISTERS` words to memory of that size, and changes nothing else. Test:
    // `sys::threads::stack::at_hand::tests::what_a_caller_has_is_found`.
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
