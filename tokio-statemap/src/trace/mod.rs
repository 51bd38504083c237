//! The public events and states, the snapshot of a recorder, and the timeline built from it.
//!
//! Imports point down this list, or from a child to its parent, which `tests/tests/repository/layers.rs` checks:
//!
//! 1. Terms: `task_key`, `wait_id`, `state`, `clock`; then `woken_by`, and `event`.
//! 2. Tables: `profile`, and `requests`.
//! 3. `snapshot`: all that a recorder knows at one moment. `summary`: the sums of the whole run.
//! 4. `timeline`: what happened, from a snapshot, from events, or from files.
//! 5. `live_poll`: a poll that goes on. `recovered`: the timeline of a black box.

pub(crate) mod clock;
pub(crate) mod event;
pub(crate) mod live_poll;
pub mod profile;
#[cfg(all(has_black_box, feature = "read"))]
pub(crate) mod recovered;
#[cfg(has_requests)]
pub mod requests;
pub(crate) mod snapshot;
pub(crate) mod state;
pub mod summary;
pub(crate) mod task_key;
pub mod timeline;
pub(crate) mod wait_id;
pub(crate) mod woken_by;
