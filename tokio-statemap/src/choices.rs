//! The choice of what to keep, and what to record.

use std::path::{Path, PathBuf};

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

/// The place of the black box, if there is to be one.
///
/// A black box is a pair of files that have what was recorded, however the process ends: also by SIGKILL, or when the
/// system runs out of memory. The command `tokio-statemap` reads them, and those of running processes, too. They are
/// removed once the outputs are written.
///
/// `true`, `false` and paths become one by [`Into`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlackBox {
    /// There is none. This is the default.
    #[default]
    Off,
    /// It is in `$XDG_RUNTIME_DIR` or in `/dev/shm`.
    On,
    /// It is in this folder. Memory is best (tmpfs); on a disk, what the system hasn't written yet is lost with the
    /// machine, but not with the process.
    Folder(PathBuf),
}

impl From<bool> for BlackBox {
    fn from(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Off }
    }
}

impl From<PathBuf> for BlackBox {
    fn from(folder: PathBuf) -> Self {
        Self::Folder(folder)
    }
}

impl From<String> for BlackBox {
    fn from(folder: String) -> Self {
        Self::Folder(folder.into())
    }
}

impl From<&str> for BlackBox {
    fn from(folder: &str) -> Self {
        Self::Folder(folder.into())
    }
}

impl From<&Path> for BlackBox {
    fn from(folder: &Path) -> Self {
        Self::Folder(folder.into())
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain_enum! {
    Keep { First, Last }
    TraceTarget { Tasks, Workers, Both, None }
}
