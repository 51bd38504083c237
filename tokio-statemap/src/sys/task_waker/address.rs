//! The address of a task that may have ended.
//!
//! A reference to a task would keep alive what the task and its runtime own. So the task's memory is read through the
//! system, which causes no fault if nothing is there any more. A task has ended if its state says so, or if something else
//! is there. As its memory may be free, or have been used for something else in part, all that doesn't change in a task must
//! be as it was: the two words of its header after the state and the next task of a queue, which are the address of its type's
//! table and the number of its set, and its id.

use super::{ids, refs};
use crate::sys::threads::stack::read_memory;

/// The number of words of a header that don't change.
const FIXED: usize = 2;

/// The place of a task in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskAddress {
    /// The address of its header, which begins with its state.
    pub(crate) header: usize,
    /// The words of its header that don't change.
    pub(crate) fixed: [usize; FIXED],
    /// The address of its id.
    pub(crate) id_at: usize,
}

impl TaskAddress {
    /// # Safety
    ///
    /// `header` is the data of a waker of a task of Tokio's, whose id is at `id_at`.
    pub(super) unsafe fn new(header: *const (), id_at: *const u64) -> Self {
        let words = header.cast::<usize>();
        // SAFETY: a task is much larger, and they don't change while it lives. Test: `recording::waits::locals`.
        let fixed = unsafe { [words.add(ids::TABLE).read(), words.add(ids::TABLE + 1).read()] };
        Self { header: header.addr(), fixed, id_at: id_at.addr() }
    }

    /// Returns whether the task with this id is there, and waits: it is neither polled nor woken, isn't aborted, and hasn't
    /// ended. `false` if the system refuses to read memory.
    pub(crate) fn waits(self, id: u64) -> bool {
        self.is(id, refs::waits_in)
    }

    /// Returns whether the task with this id is there, isn't aborted, and hasn't ended. `false` if the system refuses to read
    /// memory.
    pub(crate) fn lives(self, id: u64) -> bool {
        self.is(id, refs::lives_in)
    }

    fn is(self, id: u64, is_state: fn(usize) -> bool) -> bool {
        // The id comes last: if it is there, the state before was that of the same task.
        let header = words_at::<{ ids::TABLE + FIXED }>(self.header);
        header.is_some_and(|header| is_state(header[0]) && header[ids::TABLE..] == self.fixed)
            && words_at(self.id_at) == Some([id as usize])
    }
}

fn words_at<const N: usize>(address: usize) -> Option<[usize; N]> {
    let mut words = [0; N];
    let mut bytes = [0; 64];
    let bytes = bytes.get_mut(..size_of_val(&words))?;
    if read_memory(address as u64, bytes) < bytes.len() {
        return None;
    }
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(size_of::<usize>())) {
        *word = usize::from_ne_bytes(bytes.try_into().ok()?);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_not_there_does_not_wait() {
        refs::find();
        let id = 7_u64;
        let at = |header: &[usize; 4]| TaskAddress {
            header: std::ptr::from_ref(header).addr(),
            fixed: [64, 3],
            id_at: std::ptr::from_ref(&id).addr(),
        };
        // Two references: one of the runtime, and one of a waker.
        let waits = 2 << 6;
        let task = [waits, 0, 64, 3];
        assert!(at(&task).waits(7) && at(&task).lives(7));
        assert!(!at(&task).waits(8), "another task is there");
        for other in [[waits, 0, 72, 3], [waits, 0, 64, 4]] {
            assert!(!at(&other).waits(7) && !at(&other).lives(7), "something else is there");
        }
        for state in [0, waits | 1, waits | 2, waits | 4, waits | 1 << 5, usize::MAX << 6] {
            let other = [state, 0, 64, 3];
            assert!(!at(&other).waits(7), "{state:b}");
            let lives = state == waits | 1 || state == waits | 4;
            assert_eq!(at(&other).lives(7), lives, "{state:b}");
        }
        for header in [0, 8, usize::MAX - 4095] {
            assert!(!TaskAddress { header, ..at(&task) }.waits(7), "no memory is there");
        }
    }
}
