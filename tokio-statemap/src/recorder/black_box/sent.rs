//! Notes what was written to a file, so that later rounds write only changes.

use std::panic::Location;

use crate::recorder::black_box::format::{Change, Place};
use crate::recorder::clock::Piece;
use crate::recorder::watch::Sample;
use crate::recorder::window::Window;

/// The state that was written to a file so far.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) windows: Vec<Window>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) steal: Vec<(u64, u64)>,
    pub(crate) roots: Vec<Option<Place>>,
    pub(crate) locations: usize,
    pub(crate) names: usize,
    pub(crate) chains: usize,
    pub(crate) waits: usize,
    pub(crate) samples: Vec<Sample>,
    pub(crate) beside: Vec<Sample>,
    /// The number of samples that were taken by then.
    pub(crate) sampled: u64,
    /// The number of samples of what polls computed.
    pub(crate) cpu_samples: u64,
    /// The numbers of times that modules had been loaded and unloaded; `None` before they were written.
    pub(crate) modules: Option<(u64, u64)>,
}

/// Returns how `now` differs from what was `sent`, and notes it as sent.
pub(crate) fn change<T: Clone + PartialEq>(sent: &mut Vec<T>, now: &[T]) -> Change<T> {
    let mut keep = 0;
    while keep < sent.len() && keep < now.len() && sent[keep] == now[keep] {
        keep += 1;
    }
    let then = now[keep..].to_vec();
    sent.truncate(keep);
    sent.extend_from_slice(&then);
    Change { keep, then }
}

/// Returns what was added to a list that only grows, and notes it as sent.
pub(crate) fn added<T>(sent: &mut usize, then: Vec<T>) -> Change<T> {
    let keep = *sent;
    *sent += then.len();
    Change { keep, then }
}

/// Returns a location as a box has it.
pub(crate) fn place(location: &Location<'_>) -> Place {
    Place { file: location.file().into(), line: location.line(), column: location.column() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_written() {
        let mut sent = Vec::new();
        let mut next = |now: &[u32]| {
            let Change { keep, then } = change(&mut sent, now);
            assert_eq!(sent, now);
            (keep, then)
        };
        assert_eq!(next(&[1, 2]), (0, vec![1, 2]));
        assert_eq!(next(&[1, 2, 3]), (2, vec![3]));
        assert_eq!(next(&[1, 2, 3]), (3, vec![]));
        assert_eq!(next(&[1, 9]), (1, vec![9]));
        assert_eq!(next(&[1]), (1, vec![]));
    }
}
