//! A waker that reports its clones.
//!
//! A waker is only borrowed for the time of a poll, so the primitive that a task waits for clones it. The
//! place of the clone is where the task is about to wait.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::task::{Context, RawWaker, RawWakerVTable, Waker};

/// The waker of a poll, on the stack of the function that polls.
struct Tap<'a> {
    waker: &'a Waker,
    /// The thread of the poll, by an address that is its own.
    thread: usize,
    on_clone: &'a dyn Fn(),
}

/// Calls `poll` with a context whose waker behaves as `waker`, but calls `on_clone` when it is cloned on this
/// thread. The clones are clones of `waker` itself.
#[inline(always)]
pub(crate) fn with_tap<R>(
    waker: &Waker,
    on_clone: &dyn Fn(),
    poll: impl FnOnce(&mut Context<'_>) -> R,
) -> R {
    let tap = Tap { waker, thread: this_thread(), on_clone };
    // SAFETY: the functions of `VTABLE` take a pointer to a `Tap`. A `Waker` can't be moved out of the
    // context: it is borrowed from here, where the tap lives longer, and never dropped. Test:
    // `sys::waker::tests::clones_are_of_the_waker_itself`.
    let tapped = unsafe { Waker::from_raw(RawWaker::new((&raw const tap).cast(), &VTABLE)) };
    let tapped = ManuallyDrop::new(tapped);
    poll(&mut Context::from_waker(&tapped))
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake_by_ref, wake_by_ref, drop_nothing);

/// # Safety
///
/// `data` points to a [`Tap`] that lives.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: as for this function. Another thread may call this too, as a `&Waker` may be shared: nothing
    // writes to the tap, and `on_clone` is called on its own thread only. Test:
    // `sys::waker::tests::another_thread_is_not_told`.
    let tap = unsafe { &*data.cast::<Tap<'_>>() };
    if tap.thread == this_thread() {
        (tap.on_clone)();
    }
    let clone = ManuallyDrop::new(tap.waker.clone());
    RawWaker::new(clone.data(), clone.vtable())
}

/// # Safety
///
/// The same as for [`clone`].
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: as above.
    unsafe { &*data.cast::<Tap<'_>>() }.waker.wake_by_ref();
}

/// Does nothing: a tap has no owner.
fn drop_nothing(_: *const ()) {}

/// Returns an address that no other thread has.
#[inline]
fn this_thread() -> usize {
    thread_local!(static HERE: Cell<u8> = const { Cell::new(0) });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    use super::*;

    struct Counts(AtomicU32);

    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn clones_are_of_the_waker_itself() {
        let counts = Arc::new(Counts(AtomicU32::new(0)));
        let waker = Waker::from(Arc::clone(&counts));
        let clones = Cell::new(0);
        let clone = with_tap(&waker, &|| clones.set(clones.get() + 1), |cx| {
            cx.waker().wake_by_ref();
            let clone = cx.waker().clone();
            drop(clone.clone());
            clone
        });
        assert_eq!(clones.get(), 1, "a clone's clones are none of it");
        // `will_wake` doesn't do under Miri, which gives a vtable of the standard library several addresses.
        assert_eq!(clone.data(), waker.data(), "the waker itself, not one around it");
        drop(waker);
        clone.wake();
        assert_eq!(counts.0.load(Ordering::Relaxed), 2);
        assert_eq!(Arc::strong_count(&counts), 1);
    }

    #[test]
    fn another_thread_is_not_told() {
        let clones = Cell::new(0);
        with_tap(Waker::noop(), &|| clones.set(clones.get() + 1), |cx| {
            let waker = cx.waker();
            std::thread::scope(|scope| {
                scope.spawn(|| drop(waker.clone()));
            });
        });
        assert_eq!(clones.get(), 0);
    }

    #[test]
    fn a_panic_of_the_poll_leaves_the_waker() {
        let counts = Arc::new(Counts(AtomicU32::new(0)));
        let waker = Waker::from(Arc::clone(&counts));
        let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            with_tap(&waker, &|| {}, |cx| {
                let _clone = cx.waker().clone();
                std::panic::resume_unwind(Box::new(()));
            })
        }));
        assert!(polled.is_err());
        drop(waker);
        assert_eq!(Arc::strong_count(&counts), 1);
    }
}
