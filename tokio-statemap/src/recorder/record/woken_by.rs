//! The one who wakes a task.

use super::ROOT;

/// The one who wakes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WokenBy {
    /// The poll of the task with this id.
    Task(u64),
    /// A worker outside of polls: for its timers or its I/O, or because a task yielded.
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
/// The number that is added to a task's id.
const FIRST_TASK: u64 = 4;
/// Set for a root future. The rest is its number. Above that are bits of its recorder, as long as that matters.
const IS_ROOT: u64 = 1 << (WOKEN_BY_BITS - 1);
const NUMBER_BITS: u32 = 32;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
const RECORDER: u64 = (IS_ROOT - 1) & !NUMBER;

/// Packs a root future where those of several recorders may meet, as each recorder numbers its own.
#[inline]
pub(crate) fn pack_root(root: u64, recorder: u64) -> u64 {
    IS_ROOT | recorder << NUMBER_BITS & RECORDER | root & NUMBER
}

/// Packs a spawned task as [`WokenBy::pack`] does, if there is room for its id.
#[inline]
pub(crate) fn pack_spawned(id: u64) -> u64 {
    id.wrapping_add(FIRST_TASK)
}

/// Returns the payload of a note of this recorder; 0 for a root future of another one.
#[inline]
pub(crate) fn for_recorder(packed: u64, recorder: u64) -> u64 {
    let root = packed & !RECORDER;
    match packed & IS_ROOT == 0 {
        true => packed,
        false if packed == pack_root(root, recorder) => root,
        false => 0,
    }
}

impl WokenBy {
    /// Returns the payload of its note, which is never 0. `None` if there is no room for the task's id.
    #[inline]
    pub(crate) fn pack(self) -> Option<u64> {
        match self {
            Self::Task(id) if id & ROOT != 0 => {
                let number = id & !ROOT;
                (number <= NUMBER).then_some(number | IS_ROOT)
            }
            Self::Task(id) => (id < IS_ROOT - FIRST_TASK).then_some(pack_spawned(id)),
            Self::Runtime => Some(RUNTIME),
            Self::Blocking => Some(BLOCKING),
            Self::Thread => Some(THREAD),
        }
    }

    /// Returns what [`pack`](Self::pack) packed; `None` for 0, which stands for unknown.
    #[inline]
    pub(crate) fn unpack(payload: u64) -> Option<Self> {
        Some(match payload {
            0 => return None,
            RUNTIME => Self::Runtime,
            BLOCKING => Self::Blocking,
            THREAD => Self::Thread,
            root if root & IS_ROOT != 0 => Self::Task(root & NUMBER | ROOT),
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
        assert_eq!(WokenBy::Task(most).pack(), Some(pack_spawned(most)));
        assert_eq!(WokenBy::Task(ROOT | (NUMBER + 1)).pack(), None);
        assert_eq!(WokenBy::unpack(0), None);
    }
    #[test]
    fn a_root_is_of_its_recorder() {
        let packed = pack_root(ROOT | 3, 77);
        assert_eq!(packed >> WOKEN_BY_BITS, 0);
        assert_eq!(WokenBy::unpack(for_recorder(packed, 77)), Some(WokenBy::Task(ROOT | 3)));
        assert_eq!(for_recorder(packed, 78), 0);
        for other in [WokenBy::Runtime, WokenBy::Task(5)] {
            let packed = other.pack().unwrap();
            assert_eq!(for_recorder(packed, 77), packed);
        }
    }
}
