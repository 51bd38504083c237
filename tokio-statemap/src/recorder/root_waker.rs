//! The waker of a root future, around the runtime's: it tells when the future became ready, and who woke it.
//!
//! A runtime has wakers of several kinds for its root futures, and none of them is a task's.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use crate::recorder::chains::waking;
use crate::recorder::wakes::{self, Slot, UsedUp};

/// The id of a root future in its slot, which it has for itself.
const ROOT_FUTURE: u64 = 0;

/// The wakes of a root future.
#[derive(Debug, Default)]
pub(crate) struct RootWakes {
    slot: Arc<Slot>,
    waker: Option<RootWaker>,
}

/// A waker of ours, and the runtime's waker that it wraps.
#[derive(Debug)]
struct RootWaker {
    around: Parts,
    own: Waker,
}

/// The addresses of the parts of a waker. A clone may have others, as a compiler may make two tables of a type's
/// functions: so `will_wake` of a clone would not do.
type Parts = (usize, usize);

impl RootWakes {
    /// Called as a poll starts. Returns the wake that made the future ready; `None` if there was none, as for its first
    /// poll.
    pub(crate) fn poll_starts(&self) -> Option<wakes::Wake> {
        self.slot.poll_starts(ROOT_FUTURE)
    }

    /// Called as a poll ends.
    pub(crate) fn poll_ends(&self) {
        self.slot.poll_ends(ROOT_FUTURE);
    }

    /// Returns the context in which to poll the future, within that of its runtime. The waker stays the same as long as
    /// the runtime's does.
    pub(crate) fn context(&mut self, cx: &Context<'_>) -> Context<'_> {
        let waker = cx.waker();
        // The clone in `own` keeps the address from being reused.
        let around = (waker.data().addr(), std::ptr::from_ref(waker.vtable()).addr());
        let known = self.waker.take().filter(|known| known.around == around);
        let waker = self.waker.insert(known.unwrap_or_else(|| {
            let noted = Noted { slot: Arc::clone(&self.slot), waker: waker.clone() };
            RootWaker { around, own: Waker::from(Arc::new(noted)) }
        }));
        Context::from_waker(&waker.own)
    }
}

/// A waker whose wakes are noted.
struct Noted {
    slot: Arc<Slot>,
    waker: Waker,
}

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.slot.woken(ROOT_FUTURE, UsedUp::NOTHING, waking::who_wakes);
        self.waker.wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::WokenBy;

    #[test]
    fn the_waker_is_the_same_as_long_as_the_runtimes_is() {
        let mut wakes = RootWakes::default();
        let other =
            Waker::from(Arc::new(Noted { slot: Arc::default(), waker: Waker::noop().clone() }));
        let (noop, other) = (Context::from_waker(Waker::noop()), Context::from_waker(&other));
        let first = wakes.context(&noop).waker().clone();
        assert!(wakes.context(&noop).waker().will_wake(&first));
        assert!(!wakes.context(&other).waker().will_wake(&first));
    }

    #[test]
    fn a_wake_is_noted_and_passed_on() {
        let (mut inner, mut outer) = (RootWakes::default(), RootWakes::default());
        // This is a root future within another one.
        let waker =
            inner.context(&outer.context(&Context::from_waker(Waker::noop()))).waker().clone();
        assert_eq!(inner.poll_starts(), None);
        let wakes: [fn(Waker); 2] = [|waker| waker.wake_by_ref(), Waker::wake];
        for wake in wakes {
            let waker = waker.clone();
            std::thread::scope(|scope| {
                scope.spawn(|| wake(waker));
            });
            for wakes in [&inner, &outer] {
                let by = wakes.poll_starts().map(|wake| wake.by(1));
                assert_eq!(by.and_then(WokenBy::unpack), Some(WokenBy::Thread));
                assert_eq!(wakes.poll_starts(), None);
            }
        }
    }
}
