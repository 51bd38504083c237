//! Whose poll it is: where its task was spawned, and which worker polls it, as the records say.

use std::panic::Location;

use crate::recorder::Recorder;
use crate::recorder::live_tasks::{LocationId, role};
use crate::recorder::record::{Kind, ROOT, Record, unpack_spawn};
use crate::recorder::store::segment::{Segment, StreamId};
use crate::util::sync::lock;

/// What was found of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whose {
    pub(super) location: Option<&'static Location<'static>>,
    pub(super) worker: Option<u32>,
}

/// Looks for the origin of `task` and for the worker that the thread of `stream` is.
pub(super) fn find(recorder: &Recorder, stream: StreamId, task: u64) -> Whose {
    let mut found = Found { stream, task, location: None, role: None };
    // From the youngest on: what is handed over meanwhile is found there.
    let buffers = lock(&recorder.buffers).clone();
    for buffer in buffers {
        buffer.read(|of, _, chunk| found.read(of, u64::MAX, chunk.items()));
    }
    let mut segments = Vec::new();
    lock(&recorder.store).segments(&mut segments);
    segments.sort_unstable_by_key(Segment::order);
    for segment in segments.iter().rev() {
        let from = segment.records().first().map_or(0, |record| record.ticks);
        found.read(segment.stream, from, segment.records());
    }
    let live_tasks = lock(&recorder.live_tasks);
    let location = || found.location.or_else(|| live_tasks.task(task)?.location);
    let worker = match found.role {
        Some((_, worker)) => worker,
        None => live_tasks.stream(stream).and_then(|stream| stream.worker),
    };
    let location = match task & ROOT {
        0 => location().and_then(|id| recorder.locations.to_vec().get(id as usize).copied()),
        _ if !recorder.config.include_spawn_location => None,
        _ => u32::try_from(task & !ROOT).ok().and_then(|number| recorder.roots.location(number)),
    };
    Whose { location, worker }
}

/// What is found so far.
struct Found {
    stream: StreamId,
    task: u64,
    location: Option<LocationId>,
    /// The thread's last role, and about when that was.
    role: Option<(u64, Option<u32>)>,
}

impl Found {
    /// Reads records of one stream, which begin at `from`.
    fn read(&mut self, stream: StreamId, from: u64, records: &[Record]) {
        let is_later = self.role.is_none_or(|(at, _)| from > at);
        let mut noted = None;
        for record in records {
            match record.kind() {
                Kind::Location => noted = LocationId::try_from(record.payload()).ok(),
                Kind::Spawn | Kind::LateOrigin => {
                    let location = noted.take();
                    if record.payload() == self.task {
                        self.location = location.or(self.location);
                    }
                }
                Kind::SpawnAt => {
                    let (task, location) = unpack_spawn(record.packed_payload());
                    if task == self.task {
                        self.location = Some(location);
                    }
                }
                Kind::Role if stream == self.stream && is_later => {
                    self.role = Some((from, role(record.payload())));
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;

    #[test]
    fn what_is_only_in_the_store_is_found_too() {
        let config = CollectorConfig { buffer_capacity: 64, ..CollectorConfig::default() };
        let recorder = Recorder::new(config);
        recorder.start();
        let here = Location::caller();
        recorder.task_spawned(7, Some(here));
        for id in 100..400 {
            recorder.task_spawned(id, None);
        }
        recorder.task_spawned(9, Some(here));
        let unknown = Whose { location: None, worker: None };
        let known = Whose { location: Some(here), ..unknown };
        let all: Vec<_> = [7, 9, 100, 5].map(|task| find(&recorder, 0, task)).into();
        assert_eq!(all, [known, known, unknown, unknown]);
    }

    #[test]
    fn the_last_role_counts() {
        let mut found = Found { stream: 3, task: 7, location: None, role: None };
        let role = |ticks, worker| Record::new(ticks, Kind::Role, worker);
        found.read(3, u64::MAX, &[]);
        found.read(3, 50, &[role(50, 1), role(60, 3)]);
        found.read(3, 10, &[role(10, 5)]);
        found.read(4, 90, &[role(90, 9)]);
        assert_eq!(found.role, Some((50, Some(2))));
    }
}
