//! Reads a page: the data that it was made from.

mod chunks;
mod columns;
mod origin;
mod parts;
#[cfg(test)]
mod tests;

use std::io::Read;

use crate::error::ReadError;
use crate::statemap::read::Statemap;

use origin::File;
use parts::Parts;

/// The most bytes of an inflated part; the page's own script takes no more.
const MOST_INFLATED: usize = 1 << 28;

/// Reads the data that a page was made from, which [`write`](super::write()) wrote.
///
/// A run yields the data of its tasks and its workers, other data yields itself. Reports and pictures of the
/// result equal those of the original, with exact times. The whole page is in memory meanwhile.
///
/// # Errors
///
/// If `r` fails, or if this isn't a complete page. The error says where in the page.
///
/// # Examples
///
/// ```
/// use tokio_statemap::html;
/// use tokio_statemap::picture::Picture;
/// use tokio_statemap::statemap::read::read;
///
/// let data = br#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
/// {"time":"0","entity":"cpu-0","state":0}
/// {"time":"70","entity":"cpu-0","state":1}
/// "#;
/// let files = [read(&data[..])?];
/// let mut page = Vec::new();
/// html::write(&Picture::of_data(&files), &mut page)?;
/// assert_eq!(html::read(&page[..])?, files);
///
/// let error = html::read(&page[..page.len() / 2]).unwrap_err();
/// assert!(error.to_string().contains("the page is cut off here"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(mut r: impl Read) -> Result<Vec<Statemap>, ReadError> {
    let mut bytes = Vec::new();
    r.read_to_end(&mut bytes).map_err(|error| {
        let problem = format!("reading failed: {error}");
        ReadError { source: Some(error), ..at(&bytes, bytes.len(), &problem) }
    })?;
    let text = text(&bytes)?;
    let parts = Parts::parse(text)?;
    let mut files = Vec::with_capacity(parts.origins.len());
    for element in &parts.origins {
        let rows_of = |section: usize| parts.tail.sections[section].rows;
        let file = element.inflate().and_then(|bytes| File::parse(bytes, &parts.meta, rows_of));
        files.push((element.byte, file.map_err(|problem| damaged(text, element.byte, &problem))?));
    }
    chunks::read(text, &parts, &mut files)?;
    let files = files.into_iter().map(|(byte, file)| {
        file.finish(&parts.meta).map_err(|problem| damaged(text, byte, &problem))
    });
    files.collect()
}

/// Returns the text of a page, if it has a page's beginning and end.
fn text(bytes: &[u8]) -> Result<&str, ReadError> {
    let cut_off = || at(bytes, bytes.len(), "the page is cut off here; copy it again, all of it");
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => return Err(cut_off()),
        Err(error) => {
            return Err(at(bytes, error.valid_up_to(), "this is not UTF-8, which a page is in"));
        }
    };
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    let is_page = begin.starts_with(super::BEGIN) || super::BEGIN.starts_with(begin);
    if !is_page {
        let is_svg = begin.starts_with("<svg") || begin.starts_with("<?xml");
        return Err(at(
            bytes,
            0,
            match is_svg {
                true => "this is an SVG or XML; give the data that it was made from, or the page",
                false => {
                    "this is HTML, but no page of tokio-statemap; give one, or statemap data (JSON)"
                }
            },
        ));
    }
    if text.trim_end().ends_with("</html>") { Ok(text) } else { Err(cut_off()) }
}

/// Creates the error for a problem at a byte.
fn at(bytes: &[u8], byte: usize, problem: &str) -> ReadError {
    let newlines = bytes[..byte].iter().filter(|&&byte| byte == b'\n').count();
    ReadError {
        line: newlines as u64 + 1,
        byte: byte as u64,
        problem: problem.to_owned(),
        source: None,
    }
}

/// Creates the error for a part of the page that isn't as it was written.
fn damaged(text: &str, byte: usize, problem: &str) -> ReadError {
    let problem = crate::util::clean::clean(problem).into_owned();
    let problem = format!("the page is damaged: {problem}; copy it again");
    at(text.as_bytes(), byte, &problem)
}
