//! The page: one self-contained html file that shows every task and worker over time.
//!
//! [`write()`] writes a [`Picture`] as a page that needs no server, no network and no other file. The page
//! contains the data as compressed columns (see `chunk`) and the script in `page/`, which draws them.

mod chunk;
mod escape;
mod meta;
mod origin;
mod page;
#[cfg(feature = "read")]
mod read;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use crate::analysis::picture::Picture;
use crate::statemap::Labels;
use crate::trace::timeline::Timeline;

pub(super) use escape::escape_html;
use escape::escape_json;
#[cfg(feature = "read")]
pub use read::read;

/// The beginning of each page.
const BEGIN: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                     <meta http-equiv=\"Content-Security-Policy\" content=\"";

/// The end of each page. The script recognizes by it that the file is complete.
const END: &[u8] = b"<p id=\"statemap-end\" hidden></p>\n</body>\n</html>\n";

/// Writes `picture` as one html page, in large parts.
///
/// The page is written as a stream: besides the picture it takes a few MB of memory, regardless of the size
/// of the page.
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
/// use tokio_statemap::{Timeline, html};
///
/// fn page(timeline: &Timeline) -> std::io::Result<Vec<u8>> {
///     let labels = Labels { title: "http".to_owned(), host: None };
///     let mut page = Vec::new();
///     html::write(&Picture::of_timeline(timeline, &labels), &mut page)?;
///     Ok(page)
/// }
/// ```
pub fn write(picture: &Picture<'_>, mut w: impl Write) -> io::Result<()> {
    write_to(picture, &mut w)
}

fn write_to(picture: &Picture<'_>, w: &mut dyn Write) -> io::Result<()> {
    let title = escape_html(&picture.title);
    let verdict = picture.verdict.as_ref().map(ToString::to_string);
    let answer = escape_html(verdict.as_deref().unwrap_or_default());
    let begin = format!(
        "{BEGIN}{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{}</style>\n</head>\n<body>\n{}",
        page::policy(),
        page::style(),
        page::body(&title, &answer),
    );
    w.write_all(begin.as_bytes())?;
    let meta = meta::head(picture);
    let meta = format!(
        "<script type=\"application/json\" id=\"statemap-meta\">{}</script>\n",
        escape_json(&meta)
    );
    w.write_all(meta.as_bytes())?;
    let unit_ns = chunk::unit_ns(picture.length_ns);
    let mut chunks = chunk::Writer::new(w, unit_ns);
    for section in &picture.sections {
        chunks.section(section)?;
    }
    let tail = meta::tail(&chunks.finish());
    let tail = format!(
        "<script type=\"application/json\" id=\"statemap-tail\">{}</script>\n\
         <script>{}</script>\n",
        escape_json(&tail),
        page::script()
    );
    w.write_all(tail.as_bytes())?;
    // The page doesn't wait for what follows.
    origin::write(picture, unit_ns, w)?;
    w.write_all(END)?;
    w.flush()
}

impl Timeline {
    /// Writes an html page that is labelled with the name of this program and host. See [`write()`].
    ///
    /// # Errors
    ///
    /// If `w` fails.
    pub fn write_html(&self, w: impl Write) -> io::Result<()> {
        write(&Picture::of_timeline(self, &Labels::of_this_program()), w)
    }
}
