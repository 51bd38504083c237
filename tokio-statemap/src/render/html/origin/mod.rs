//! Writes the data that the page was made from, as far as the columns don't contain it. From both, the data can be read
//! again.
//!
//! Each file of data (the tasks or the workers of a run, or other data) has a `script` element that no browser runs,
//! behind the page's own script, which ignores it. Its text is base64 of a raw deflate stream, which contains, all
//! numbers being LEB128:
//!
//! - the kind of the file: 0 tasks, 1 workers, 2 other;
//! - its section from 1 on, or 0 if none of it is drawn;
//! - time 0 of the file, in ns of the page;
//! - 0; or, if the file is a part, 1 and the length of the whole recording, in ns and from 1 on (0: unknown);
//! - the records of the file that belong to no row (length and text): the metadata, and those about the run, except the
//!   names of tasks and what the page or its columns contain;
//! - lists of exceptions for rows.
//!
//! Such a list begins with the number of exceptions. Each consists of the number of items since the one before, and a
//! value. For all other items the columns are right, or the value of the item before holds ([`tasks`]).

mod exceptions;
#[cfg(feature = "read")]
mod other;
mod tasks;

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec;

use super::chunk::{text, varint};
use crate::analysis::picture::{OriginOf, Picture, Section, SectionKind};
use crate::statemap::{Labels, without_rows};
use crate::trace::timeline::Timeline;
use exceptions::Exceptions;

/// The kinds of files.
pub(super) const TASKS: u64 = 0;
pub(super) const WORKERS: u64 = 1;
#[cfg(feature = "read")]
pub(super) const OTHER: u64 = 2;
/// The beginning of the element.
pub(super) const ELEMENT: &str = "<script type=\"text/plain\" class=\"statemap-origin\">";
/// There are few bytes, and many of them are text.
const LEVEL: u8 = 4;

/// Writes all data that `picture` was made from.
pub(super) fn write(picture: &Picture<'_>, unit_ns: u64, w: &mut dyn Write) -> io::Result<()> {
    for (index, origin) in picture.origins.iter().enumerate() {
        let section_of = |kind: SectionKind| {
            let is_it = |s: &Section<'_>| s.origin == index && s.kind == kind;
            let at = picture.sections.iter().position(is_it)?;
            Some((at, &picture.sections[at]))
        };
        let from_ns = origin.from_ns;
        match &origin.of {
            OriginOf::Run { timeline, labels } => {
                let run = Run { timeline, labels, from_ns, unit_ns };
                if !timeline.lacking.tasks {
                    element(&run.tasks(section_of(SectionKind::Tasks))?, w)?;
                }
                if !timeline.lacking.workers {
                    element(&run.workers(section_of(SectionKind::Workers))?, w)?;
                }
            }
            #[cfg(feature = "read")]
            OriginOf::Other { data, title } => {
                let section = section_of(SectionKind::Other);
                element(&other::file(data, title, section, from_ns, unit_ns)?, w)?;
            }
        }
    }
    Ok(())
}

fn element(bytes: &[u8], w: &mut dyn Write) -> io::Result<()> {
    let mut text = ELEMENT.to_owned();
    STANDARD.encode_string(compress_to_vec(bytes, LEVEL), &mut text);
    text.push_str("</script>\n");
    w.write_all(text.as_bytes())
}

/// A run and its place in the page.
struct Run<'a> {
    timeline: &'a Timeline,
    labels: &'a Labels,
    from_ns: u64,
    unit_ns: u64,
}

type Placed<'a, 'b> = Option<(usize, &'a Section<'b>)>;

impl Run<'_> {
    /// Returns all that comes before the exceptions.
    fn head(&self, kind: u64, section: Placed<'_, '_>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        varint(kind, &mut bytes);
        varint(section.map_or(0, |(index, _)| index as u64 + 1), &mut bytes);
        varint(self.from_ns, &mut bytes);
        match self.timeline.lacking {
            lacking if lacking.time => {
                varint(1, &mut bytes);
                varint(lacking.whole_ns.map_or(0, |ns| ns.saturating_add(1)), &mut bytes);
            }
            _ => varint(0, &mut bytes),
        }
        let records = without_rows(self.timeline, self.labels, kind == TASKS)?;
        varint(records.len() as u64, &mut bytes);
        bytes.extend_from_slice(&records);
        Ok(bytes)
    }

    fn workers(&self, section: Placed<'_, '_>) -> io::Result<Vec<u8>> {
        let mut bytes = self.head(WORKERS, section)?;
        let mut times = Exceptions::default();
        let mut nth = 0;
        if let Some((_, section)) = section {
            for &row in &section.rows {
                let mut real = self.timeline.workers[row as usize].transitions.iter();
                section.source.walk(row, &mut |drawn| {
                    if let Some(&(time_ns, _)) = real.next() {
                        self.time(time_ns, drawn.time_ns, nth, &mut times);
                        nth += 1;
                    }
                });
            }
        }
        times.end(&mut bytes);
        Ok(bytes)
    }

    /// Stores the exact time of the `nth` transition if the columns have a rounded one.
    fn time(&self, time_ns: u64, drawn_ns: u64, nth: u64, times: &mut Exceptions) {
        let real_ns = time_ns.saturating_sub(self.timeline.begin_ns);
        times.time(real_ns, drawn_at(drawn_ns, self.from_ns, self.unit_ns), nth);
    }
}

/// Returns the time that the columns have, in ns of the file.
pub(super) fn drawn_at(drawn_ns: u64, from_ns: u64, unit_ns: u64) -> u64 {
    (drawn_ns / unit_ns * unit_ns).saturating_sub(from_ns)
}
