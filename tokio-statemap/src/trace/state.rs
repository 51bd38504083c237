//! The states of tasks and workers: their names, values and colours.
//!
//! The colours are IBM's palette for colour-blind readers, in the order that Bryan Cantrill's
//! statemaps of Tokio use.

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum TaskState {
    /// From its spawn until its first poll.
    Spawned = 0,
    /// From the start to the end of a poll.
    Running = 1,
    /// From the end of a poll until it is woken (with `schedule_latency`) or polled (without).
    Waiting = 2,
    /// From its termination on: it completed, panicked or was aborted.
    Completed = 3,
    /// From being woken until its next poll. Only recorded with `schedule_latency`.
    Ready = 4,
}

impl TaskState {
    /// All states, in the order of their values.
    pub const ALL: [Self; 5] =
        [Self::Spawned, Self::Running, Self::Waiting, Self::Completed, Self::Ready];

    /// The state's name in statemap data.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spawned => "spawned",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Ready => "ready",
        }
    }

    /// The state's value in statemap data.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// The colour, as `#RRGGBB`.
    pub const fn colour(self) -> &'static str {
        match self {
            Self::Spawned => "#FFB000",
            Self::Running => "#DC267F",
            Self::Waiting => "#FE6100",
            Self::Completed => "#648FFF",
            Self::Ready => "#785EF0",
        }
    }
}

/// The state of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum WorkerState {
    /// Polling tasks, or looking for a task to poll.
    Running = 0,
    /// Parked: idle, or waiting for I/O and timers (Tokio polls its driver while parked).
    Parked = 1,
    /// Its thread has stopped.
    Stopped = 2,
}

impl WorkerState {
    /// All states, in the order of their values.
    pub const ALL: [Self; 3] = [Self::Running, Self::Parked, Self::Stopped];

    /// The state's name in statemap data.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Parked => "parked",
            Self::Stopped => "stopped",
        }
    }

    /// The state's value in statemap data.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// The colour, as `#RRGGBB`.
    pub const fn colour(self) -> &'static str {
        match self {
            Self::Running => "#DC267F",
            Self::Parked => "#FE6100",
            Self::Stopped => "#648FFF",
        }
    }
}
