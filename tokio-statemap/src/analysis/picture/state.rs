//! The states that a section's rows can be in.

use crate::trace::state::{TaskState, WorkerState};

/// A state, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowState {
    pub(crate) name: String,
    /// The colour in statemap's own palette; `None` leaves it to the view.
    pub(crate) colour: Option<String>,
    pub(crate) role: Role,
}

/// What a state means, so that a view knows what to make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Spawned,
    Running,
    Waiting,
    Completed,
    Ready,
    /// Of a worker: not parked.
    Awake,
    Parked,
    Stopped,
    /// Of a thread of the blocking pool: it is there.
    Blocking,
    /// Of data that isn't ours.
    Other,
}

impl Role {
    /// Its name in the data of the page.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Spawned => "spawned",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Ready => "ready",
            Self::Awake => "awake",
            Self::Parked => "parked",
            Self::Stopped => "stopped",
            Self::Blocking => "blocking",
            Self::Other => "other",
        }
    }

    /// Whether nothing is there any more.
    pub(crate) const fn is_end(self) -> bool {
        matches!(self, Self::Completed | Self::Stopped)
    }
}

impl From<TaskState> for Role {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Spawned => Self::Spawned,
            TaskState::Running => Self::Running,
            TaskState::Waiting => Self::Waiting,
            TaskState::Completed => Self::Completed,
            TaskState::Ready => Self::Ready,
        }
    }
}

impl From<WorkerState> for Role {
    fn from(state: WorkerState) -> Self {
        match state {
            WorkerState::Running => Self::Awake,
            WorkerState::Parked => Self::Parked,
            WorkerState::Stopped => Self::Stopped,
        }
    }
}

impl RowState {
    pub(crate) fn new(name: &str, colour: &str, role: impl Into<Role>) -> Self {
        Self { name: name.to_owned(), colour: Some(colour.to_owned()), role: role.into() }
    }
}

impl From<TaskState> for RowState {
    fn from(state: TaskState) -> Self {
        Self::new(state.name(), state.colour(), state)
    }
}

impl From<WorkerState> for RowState {
    fn from(state: WorkerState) -> Self {
        Self::new(state.name(), state.colour(), state)
    }
}
