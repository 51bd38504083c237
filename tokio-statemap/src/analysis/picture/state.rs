//! The states that a section's rows can be in.

use crate::trace::state::{TaskState, WorkerState};

/// A state, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowState {
    pub(crate) name: String,
    /// The colour in statemap's own palette; if `None`, the view chooses one.
    pub(crate) colour: Option<String>,
    pub(crate) role: Role,
}

/// The meaning of a state, which decides how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Spawned,
    Running,
    Waiting,
    Completed,
    Ready,
    /// A worker is not parked.
    Awake,
    Parked,
    Stopped,
    /// A thread of the blocking pool exists.
    Blocking,
    /// A state of another program's data.
    Other,
}

impl Role {
    /// Returns its name in the data of the page.
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

    /// Returns whether the state ends a row.
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
    pub(crate) fn new(name: &str, colour: &str, role: Role) -> Self {
        Self { name: name.to_owned(), colour: Some(colour.to_owned()), role }
    }
}

impl From<TaskState> for RowState {
    fn from(state: TaskState) -> Self {
        Self::new(state.name(), state.colour(), state.into())
    }
}

impl From<WorkerState> for RowState {
    fn from(state: WorkerState) -> Self {
        Self::new(state.name(), state.colour(), state.into())
    }
}
