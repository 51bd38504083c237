//! The black box: a file that has what a capture would have, however the process ends.
//!
//! The [background thread](crate::recorder::background) writes to it, so a hook does no more than without it while that
//! thread keeps up, and what is lost by a SIGKILL is what was recorded since the last [round](format::Round). [`journal`]
//! writes the files, and [`place`] finds a folder for them.

#[cfg(feature = "read")]
mod find;
pub(crate) mod format;
pub(crate) mod journal;
mod modules;
mod own;
mod place;
pub(crate) mod sent;

#[cfg(feature = "read")]
pub use find::{Found, find, folders, is_live, owner};
pub(crate) use modules::modules;
pub(crate) use own::OwnBox;
pub(crate) use place::Left;
#[cfg(feature = "read")]
pub(crate) use place::{lives, open, paths};
pub(crate) use sent::Sent;

/// Returns whether a file that begins so is one of a black box.
#[cfg(feature = "read")]
pub fn is_begin_of_box(bytes: &[u8]) -> bool {
    bytes.starts_with(&format::MAGIC[..15])
}
