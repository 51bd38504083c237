//! The counts of calls that this thread writes to.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::recorder::calls::profile::{Profiles, ThreadProfile};
use crate::recorder::kept::RecorderId;
use crate::recorder::window::mode::WindowId;

/// The counts of the recorder that the thread used last.
struct Current {
    /// The window for which they were looked up.
    window: Cell<WindowId>,
    /// Without a destructor, as calls may be dropped after the destructors of other values have run. They are given
    /// back with the thread's recorder ([`forget`]).
    profile: ManuallyDrop<RefCell<Option<Arc<ThreadProfile>>>>,
}

thread_local! {
    static CURRENT: Current = const { Current {
        window: Cell::new(0),
        profile: ManuallyDrop::new(RefCell::new(None)),
    } };
}

/// Calls `f` with the counts of the recorder that this thread uses in `window`. `find` looks them up if they aren't
/// those of the last call.
#[inline]
pub(crate) fn with<R>(
    window: WindowId,
    find: fn(WindowId) -> Option<Arc<ThreadProfile>>,
    f: impl FnOnce(&ThreadProfile) -> R,
) -> Option<R> {
    CURRENT.with(|current| {
        if current.window.get() != window || window == 0 {
            current.find(window, find)?;
        }
        let profile = current.profile.try_borrow().ok()?;
        Some(f(profile.as_deref()?))
    })
}

/// Calls `f` with the counts of this recorder: with those of this thread, if it uses this recorder.
#[inline]
pub(crate) fn with_those_of(recorder_id: RecorderId, f: impl Fn(&ThreadProfile)) {
    if !with_own_of(recorder_id, &f) {
        Profiles::elsewhere(recorder_id, &f);
    }
}

/// Calls `f` with the counts of this thread, if they belong to this recorder. Returns whether they do.
#[inline]
pub(crate) fn with_own_of(recorder_id: RecorderId, f: impl FnOnce(&ThreadProfile)) -> bool {
    CURRENT.with(|current| {
        let Ok(profile) = current.profile.try_borrow() else { return false };
        match profile.as_deref() {
            Some(profile) if profile.recorder_id == recorder_id => {
                f(profile);
                true
            }
            _ => false,
        }
    })
}

/// Ends the use of the counts: another thread may have them next.
pub(crate) fn forget() {
    CURRENT.with(|current| {
        current.window.set(0);
        // Not dropped while it is borrowed.
        drop(current.profile.try_borrow_mut().ok().and_then(|mut profile| profile.take()));
    });
}

impl Current {
    #[cold]
    #[inline(never)]
    fn find(
        &self,
        window: WindowId,
        find: fn(WindowId) -> Option<Arc<ThreadProfile>>,
    ) -> Option<()> {
        let found = find(window)?;
        let before = self.profile.try_borrow_mut().ok()?.replace(found);
        self.window.set(window);
        drop(before);
        Some(())
    }
}
