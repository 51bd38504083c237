//! Measures the stack usage of a call: paints the stack below the caller and checks how much of the
//! paint is left.

use std::hint::black_box;

/// The most that can be measured.
const REACH: usize = 64 << 10;
const PAINT: u8 = 0xA5;
static PAINTED: [u8; REACH] = [PAINT; REACH];

/// Returns the number of bytes of stack that `call` uses, including a few hundred bytes of overhead.
#[inline(never)]
pub(crate) fn stack_used_by(call: &mut dyn FnMut()) -> usize {
    let end = paint();
    call();
    REACH - painted_bytes(end)
}

/// Paints the stack below the caller's frame; returns the lowest painted address.
#[inline(never)]
fn paint() -> usize {
    let mut below = [PAINT; REACH];
    black_box(&mut below).as_ptr().expose_provenance()
}

/// Returns the number of bytes from `end` on that are still painted.
#[inline(never)]
fn painted_bytes(end: usize) -> usize {
    // SAFETY: the stack of this thread, which reaches further than that, as `paint` has written to it;
    // it is only read, and the frames that use it now are at its other end. Test: as below.
    let stack = |from: usize, to: usize| unsafe {
        std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(end + from), to - from)
    };
    // Everything up to `from` is painted, and not everything up to `to`.
    let (mut from, mut to) = (0, REACH);
    while to - from > 1 {
        let middle = from.midpoint(to);
        match *stack(from, middle) == PAINTED[from..middle] {
            true => from = middle,
            false => to = middle,
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn needs<const BYTES: usize>() {
        black_box(&mut [0_u8; BYTES]);
    }

    #[test]
    fn the_stack_of_a_call_is_measured() {
        let nothing = stack_used_by(&mut || ());
        assert!(nothing < 1500, "{nothing}");
        for (call, bytes) in [(needs::<4000> as fn(), 4000), (needs::<40_000>, 40_000)] {
            let used = stack_used_by(&mut || call());
            assert!((bytes..bytes + 500).contains(&used), "{used} of {bytes}");
        }
        assert!(stack_used_by(&mut needs::<{ 2 * REACH }>) >= REACH - 1);
    }
}
