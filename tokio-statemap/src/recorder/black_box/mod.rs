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
mod place;
pub(crate) mod sent;

use std::fmt;

#[cfg(feature = "read")]
pub use find::{Found, find, folders, is_live, owner};
pub(crate) use modules::modules;
pub(crate) use place::Left;
#[cfg(feature = "read")]
pub(crate) use place::{lives, open, paths};
pub(crate) use sent::Sent;

/// A function for the boxes that earlier processes of this program have left.
pub(crate) struct WhenLeft(pub(crate) Box<dyn Fn(&Left) + Send + Sync>);

impl fmt::Debug for WhenLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WhenLeft")
    }
}

/// Returns whether a file that begins so is one of a black box.
#[cfg(feature = "read")]
pub fn is_begin_of_box(bytes: &[u8]) -> bool {
    bytes.starts_with(&format::MAGIC[..15])
}
