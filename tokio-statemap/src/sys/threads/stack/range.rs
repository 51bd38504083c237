//! The bounds of the calling thread's stack.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::sys::filter;

thread_local! {
    /// The stack of this thread; (0, 0) if nobody has asked for it yet.
    static OWN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Returns the addresses of the calling thread's stack, or an empty range if the system doesn't report them.
/// The first call on a thread asks the system, which reads a file on the program's first thread.
#[inline]
pub(crate) fn own_stack() -> Range<u64> {
    match OWN.with(Cell::get) {
        (0, 0) => first_asked(),
        (from, to) => from..to,
    }
}

/// The most bytes of a stack whose bounds are believed. With `ulimit -s unlimited` the first thread's may contain other mappings.
const MOST_BYTES: u64 = 1 << 30;

/// Returns the number of bytes from an address of the calling thread's stack to its end. `None` if the address is
/// elsewhere, or the stack wasn't asked for before. Async-signal-safe.
pub(crate) fn bytes_to_end(address: u64) -> Option<usize> {
    let (from, to) = OWN.with(Cell::get);
    let is_on_it = (from..to).contains(&address) && to - from <= MOST_BYTES;
    is_on_it.then(|| usize::try_from(to - address).ok()).flatten()
}

#[cold]
#[inline(never)]
fn first_asked() -> Range<u64> {
    let (from, to) = ask().unwrap_or((u64::MAX, u64::MAX));
    OWN.with(|own| own.set((from, to)));
    from..to
}

fn ask() -> Option<(u64, u64)> {
    if !filter::allows_all() {
        return None;
    }
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut from, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the first call sets the attributes of a thread that runs, this one; they are read, and freed,
    // if it has. Test: `sys::threads::stack::range::tests::what_a_function_keeps_is_on_its_stack`.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let is_told =
            libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut from, &raw mut bytes) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if !is_told {
            return None;
        }
    }
    let from = from.addr() as u64;
    Some((from, from.saturating_add(bytes as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_keeps_is_on_its_stack() {
        let check = || {
            let (here, boxed) = (std::hint::black_box(1_u8), Box::new(1_u8));
            let address = |of: &u8| std::ptr::from_ref(of).addr() as u64;
            for _ in 0..2 {
                let own = own_stack();
                assert!(
                    own.contains(&address(&here)) && !own.contains(&address(&boxed)),
                    "{own:?}"
                );
            }
            own_stack()
        };
        let first = check();
        let other = std::thread::spawn(check).join().unwrap();
        assert!(first.end <= other.start || other.end <= first.start, "{first:?} {other:?}");
    }
}
