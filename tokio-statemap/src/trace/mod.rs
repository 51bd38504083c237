//! What happened: events and states, what the recorder holds at one moment, and the timeline that is
//! built from it.

pub(crate) mod event;
pub(crate) mod snapshot;
pub(crate) mod state;
pub mod timeline;
