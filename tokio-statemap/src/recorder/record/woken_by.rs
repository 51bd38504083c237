//! Who wakes a task.

use super::ROOT;

/// Who wakes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WokenBy {
    /// What is polled as the task with this id.
    Task(u64),
    /// A worker outside of polls: by its timers and its I/O, or as a task yielded.
    Runtime,
    /// A blocking task.
    Blocking,
    /// A thread that isn't one of the runtime's.
    Thread,
}

/// The bits of a payload.
pub(crate) const WOKEN_BY_BITS: u32 = 48;

const RUNTIME: u64 = 1;
const BLOCKING: u64 = 2;
const THREAD: u64 = 3;
/// What is added to a task's id.
const FIRST_TASK: u64 = 4;
/// Set for a root future; the rest is its number.
const IS_ROOT: u64 = 1 << (WOKEN_BY_BITS - 1);

impl WokenBy {
    /// Returns the payload of its note, which is never 0. `None` if there is no room for the task's id.
    #[inline]
    pub(crate) fn pack(self) -> Option<u64> {
        match self {
            Self::Task(id) if id & ROOT != 0 => {
                let number = id & !ROOT;
                (number < IS_ROOT).then_some(number | IS_ROOT)
            }
            Self::Task(id) => (id < IS_ROOT - FIRST_TASK).then_some(id + FIRST_TASK),
            Self::Runtime => Some(RUNTIME),
            Self::Blocking => Some(BLOCKING),
            Self::Thread => Some(THREAD),
        }
    }

    /// Returns what [`pack`](Self::pack) packed; `None` of 0, which says that it isn't known.
    #[inline]
    pub(crate) fn unpack(payload: u64) -> Option<Self> {
        Some(match payload {
            0 => return None,
            RUNTIME => Self::Runtime,
            BLOCKING => Self::Blocking,
            THREAD => Self::Thread,
            root if root & IS_ROOT != 0 => Self::Task(root & (IS_ROOT - 1) | ROOT),
            task => Self::Task(task - FIRST_TASK),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_come_back() {
        let most = IS_ROOT - FIRST_TASK - 1;
        for by in [
            WokenBy::Runtime,
            WokenBy::Blocking,
            WokenBy::Thread,
            WokenBy::Task(0),
            WokenBy::Task(1),
            WokenBy::Task(most),
            WokenBy::Task(ROOT),
            WokenBy::Task(ROOT | 77),
        ] {
            let packed = by.pack().unwrap();
            assert!(packed != 0 && packed >> WOKEN_BY_BITS == 0, "{by:?}");
            assert_eq!(WokenBy::unpack(packed), Some(by));
        }
        assert_eq!(WokenBy::Task(most + 1).pack(), None);
        assert_eq!(WokenBy::unpack(0), None);
    }
}
