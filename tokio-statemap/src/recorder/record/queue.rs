//! The queue of the blocking pool in one payload.

use crate::recorder::record::{LocationId, PAYLOAD_BITS};

/// The queue of the blocking pool at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    /// The number of tasks that wait while no thread is idle, except those for which a thread is being started.
    pub(crate) waiting: u64,
    /// The number of threads in the pool.
    pub(crate) threads: u64,
    /// `Some` if a task of the pool just ended on this thread, with the location where the task was spawned, if known.
    pub(crate) ended: Option<Option<LocationId>>,
}

/// The bits of each in one payload. Larger values saturate.
const WAITING_BITS: u32 = 18;
const THREADS_BITS: u32 = 14;
const ENDED_BITS: u32 = PAYLOAD_BITS - WAITING_BITS - THREADS_BITS;

const fn most(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Queue {
    pub(crate) fn pack(self) -> u64 {
        let ended = match self.ended {
            None => 0,
            Some(location) => location
                .map(|id| u64::from(id) + 2)
                .filter(|&id| id <= most(ENDED_BITS))
                .unwrap_or(1),
        };
        let waiting = self.waiting.min(most(WAITING_BITS));
        let threads = self.threads.min(most(THREADS_BITS));
        ended << (WAITING_BITS + THREADS_BITS) | threads << WAITING_BITS | waiting
    }

    pub(crate) fn unpack(payload: u64) -> Self {
        let ended = payload >> (WAITING_BITS + THREADS_BITS);
        Self {
            waiting: payload & most(WAITING_BITS),
            threads: payload >> WAITING_BITS & most(THREADS_BITS),
            ended: (ended > 0).then(|| LocationId::try_from(ended.checked_sub(2)?).ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_in_one_payload() {
        for ended in [None, Some(None), Some(Some(0)), Some(Some(7))] {
            let queue = Queue { waiting: 48, threads: 512, ended };
            assert_eq!(Queue::unpack(queue.pack()), queue);
        }
        let beyond = Queue { waiting: u64::MAX, threads: u64::MAX, ended: Some(Some(u32::MAX)) };
        let most = Queue { waiting: most(18), threads: most(14), ended: Some(None) };
        assert_eq!(Queue::unpack(beyond.pack()), most);
        assert_eq!(beyond.pack() >> PAYLOAD_BITS, 0);
    }
}
