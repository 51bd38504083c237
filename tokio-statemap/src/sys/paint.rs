//! How much stack a call needs: what is below it is painted, and then it is seen how far the paint is
//! gone.

use std::hint::black_box;

/// No call needs more, or it is taken for this.
const REACH: usize = 64 << 10;
const PAINT: u8 = 0xA5;
static PAINTED: [u8; REACH] = [PAINT; REACH];

/// How many bytes of stack `call` needs, and at least some hundred, which it takes to look.
#[inline(never)]
pub(crate) fn stack_used_by(call: &mut dyn FnMut()) -> usize {
    let end = paint();
    call();
    REACH - painted_bytes(end)
}

/// Paints what is below the caller's frame; returns where that ends.
#[inline(never)]
fn paint() -> usize {
    let mut below = [PAINT; REACH];
    black_box(&mut below).as_ptr().expose_provenance()
}

/// How many bytes from the end on are still as they were painted.
#[inline(never)]
fn painted_bytes(end: usize) -> usize {
    // SAFETY: the stack of this thread, which reaches further than that, as `paint` has written to it;
    // it is only read, and the frames that use it now are at its other end. Test: as below.
    let stack = |from: usize, to: usize| unsafe {
        std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(end + from), to - from)
    };
    // All is painted up to `from`, and not up to `to`.
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
    fn what_a_call_needs_is_seen() {
        let nothing = stack_used_by(&mut || ());
        assert!(nothing < 1500, "{nothing}");
        for (call, bytes) in [(needs::<4000> as fn(), 4000), (needs::<40_000>, 40_000)] {
            let used = stack_used_by(&mut || call());
            assert!((bytes..bytes + 500).contains(&used), "{used} of {bytes}");
        }
        assert!(stack_used_by(&mut needs::<{ 2 * REACH }>) >= REACH - 1);
    }
}
