//! Asks the scheduler to run a thread soon, or after the program's threads.

#[cfg(all(target_os = "linux", not(miri)))]
use crate::sys::filter;

/// Asks the scheduler for short time slices of the calling thread, so that it runs soon after it wakes up:
/// before threads with the default, longer slices. Its share of the processors doesn't change.
///
/// Linux supports this since 6.12 (`sched(7)`: `sched_runtime` of a thread of `SCHED_OTHER`). Elsewhere, or
/// where it isn't permitted, nothing changes.
pub(crate) fn prefer_soon() {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        /// The scheduler gives no less than 0.1 ms.
        const RUNTIME_NS: u64 = 100_000;
        if !filter::allows_all() {
            return;
        }
        let Some(mut attributes) = current() else { return };
        if attributes.policy == libc::SCHED_OTHER as u32 {
            attributes.runtime_ns = RUNTIME_NS;
            set(&attributes);
        }
    }
}

/// Has the calling thread, and those that it starts from now on, leave the processors to the program's threads: at the
/// lowest priority that still gets a share, whatever the program's own is. The thread can't take this back.
///
/// Does nothing if the system has no priorities of threads.
#[cfg(feature = "html")]
pub(crate) fn let_others_go_first() {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        /// The system runs a thread of `SCHED_IDLE` so rarely that others wait for its locks.
        const LOWEST: i32 = 19;
        if !filter::allows_all() {
            return;
        }
        let Some(mut attributes) = current() else { return };
        attributes.policy = libc::SCHED_OTHER as u32;
        (attributes.nice, attributes.priority) = (LOWEST, 0);
        set(&attributes);
    }
}

/// Sets the attributes of the calling thread, if that is permitted.
#[cfg(all(target_os = "linux", not(miri)))]
fn set(attributes: &Attributes) {
    // SAFETY: it reads `size` bytes. Tests: `sys::slice::tests::a_thread_asks_for_itself_alone`,
    // `a_thread_lets_others_go_first`.
    let _ = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(attributes), 0) };
}

/// `struct sched_attr`, in its first version.
#[cfg(all(target_os = "linux", not(miri)))]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// Returns the attributes of the calling thread, or `None` if the system doesn't report them.
#[cfg(all(target_os = "linux", not(miri)))]
fn current() -> Option<Attributes> {
    let mut attributes = Attributes::default();
    let size = size_of::<Attributes>();
    // SAFETY: it fills in at most `size` bytes. Test: as above.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_getattr, 0, std::ptr::from_mut(&mut attributes), size, 0)
    };
    (result == 0).then_some(attributes)
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_asks_for_itself_alone() {
        let before = current();
        let asked = std::thread::spawn(|| {
            prefer_soon();
            current()
        });
        let asked = asked.join().unwrap();
        assert_eq!(current(), before, "the others' are as they were");
        // Older systems ignore the request without an error.
        let share = |of: Option<Attributes>| of.map(|of| (of.policy, of.nice, of.priority));
        assert_eq!(share(asked), share(before));
        if let Some(runtime_ns) = asked.map(|asked| asked.runtime_ns) {
            let is_asked = before.is_some_and(|before| before.runtime_ns != 0);
            assert!(!is_asked || runtime_ns == 100_000, "{runtime_ns}");
        }
    }

    #[cfg(feature = "html")]
    #[test]
    fn a_thread_lets_others_go_first() {
        let before = current();
        let low = std::thread::spawn(|| {
            let_others_go_first();
            (current(), std::thread::spawn(current).join().unwrap())
        });
        let (low, started_by_it) = low.join().unwrap();
        assert_eq!(current(), before, "the others' are as they were");
        let nice = |of: Option<Attributes>| of.map(|of| (of.policy, of.nice));
        assert_eq!(nice(low), before.map(|_| (0, 19)));
        assert_eq!(nice(started_by_it), nice(low));
    }
}
