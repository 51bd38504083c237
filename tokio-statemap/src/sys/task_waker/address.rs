//! The address of a task that may have ended.
//!
//! A reference to a task would keep alive what the task and its runtime own. So the task's memory is read through the
//! system, which causes no fault if nothing is there any more. The drop of each of its wakers is seen before its memory is
//! freed, so this is to tell whether a task that lives waits, or has ended while something keeps its memory.

use super::refs;
use crate::sys::threads::stack::read_memory;

/// The place of a task in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskAddress {
    /// The address of its header, which begins with its state.
    pub(crate) header: usize,
    /// The address of its id.
    pub(crate) id_at: usize,
}

impl TaskAddress {
    /// Returns whether the task with this id is there, and waits: it is neither polled nor woken, isn't aborted, and hasn't
    /// ended. `false` if the system refuses to read memory.
    pub(crate) fn waits(self, id: u64) -> bool {
        // The id comes last: if it is there, the state before was that of the same task.
        word_at(self.header).is_some_and(refs::waits_in) && word_at(self.id_at) == Some(id as usize)
    }
}

fn word_at(address: usize) -> Option<usize> {
    let mut word = [0; size_of::<usize>()];
    let read = read_memory(address as u64, &mut word);
    (read == word.len()).then(|| usize::from_ne_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_not_there_does_not_wait() {
        refs::find();
        // Two references: one of the runtime, and one of a waker.
        let (waits, id) = (2_usize << 6, 7_u64);
        let at = |state: &usize| TaskAddress {
            header: std::ptr::from_ref(state).addr(),
            id_at: std::ptr::from_ref(&id).addr(),
        };
        assert!(at(&waits).waits(7));
        assert!(!at(&waits).waits(8), "another task is there");
        for state in [0, waits | 1, waits | 2, waits | 4, waits | 1 << 5, usize::MAX << 6] {
            assert!(!at(&state).waits(7), "{state:b}");
        }
        for header in [0, 8, usize::MAX - 4095] {
            assert!(!TaskAddress { header, ..at(&waits) }.waits(7), "no memory is there");
        }
    }
}
