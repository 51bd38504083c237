//! Finds the owner of a poll: where its task was spawned, and which worker polls it.

use std::panic::Location;

use crate::recorder::hot::Shared;
use crate::recorder::record::ROOT;
use crate::recorder::store::segment::StreamId;
use crate::util::map::Map;

/// The most tasks whose spawn locations are remembered.
const MAX_KNOWN: usize = 1024;

/// The task and worker of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PollOwner {
    /// The location where the task was spawned.
    pub(super) location: Option<&'static Location<'static>>,
    pub(super) worker: Option<u32>,
}

/// Finds the owners of one recorder's polls.
///
/// A task's spawn location is in one of up to a million records, so these are searched only once per task.
#[derive(Debug, Default)]
pub(super) struct PollOwners {
    known: Map<u64, Option<&'static Location<'static>>>,
}

impl PollOwners {
    /// Finds the origin of `task` and the worker that the thread of `stream` is.
    pub(super) fn find(&mut self, recorder: &Shared, stream: StreamId, task: u64) -> PollOwner {
        PollOwner { location: self.location(recorder, task), worker: worker(recorder, stream) }
    }

    fn location(&mut self, recorder: &Shared, task: u64) -> Option<&'static Location<'static>> {
        if !recorder.kept.config.include_spawn_location {
            return None;
        }
        if task & ROOT != 0 {
            let number = u32::try_from(task & !ROOT).ok();
            return number.and_then(|number| recorder.runtime.roots.location(number));
        }
        if let Some(&known) = self.known.get(&task) {
            return known;
        }
        let found = recorder
            .kept
            .origin(task)
            .and_then(|id| recorder.locations.to_vec().get(id as usize).copied());
        if self.known.len() == MAX_KNOWN {
            self.known = Map::default();
        }
        self.known.insert(task, found);
        found
    }
}

/// Returns the worker that the thread of `stream` is.
fn worker(recorder: &Shared, stream: StreamId) -> Option<u32> {
    for buffer in recorder.kept.buffers.all() {
        if buffer.read(|of, _, _| of) == Some(stream) {
            return buffer.watched.worker();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::recorder::Recorder;

    const UNKNOWN: PollOwner = PollOwner { location: None, worker: None };

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
        let known = PollOwner { location: Some(here), ..UNKNOWN };
        let mut owners = PollOwners::default();
        let all: Vec<_> = [7, 9, 100, 5].map(|task| owners.find(&recorder, 0, task)).into();
        assert_eq!(all, [known, known, UNKNOWN, UNKNOWN]);
    }

    #[test]
    fn a_task_is_looked_for_once() {
        let recorder = Recorder::new(CollectorConfig::default());
        recorder.start();
        let mut owners = PollOwners::default();
        let here = Location::caller();
        for task in 0..3 * MAX_KNOWN as u64 {
            recorder.task_spawned(task, Some(here));
            assert_eq!(owners.find(&recorder, 0, task).location, Some(here), "{task}");
        }
        assert_eq!(owners.known.len(), MAX_KNOWN);
        let last = 3 * MAX_KNOWN as u64 - 1;
        owners.known.insert(last, None);
        assert_eq!(owners.find(&recorder, 0, last), UNKNOWN);
    }

    #[test]
    fn the_last_worker_counts() {
        let recorder = Recorder::new(CollectorConfig::default());
        recorder.start();
        let thread = recorder.new_thread_recorder();
        let stream = thread.buffer.read(|stream, _, _| stream).expect("it has a thread");
        let worker = || PollOwners::default().find(&recorder, stream, 7).worker;
        assert_eq!(worker(), None);
        for index in [0, 5] {
            thread.buffer.watched.set_worker(Some(index));
            assert_eq!(worker(), Some(index));
        }
        recorder.retire(thread);
        assert_eq!(worker(), None);
    }
}
