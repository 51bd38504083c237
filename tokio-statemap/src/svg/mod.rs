//! The SVG: a picture of one file to embed, in statemap's own look.

use std::io::{self, Write};

use crate::picture::Picture;
use crate::statemap::Labels;
use crate::timeline::Timeline;

/// How an SVG is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How many bytes it may have: rows that don't fit are left out, and it is said how many.
    pub max_bytes: u64,
}

impl Default for Options {
    /// At most 4 MB.
    fn default() -> Self {
        Self { max_bytes: 4_000_000 }
    }
}

/// Writes `picture` as an SVG with the default [`Options`].
///
/// # Errors
///
/// If `w` fails.
pub fn write(picture: &Picture<'_>, w: impl Write) -> io::Result<()> {
    write_with(picture, &Options::default(), w)
}

/// Writes `picture` as an SVG.
///
/// # Errors
///
/// If `w` fails.
pub fn write_with(_picture: &Picture<'_>, _options: &Options, _w: impl Write) -> io::Result<()> {
    Ok(())
}

impl Timeline {
    /// Writes it as an SVG, named after this program and host. See [`write()`].
    ///
    /// # Errors
    ///
    /// If `w` fails.
    pub fn write_svg(&self, w: impl Write) -> io::Result<()> {
        write(&Picture::of_timeline(self, &Labels::of_this_program()), w)
    }
}
