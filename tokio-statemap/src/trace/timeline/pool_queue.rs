//! The length of the blocking pool's queue over time.

use super::pool::Seen;

/// The maximum number of changes that are kept; no picture is that many pixels wide.
const MOST: usize = 2000;

/// Returns the changes of the queue's length as threads saw it: the time in ns, and the number of
/// waiting tasks from then on. Changes too frequent for a picture are merged to the longest length
/// of a stretch.
pub(super) fn over_time(seen: &[Seen]) -> Vec<(u64, u64)> {
    let mut changes: Vec<_> = seen.iter().map(|seen| (seen.time_ns(), seen.left())).collect();
    crate::util::sort::sort(&mut changes);
    // At equal times, the last is the longest.
    changes.dedup_by(|next, before| {
        let is_same = next.0 == before.0;
        if is_same {
            before.1 = next.1;
        }
        is_same
    });
    changes.dedup_by_key(|&mut (_, waiting)| waiting);
    let first_is_none = changes.first().is_some_and(|&(_, waiting)| waiting == 0);
    if first_is_none {
        changes.remove(0);
    }
    while changes.len() > MOST {
        changes = changes.chunks(2).map(merged).collect();
        changes.dedup_by_key(|&mut (_, waiting)| waiting);
    }
    changes
}

fn merged(changes: &[(u64, u64)]) -> (u64, u64) {
    let from_ns = changes[0].0;
    (from_ns, changes.iter().map(|&(_, waiting)| waiting).max().unwrap_or_default())
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
