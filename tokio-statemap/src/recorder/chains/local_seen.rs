//! A task of a `LocalSet` that waits, as a snapshot sees it.

use super::table::WaitId;

/// A task of a `LocalSet` that waits.
#[derive(Clone, Debug)]
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
pub(crate) struct LocalSeen {
    pub(crate) id: u64,
    /// The task or root future around its poll, as in a record.
    pub(crate) polled_in: u64,
    pub(crate) wait: WaitId,
    /// The time since when it is known to wait there, in ticks.
    pub(crate) since: u64,
    /// The source of its last wake, as in a record; 0 if that isn't known.
    pub(crate) woken_by: u64,
}
