//! Thread-local values that need no destructor.

use std::mem::needs_drop;
use std::ptr;
use std::thread::LocalKey;

/// Calls `f` with this thread's value, in the caller's own code.
///
/// [`LocalKey::with`] is a function with `f` in it. The larger `f` is, the more likely the compiler calls that function,
/// which once added a third to the instructions of a hook. Here it only returns an address.
#[inline(always)]
pub(crate) fn with<T, R>(key: &'static LocalKey<T>, f: impl FnOnce(&T) -> R) -> R {
    const { assert!(!needs_drop::<T>(), "its destructor could run while it is used") };
    let value = key.with(ptr::from_ref);
    // SAFETY: the value is this thread's, which is running. As it has no destructor it is there until the thread ends.
    // Test: `sys::local::tests::each_thread_has_its_own`.
    f(unsafe { &*value })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }

    fn call() -> u32 {
        with(&CALLS, |calls| {
            calls.set(calls.get() + 1);
            // Also within.
            with(&CALLS, Cell::get)
        })
    }

    #[test]
    fn each_thread_has_its_own() {
        assert_eq!([call(), call()], [1, 2]);
        assert_eq!(std::thread::spawn(call).join().unwrap(), 1);
        assert_eq!(call(), 3);
    }
}
