//! How long a poll took, in words.

use crate::util::quantity::human;

/// Its own time, and the wall time beside it where that differs by more than rounding: `16.8 ms (wall time 23.4 ms)`.
pub(super) fn length(own_ns: u64, wall_ns: u64) -> String {
    let (own, wall) = (human(own_ns), human(wall_ns));
    if own == wall { own } else { format!("{own} (wall time {wall})") }
}
