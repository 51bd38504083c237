//! The length of the blocking pool's queue over time.

use super::pool::Seen;

/// The maximum number of changes that are kept; no picture is that many pixels wide.
const MOST: usize = 2000;

/// Returns the changes of the queue's length as threads saw it: the time in ns, and the number of
/// waiting tasks from then on. Changes too frequent for a picture are merged to the longest length
/// of a stretch.
pub(super) fn over_time(seen: &[Seen]) -> Vec<(u64, u64)> {
    let mut all = Vec::with_capacity(seen.len());
    for seen in seen {
        all.push((seen.time_ns(), seen.left()));
    }
    crate::util::sort::sort(&mut all);
    let mut changes: Vec<(u64, u64)> = Vec::new();
    for (nth, &(time_ns, waiting)) in all.iter().enumerate() {
        // At equal times, the last is the longest.
        if all.get(nth + 1).is_none_or(|next| next.0 != time_ns) {
            add(&mut changes, time_ns, waiting);
        }
    }
    if changes.first().is_some_and(|&(_, waiting)| waiting == 0) {
        changes.remove(0);
    }
    while changes.len() > MOST {
        let all = std::mem::take(&mut changes);
        for pair in all.chunks(2) {
            add(&mut changes, pair[0].0, pair[0].1.max(pair[pair.len() - 1].1));
        }
    }
    changes
}

/// Adds the length of the queue from `time_ns` on, if it changed.
fn add(changes: &mut Vec<(u64, u64)>, time_ns: u64, waiting: u64) {
    if changes.last().is_none_or(|last| last.1 != waiting) {
        changes.push((time_ns, waiting));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::snapshot::QueueSeen;

    fn seen(time_ns: u64, waiting: u64, has_ended: bool) -> Seen {
        Seen::new(QueueSeen { time_ns, waiting, threads: 2, ended: has_ended.then_some(None) })
    }

    #[test]
    fn each_change_is_there_once_in_order() {
        let all = [seen(9, 0, false), seen(5, 3, true), seen(1, 0, false), seen(7, 2, false)];
        assert_eq!(over_time(&all), [(5, 2), (9, 0)]);
        assert_eq!(over_time(&[]), []);
        assert_eq!(over_time(&[seen(3, 0, false)]), []);
        // Two threads at one time: the longer one.
        assert_eq!(over_time(&[seen(3, 8, false), seen(3, 7, false)]), [(3, 8)]);
    }

    #[test]
    fn of_many_changes_the_longest_queues_are_kept() {
        let all: Vec<_> =
            (0..50_000).map(|n| seen(n, if n == 31_337 { 999 } else { n % 7 }, false)).collect();
        let kept = over_time(&all);
        assert!(kept.len() <= MOST && kept.is_sorted(), "{}", kept.len());
        let at = kept.partition_point(|&(time_ns, _)| time_ns <= 31_337);
        assert_eq!(kept[at - 1].1, 999);
        assert_eq!(kept.iter().map(|&(_, waiting)| waiting).max(), Some(999));
    }
}
