//! Gaps: periods whose records were dropped, or in which recording was stopped. They are sorted, and none overlaps
//! another.

/// A gap, from its start to its end, in ns.
pub(super) type Gap = (u64, u64);

/// Returns the periods from `begin_ns` up to the last window that are in no window.
pub(super) fn between_windows(windows: &[(u64, u64)], begin_ns: u64) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut before_ns = begin_ns;
    for &(from_ns, to_ns) in windows {
        if before_ns.max(begin_ns) < from_ns {
            gaps.push((before_ns.max(begin_ns), from_ns));
        }
        before_ns = to_ns;
    }
    gaps
}

/// Returns the first gap that has some time between these, in ns.
#[inline(never)]
pub(super) fn first_between(gaps: &[Gap], from_ns: u64, to_ns: u64) -> Option<Gap> {
    let after = gaps.partition_point(|&(_, to)| to <= from_ns);
    gaps.get(after).copied().filter(|&(from, _)| from < to_ns)
}
