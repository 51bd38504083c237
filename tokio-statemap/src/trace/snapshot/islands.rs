//! What a snapshot has of before the recent records: the islands around the longest polls of the run.

use std::sync::Arc;

use crate::recorder::eviction::islands::Island;
use crate::recorder::live_tasks::{LiveTask, Stream};
use crate::recorder::store::segment::Segment;
use crate::trace::snapshot::{Snapshot, task_id};

/// The events around one of the longest polls of the run; its records are among the segments.
#[derive(Debug)]
pub(crate) struct IslandSeen {
    /// In ticks.
    from: u64,
    to: u64,
    pub(crate) from_ns: u64,
    /// The threads where it begins, with whether the tasks lived that they polled.
    pub(crate) threads: Vec<(u32, Stream, Vec<bool>)>,
    /// The tasks that are in it, and were there before.
    pub(crate) tasks: Vec<(u64, LiveTask)>,
}

impl Snapshot {
    /// Adds what was kept of before, up to `done_until`: its records, its windows, and what was known where each
    /// begins.
    pub(super) fn add_islands(
        &mut self,
        islands: Vec<Arc<Island>>,
        done_until: u64,
        ended: &[(u64, u64)],
    ) {
        if islands.is_empty() {
            return;
        }
        let (detail_ns, end_ns) = (self.begin_ns, self.end_ns);
        // What was cut.
        self.segments.retain(|segment| !segment.records().is_empty());
        self.windows.retain(|&(_, to)| to > detail_ns || to == end_ns);
        if let Some((from, _)) = self.windows.first_mut() {
            *from = (*from).max(detail_ns);
        }
        let mut windows = Vec::new();
        for island in islands {
            self.segments.extend(island.segments());
            let (from, to) = (island.from, island.to.min(done_until));
            let (from_ns, to_ns) = (self.ns(from), self.ns(to));
            let to_ns = to_ns.min(detail_ns).max(from_ns);
            windows.push((from_ns, to_ns));
            let known = island.tasks.iter().filter_map(|(&id, task)| Some((id, (*task)?)));
            self.islands.push(IslandSeen {
                from,
                to,
                from_ns,
                tasks: known.collect(),
                threads: island.threads.clone(),
            });
        }
        self.segments.sort_unstable_by_key(Segment::order);
        self.begin_ns = windows[0].0;
        windows.append(&mut self.windows);
        self.windows = windows;
        let ended: Vec<_> = ended.iter().map(|&(id, at)| (task_id(id), self.ns(at))).collect();
        self.ended.extend(ended);
    }

    /// What was known of the stream where `segment` begins: where the recent records begin, or its island.
    pub(super) fn known(&self, segment: &Segment) -> (usize, Option<&Stream>) {
        let stream = segment.stream;
        let first = segment.records().first().map_or(0, |record| record.ticks);
        if self.islands.last().is_none_or(|last| first > last.to) {
            return (self.islands.len(), self.live_tasks.stream(stream));
        }
        let after = self.islands.partition_point(|island| island.from <= first);
        let Some(place) = after.checked_sub(1) else { return (0, None) };
        let threads = &self.islands[place].threads;
        let known = threads.iter().find(|(id, ..)| *id == stream).map(|(_, known, _)| known);
        (place, known)
    }
}
