//! The longest polls of the run, one by one.

use std::cmp::Reverse;

use crate::util::heapsort::{heapify, heapsort, sift_root};

/// The number that is kept.
const MAX: usize = 1000;

/// A poll, by its length. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LongestPoll {
    /// The time for which it held its worker, or ran on a thread that is no worker.
    pub(crate) length: u64,
    /// The start. Of equally long polls, the earliest counts as the longest.
    pub(crate) start: Reverse<u64>,
    pub(crate) task: Reverse<u64>,
    pub(crate) row: u32,
    pub(crate) worker: Option<u32>,
    /// `true` if it began before what was recorded, or continued after it.
    pub(crate) is_cut: bool,
}

/// The longest polls of all that were considered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Longest {
    /// A heap, once the most polls are kept: the shortest is its root.
    polls: Vec<LongestPoll>,
    /// The length that a poll must have to be among them; 0 until the most polls are kept.
    least: u64,
}

impl Longest {
    /// Makes room for all polls, as later there may be little stack.
    pub(crate) fn reserve(&mut self) {
        self.polls.reserve(MAX);
    }

    /// Returns whether a poll of this length may be among them.
    #[inline]
    pub(crate) fn may_have(&self, length: u64) -> bool {
        length >= self.least()
    }

    /// Returns how long a poll must be to be among them.
    #[inline]
    pub(crate) fn least(&self) -> u64 {
        self.least
    }

    #[inline(never)]
    pub(crate) fn consider(&mut self, poll: LongestPoll) {
        if self.polls.len() < MAX {
            self.polls.push(poll);
            if self.polls.len() < MAX {
                return;
            }
            heapify(&mut self.polls, &|a, b| a < b);
        } else if poll > self.polls[0] {
            self.polls[0] = poll;
            sift_root(&mut self.polls, &|a, b| a < b);
        }
        self.least = self.polls[0].length;
    }

    /// Returns the polls, the longest first.
    pub(crate) fn into_sorted(mut self) -> Vec<LongestPoll> {
        heapsort(&mut self.polls, &|a, b| a > b);
        self.polls
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    LongestPoll { length, start, task, row, worker, is_cut }
    Longest { polls, least }
}

#[cfg(all(has_black_box, feature = "read"))]
impl Longest {
    /// Returns whether it is no longer than it may be, and refers to rows that are there.
    pub(super) fn are_whole(&self, is_row: &dyn Fn(u32) -> bool) -> bool {
        self.polls.len() <= MAX && self.polls.iter().all(|poll| is_row(poll.row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_are_kept_whatever_their_order() {
        let poll = |i: u64| LongestPoll {
            length: i * 7919 % 3001 / 2,
            start: Reverse(i),
            task: Reverse(1),
            row: 0,
            worker: None,
            is_cut: false,
        };
        let of = |numbers: &mut dyn Iterator<Item = u64>| {
            let mut longest = Longest::default();
            longest.reserve();
            for poll in numbers.map(poll) {
                if longest.may_have(poll.length) {
                    longest.consider(poll);
                }
            }
            longest.into_sorted()
        };
        let mut all: Vec<_> = (0..3001).map(poll).collect();
        all.sort_unstable_by_key(|poll| Reverse(*poll));
        all.truncate(MAX);
        assert_eq!(of(&mut (0..3001)), all);
        assert_eq!(of(&mut (0..3001).rev()), all);
        assert_eq!(of(&mut (0..5)).len(), 5);
    }
}
