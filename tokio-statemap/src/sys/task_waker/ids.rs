//! Finds the id of the task that a waker is of.
//!
//! All tasks of Tokio begin with a header, to which the data of their wakers points. The header has the address of a
//! table of what the task's type needs. One word of that table is the distance from the header to the task's id. Two
//! tasks of our own show which word it is.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use super::page;
use super::table::{TASK_SIZE, in_a_task};

/// The place of the table's address in a header: after the task's state, and the next task of a queue.
const TABLE: usize = 2;
/// The number of words of the table that are searched: all those of Tokio 1.54. A sanitizer would take more for a fault.
const WORDS: usize = 11;

/// The place of that word. It is 0 while it isn't known, as the word at 0 is a function.
static WORD: AtomicUsize = AtomicUsize::new(0);

/// Finds out where ids are, once. Returns whether that is known.
pub(super) fn are_known() -> bool {
    static ARE_KNOWN: OnceLock<bool> = OnceLock::new();
    *ARE_KNOWN.get_or_init(find)
}

fn find() -> bool {
    // The two tasks have different ids, and only one word leads to both.
    let found = in_a_task(candidates).unwrap_or(0) & in_a_task(candidates).unwrap_or(0);
    if found.count_ones() != 1 || found == 1 {
        return false;
    }
    WORD.store(found.trailing_zeros() as usize, Ordering::Release);
    true
}

/// Returns a bit for each word that leads to the id of the polled task, whose waker this is.
fn candidates(waker: &Waker) -> usize {
    let id = tokio::task::try_id().and_then(|id| id.to_string().parse::<u64>().ok());
    let Some(id) = id else { return 0 };
    let header = waker.data().cast::<usize>();
    // SAFETY: a task is much larger than this. Test:
    // `recorder::chains::wakers::tests::wakes_are_seen_with_the_tasks_id`.
    let table = unsafe { header.add(TABLE).read() };
    let is_there =
        table % align_of::<usize>() == 0 && page::is_data(table, WORDS * size_of::<usize>());
    if !is_there {
        return 0;
    }
    let table = std::ptr::with_exposed_provenance::<usize>(table);
    let mut found = 0;
    for word in 0..WORDS {
        // SAFETY: it was just seen to be memory with data. Test: as above.
        let distance = unsafe { table.add(word).read() };
        let is_distance = distance % align_of::<u64>() == 0
            && (TABLE * size_of::<usize>()..=TASK_SIZE - size_of::<u64>()).contains(&distance);
        // SAFETY: the task is larger, and what is there is read as it is. Test: as above.
        if is_distance && unsafe { header.byte_add(distance).cast::<u64>().read() } == id {
            found |= 1 << word;
        }
    }
    found
}

/// Returns the id of a task. `None` on a thread that doesn't know yet where ids are.
///
/// # Safety
///
/// `task` is the data of a waker of a task of Tokio's.
#[inline]
pub(super) unsafe fn of(task: *const ()) -> Option<u64> {
    // SAFETY: as for this function, and the id isn't changed while there is a waker. Test: as above.
    unsafe { address(task).map(|id| *id) }
}

/// Returns where the id of a task is. `None` on a thread that doesn't know yet where ids are.
///
/// # Safety
///
/// The same as for [`of`].
#[inline]
pub(super) unsafe fn address(task: *const ()) -> Option<*const u64> {
    let word = WORD.load(Ordering::Relaxed);
    if word == 0 {
        return None;
    }
    // SAFETY: this held for tasks of our own, whose type Tokio doesn't know. The header and the table are not changed
    // while there is a waker. Test: as above.
    unsafe {
        let table = *task.cast::<*const usize>().add(TABLE);
        let distance = *table.add(word);
        Some(task.byte_add(distance).cast::<u64>())
    }
}
