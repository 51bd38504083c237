//! The SVG: a picture of one file to embed, in statemap's own look.
//!
//! It has a fixed number of columns, each in the state with the largest share of its time, so the size of the
//! file doesn't grow with the number of events. Only a long poll is always visible, however short it is compared
//! to the whole. Opened in a browser, the picture can be zoomed and shows details on a click; in an `<img>` or
//! within an html document it is a still picture.

mod axis;
mod body;
mod colour;
mod columns;
mod data;
mod frame;
mod head;
mod layout;
mod legend;
mod path;
mod plan;
mod rows;
mod sheet;
mod strip;
mod survey;
#[cfg(test)]
mod tests;
mod text;

use std::io::{self, Write};

use crate::analysis::picture::Picture;
use crate::statemap::Labels;
use crate::trace::timeline::Timeline;

use frame::{Detail, assemble};
use rows::DrawnRows;
use survey::Survey;

/// Options of the SVG.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The maximum size in bytes. Rows that don't fit are left out, and the picture states their number.
    pub max_bytes: u64,
}

impl Default for Options {
    /// Returns the default: at most 4 MB.
    fn default() -> Self {
        Self { max_bytes: 4_000_000 }
    }
}

/// The smallest SVG.
const NOTHING: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";

/// Writes `picture` as an SVG with the default [`Options`].
///
/// # Errors
///
/// If `w` fails.
///
/// # Examples
///
/// ```
/// use tokio_statemap::picture::Picture;
/// use tokio_statemap::statemap::Labels;
/// use tokio_statemap::{Timeline, svg};
///
/// fn drawing(timeline: &Timeline) -> std::io::Result<Vec<u8>> {
///     let labels = Labels { title: "http".to_owned(), host: None };
///     let mut drawing = Vec::new();
///     svg::write(&Picture::of_timeline(timeline, &labels), &mut drawing)?;
///     Ok(drawing)
/// }
/// ```
pub fn write(picture: &Picture<'_>, w: impl Write) -> io::Result<()> {
    write_with(picture, &Options::default(), w)
}

/// Writes `picture` as an SVG.
///
/// It is never larger than [`Options::max_bytes`]. If the script doesn't fit, the picture is still; if the
/// frame doesn't fit either, only the title is left.
///
/// # Errors
///
/// If `w` fails; [`io::ErrorKind::InvalidInput`] if not even an empty SVG (41 bytes) is that small.
///
/// # Examples
///
/// For a README, small:
///
/// ```
/// use tokio_statemap::picture::Picture;
/// use tokio_statemap::svg::{self, Options};
///
/// fn small(picture: &Picture<'_>) -> std::io::Result<()> {
///     let mut options = Options::default();
///     options.max_bytes = 200_000;
///     svg::write_with(picture, &options, std::fs::File::create("statemap.svg")?)
/// }
/// ```
pub fn write_with(picture: &Picture<'_>, options: &Options, mut w: impl Write) -> io::Result<()> {
    w.write_all(draw(picture, options.max_bytes)?.as_bytes())?;
    w.flush()
}

fn draw(picture: &Picture<'_>, max_bytes: u64) -> io::Result<String> {
    let survey = Survey::new(picture, plan::most_rows);
    let none = DrawnRows::draw(picture, &survey, 0);
    for detail in [Detail::Full, Detail::Still, Detail::Title] {
        let frame = assemble(picture, &survey, &none, detail).len() as u64;
        // The script isn't worth its bytes if no room is left for rows.
        let least = if detail == Detail::Full { frame * 2 } else { frame };
        if least > max_bytes {
            continue;
        }
        let mut rows = if detail == Detail::Title {
            DrawnRows::draw(picture, &survey, 0)
        } else {
            DrawnRows::draw(picture, &survey, max_bytes - frame)
        };
        loop {
            let svg = assemble(picture, &survey, &rows, detail);
            if svg.len() as u64 <= max_bytes {
                return Ok(svg);
            }
            // The estimate of the room was too large. Without the least important rows the picture fits
            // sooner.
            if rows.drawn.pop().is_none() {
                break;
            }
        }
    }
    if NOTHING.len() as u64 > max_bytes {
        let text = format!("an SVG has at least {} bytes, {max_bytes} are too few", NOTHING.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(NOTHING.to_owned())
}

impl Timeline {
    /// Writes the SVG, labelled with the name of this program and host. See [`write()`].
    ///
    /// # Errors
    ///
    /// If `w` fails.
    pub fn write_svg(&self, w: impl Write) -> io::Result<()> {
        write(&Picture::of_timeline(self, &Labels::of_this_program()), w)
    }
}
