//! The public events and states, the snapshot of a recorder, and the timeline built from it.

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
