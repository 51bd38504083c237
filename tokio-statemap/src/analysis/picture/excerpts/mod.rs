//! The source around the lines that a picture names: blamed lines and spawn locations.

mod files;
mod read;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use files::SourceFiles;
use read::read;

use super::{Picture, Why};
use crate::util::map::Map;

/// The number of lines before and after the named one.
const AROUND: u32 = 3;

/// The most excerpts, and the most bytes of all of them.
const MOST: usize = 400;
const MOST_BYTES: usize = 256 << 10;

/// A file and a line of it, counted from 1.
type Line = (String, u32);

/// Some lines of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The named line, and the first of these, counted from 1.
    pub(crate) line: u32,
    pub(crate) first: u32,
    /// The lines, without their common indentation.
    pub(crate) lines: Vec<String>,
    /// `true` if the file is newer than what was recorded.
    pub(crate) is_changed: bool,
}

/// The source of a picture. The other fields refer to `all` by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Excerpts {
    pub(crate) all: Vec<Excerpt>,
    /// Excerpts of blamed functions: the section, the frame among those of its polls, and the excerpt.
    pub(crate) of_frames: Vec<(usize, u32, usize)>,
    /// Excerpts of spawn locations: the section, the group, and the excerpt.
    pub(crate) of_groups: Vec<(usize, usize, usize)>,
}

impl Picture<'_> {
    /// Adds the source around blamed lines and spawn locations, if it can be read now: a few lines each, at most 256 KB
    /// in all. It takes at most two seconds, and reads only regular files.
    ///
    /// Only the page shows it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio_statemap::picture::{Picture, SourceFiles};
    ///
    /// # #[cfg(feature = "html")]
    /// fn page(picture: Picture<'_>) -> std::io::Result<()> {
    ///     let files = SourceFiles::of_this_program(env!("CARGO_MANIFEST_DIR"));
    ///     let file = std::fs::File::create("statemap.html")?;
    ///     tokio_statemap::html::write(&picture.with_source(&files), file)
    /// }
    /// ```
    #[must_use]
    pub fn with_source(mut self, files: &SourceFiles) -> Self {
        let wanted = Wanted::from_picture(&self);
        // Zero is no date: the data has none.
        let recorded = (!self.start.is_zero()).then(|| self.start.saturating_add(self.length()));
        let found = read(&wanted.lines, files, recorded);
        self.excerpts = Some(wanted.filled(found));
        self
    }

    fn length(&self) -> Duration {
        Duration::from_nanos(self.length_ns)
    }
}

/// The lines that are wanted, each once, and the frames and groups that want them.
#[derive(Debug, Default)]
struct Wanted {
    lines: Vec<Line>,
    indices: Map<Line, usize>,
    of_frames: Vec<(usize, u32, usize)>,
    of_groups: Vec<(usize, usize, usize)>,
}

impl Wanted {
    /// The functions that the verdict may name come first, and those of single polls last.
    fn from_picture(picture: &Picture<'_>) -> Self {
        let mut wanted = Self::default();
        for (section, of) in picture.sections.iter().enumerate() {
            let Some(why) = &of.why else { continue };
            for culprit in &why.culprits {
                if let Some(frame) = culprit.frame {
                    wanted.add_frame(section, frame, why);
                }
            }
        }
        for (section, of) in picture.sections.iter().enumerate() {
            for (index, group) in of.groups.iter().enumerate() {
                let Some(location) = group.location else { continue };
                if let Some(at) = wanted.add(location.file, location.line) {
                    wanted.of_groups.push((section, index, at));
                }
            }
        }
        for (section, of) in picture.sections.iter().enumerate() {
            let Some(why) = &of.why else { continue };
            let mut is_blamed = vec![false; why.frames.len()];
            for poll in &why.polls {
                if let Some([frame, _]) = poll.blame {
                    is_blamed[frame as usize] = true;
                }
            }
            for (frame, is_blamed) in is_blamed.iter().enumerate() {
                if *is_blamed {
                    wanted.add_frame(section, frame as u32, why);
                }
            }
        }
        wanted
    }

    fn add_frame(&mut self, section: usize, frame: u32, why: &Why) {
        let of = &why.frames[frame as usize];
        let (Some(file), Some(line)) = (&of.file, of.line) else { return };
        if self.of_frames.iter().any(|(s, f, _)| (*s, *f) == (section, frame)) {
            return;
        }
        if let Some(at) = self.add(file, line) {
            self.of_frames.push((section, frame, at));
        }
    }

    fn add(&mut self, file: &str, line: u32) -> Option<usize> {
        let line = (file.to_owned(), line);
        if let Some(&known) = self.indices.get(&line) {
            return Some(known);
        }
        if self.lines.len() >= MOST {
            return None;
        }
        self.lines.push(line.clone());
        self.indices.insert(line, self.lines.len() - 1);
        Some(self.lines.len() - 1)
    }

    /// Returns the excerpts that were found, as far as there is room.
    fn filled(self, found: Vec<Option<Excerpt>>) -> Excerpts {
        let mut excerpts = Excerpts::default();
        let mut left = MOST_BYTES;
        let mut places = vec![None; found.len()];
        for (at, excerpt) in found.into_iter().enumerate() {
            let Some(excerpt) = excerpt else { continue };
            let bytes: usize = excerpt.lines.iter().map(|line| line.len() + 8).sum();
            let Some(rest) = left.checked_sub(bytes) else { break };
            left = rest;
            places[at] = Some(excerpts.all.len());
            excerpts.all.push(excerpt);
        }
        for (section, frame, at) in self.of_frames {
            if let Some(place) = places[at] {
                excerpts.of_frames.push((section, frame, place));
            }
        }
        for (section, group, at) in self.of_groups {
            if let Some(place) = places[at] {
                excerpts.of_groups.push((section, group, place));
            }
        }
        excerpts
    }
}
