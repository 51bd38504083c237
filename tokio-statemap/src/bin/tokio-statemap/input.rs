//! Reads the files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tokio_statemap::statemap;
use tokio_statemap::statemap::read::{ReadError, Statemap, read};

use crate::args::{Files, WindowArgs};
use crate::failure::Failure;
use crate::progress::Progress;

/// A file that is read.
pub(crate) struct Input<'a> {
    source: Box<dyn Read>,
    progress: &'a mut Progress,
}

impl<'a> Input<'a> {
    /// Opens a file, or standard input.
    pub(crate) fn open(file: &Path, progress: &'a mut Progress) -> Result<Self, Failure> {
        if file.as_os_str() == "-" {
            progress.begin("reading standard input", None);
            return Ok(Self { source: Box::new(io::stdin().lock()), progress });
        }
        let source = File::open(file)
            .map_err(|error| Failure::of(file, format_args!("can't be opened: {error}")))?;
        let length = source.metadata().ok().filter(|found| found.is_file());
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        progress.begin(&format!("reading {name}"), length.map(|found| found.len()));
        Ok(Self { source: Box::new(source), progress })
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// Reads one file with `how`.
pub(crate) fn read_with(
    file: &Path,
    progress: &mut Progress,
    how: impl FnOnce(Input<'_>) -> Result<Statemap, ReadError>,
) -> Result<Statemap, Failure> {
    let input = Input::open(file, progress)?;
    how(input).map_err(|error| Failure::of(file, error))
}

/// Reads all files, and leaves of them what lies in the window.
pub(crate) fn read_all(
    files: &Files,
    window: WindowArgs,
    progress: &mut Progress,
) -> Result<Vec<Statemap>, Failure> {
    let mut statemaps = Vec::with_capacity(files.files.len());
    for file in &files.files {
        statemaps.push(read_with(file, progress, |input| read(input))?);
    }
    if window.begin.is_some() || window.duration.is_some() {
        let was_there = has_data(&statemaps);
        statemap::cut(&mut statemaps, window.begin.unwrap_or_default(), window.duration);
        if was_there && !has_data(&statemaps) {
            return Err(Failure::Bad(
                "there is nothing in this window; --begin counts from the start of the data"
                    .to_owned(),
            ));
        }
    }
    Ok(statemaps)
}

fn has_data(statemaps: &[Statemap]) -> bool {
    statemaps.iter().flat_map(|file| &file.entities).any(|entity| !entity.data.is_empty())
}
