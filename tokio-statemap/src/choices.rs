//! The choice of what to keep, and what to record.

/// The events to keep once there are more than `max_events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Keeps the first events. At `max_events` recording ends, and further events are only counted.
    /// It resumes when events are drained with
    /// `Collector::drain_events`.
    First,
    /// Keeps the last events and drops the oldest, as a flight recorder does. The spawn location and
    /// the parent of each live task are kept.
    ///
    /// The surroundings of the run's longest polls are kept as well, for polls that held a worker for
    /// `long_poll` or more: the events of all threads around up to 16 polls, at most four of one
    /// spawn location, with 20 ms before and after if there is room, or else only around the poll's
    /// start and end. They take at most a quarter of `max_events`, and none if that is under 16 384.
    #[default]
    Last,
}

/// The kinds of entities that are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceTarget {
    /// The tasks and their polls.
    Tasks,
    /// The workers and their parks.
    Workers,
    /// Both.
    #[default]
    Both,
    /// Neither: no hook records anything.
    None,
}

impl TraceTarget {
    /// Returns `true` if tasks are recorded.
    pub fn tracks_tasks(self) -> bool {
        matches!(self, Self::Tasks | Self::Both)
    }

    /// Returns `true` if workers are recorded.
    pub fn tracks_workers(self) -> bool {
        matches!(self, Self::Workers | Self::Both)
    }
}
