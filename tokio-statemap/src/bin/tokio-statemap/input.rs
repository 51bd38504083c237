//! Reads the input files.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
#[cfg(has_black_box)]
use tokio_statemap::__private::{Recovered, is_begin_of_box, recover};
use tokio_statemap::html;
use tokio_statemap::statemap;
use tokio_statemap::statemap::read::{Statemap, read};

use crate::args::{Files, WindowArgs};
use crate::failure::{Failure, display_name};
use crate::progress::Progress;

/// The content of an input file.
pub(crate) enum Content {
    /// The data of the tasks, and of the workers, in a black box.
    #[cfg(has_black_box)]
    Box(Vec<Statemap>),
    /// Statemap data, still to be read.
    Data(Box<dyn Read>),
    /// A page.
    Page {
        /// The data that the page was made from.
        files: Vec<Statemap>,
        html: Vec<u8>,
    },
}

/// Opens a file of data, or reads a page.
pub(crate) fn content(file: &Path, progress: &Progress) -> Result<Content, Failure> {
    let failed = |error: io::Error| {
        let problem = match error.kind() {
            io::ErrorKind::IsADirectory => "this is a directory; name a file".to_owned(),
            _ => format!("reading failed: {error}"),
        };
        Failure::in_file(file, problem)
    };
    let source = open(file, progress)?;
    let mut source = BufReader::new(progress.count_reads(source));
    #[cfg(has_black_box)]
    {
        // A box may be empty, or damaged from its first byte on.
        let is_named_so = file.extension().is_some_and(|end| end == "box");
        if is_named_so || is_begin_of_box(source.fill_buf().map_err(failed)?) {
            return black_box(file);
        }
    }
    // No text begins with this byte, but each gzip file does.
    let is_gzip = source.fill_buf().map_err(failed)?.first() == Some(&0x1f);
    let source: Box<dyn Read> = match is_gzip {
        true => Box::new(Unpacked(MultiGzDecoder::new(source))),
        false => Box::new(source),
    };
    let mut source = BufReader::new(source);
    let begin = take_begin(&mut source).map_err(failed)?;
    let is_page = begin.last() == Some(&b'<');
    let mut source = Cursor::new(begin).chain(source);
    if !is_page {
        return Ok(Content::Data(Box::new(source)));
    }
    let mut page = Vec::new();
    let end = End(source.read_to_end(&mut page).err());
    let files = html::read(page[..].chain(end)).map_err(|error| Failure::in_file(file, error))?;
    Ok(Content::Page { files, html: page })
}

/// Reads a black box, which has a second file beside this one.
#[cfg(has_black_box)]
fn black_box(file: &Path) -> Result<Content, Failure> {
    if file.as_os_str() == "-" {
        let problem = "a black box is read by the name of its file, not from standard input";
        return Err(Failure::in_file(file, problem));
    }
    unharmed(file, || data_of(&recovered(file)?, file)).map(Content::Box)
}

/// Reads a black box, by one of its two files.
#[cfg(has_black_box)]
pub(crate) fn recovered(file: &Path) -> Result<Recovered, Failure> {
    recover(file).map_err(|problem| Failure::in_file(file, problem))
}

/// Calls `act` on a black box, and returns an error if it panics. The box may be forged, and contain values that no
/// program writes.
#[cfg(has_black_box)]
pub(crate) fn unharmed<T>(
    file: &Path,
    act: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
    std::panic::set_hook(before);
    done.unwrap_or_else(|_| Err(Failure::in_file(file, "it is damaged")))
}

/// Returns the data of a run in a black box, as its outputs would have had it.
#[cfg(has_black_box)]
fn data_of(recovered: &Recovered, file: &Path) -> Result<Vec<Statemap>, Failure> {
    let data = recovered.timeline.to_data();
    let problem = |error: &dyn std::fmt::Display| Failure::in_file(file, error);
    let tasks = data.tasks_to_bytes().map_err(|error| problem(&error))?;
    let workers = data.workers_to_bytes().map_err(|error| problem(&error))?;
    let read = |bytes: Vec<u8>| read(&bytes[..]).map_err(|error| problem(&error));
    Ok(vec![read(tasks)?, read(workers)?])
}

fn open(file: &Path, progress: &Progress) -> Result<Box<dyn Read>, Failure> {
    if file.as_os_str() == "-" {
        progress.begin("reading standard input", None);
        return Ok(Box::new(io::stdin().lock()));
    }
    let source = File::open(file)
        .map_err(|error| Failure::in_file(file, format_args!("can't be opened: {error}")))?;
    let found = source.metadata().ok();
    if found.as_ref().is_some_and(Metadata::is_dir) {
        let example = file.join("tasks.json");
        let problem =
            format!("this is a directory; name the files in it, such as {}", example.display());
        return Err(Failure::in_file(file, problem));
    }
    let length = found.filter(Metadata::is_file).map(|found| found.len());
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    progress.begin(&format!("reading {name}"), length);
    Ok(Box::new(source))
}

/// Takes the first byte that isn't white space, with all before it. A byte order mark counts as white space.
fn take_begin(source: &mut impl BufRead) -> io::Result<Vec<u8>> {
    const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
    let mut begin = Vec::new();
    while let Some(&byte) = source.fill_buf()?.first() {
        begin.push(byte);
        source.consume(1);
        if !byte.is_ascii_whitespace() && !MARK.starts_with(&begin) {
            break;
        }
    }
    Ok(begin)
}

/// Unpacks gzip. Its errors say what to do.
struct Unpacked<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::other("the gzip file is cut off; copy it again")
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                io::Error::other(format!("the gzip file is damaged ({error}); copy it again"))
            }
            _ => error,
        })
    }
}

/// Ends a stream, with an error if reading failed there.
struct End(Option<io::Error>);

impl Read for End {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// All input that was read.
pub(crate) struct Input {
    pub(crate) statemaps: Vec<Statemap>,
    /// The input file of each, as an index: a page has several.
    pub(crate) sources: Vec<usize>,
}

/// Reads all files, and keeps what lies in the window.
pub(crate) fn read_all(
    files: &Files,
    window: WindowArgs,
    progress: &Progress,
) -> Result<Input, Failure> {
    let (mut statemaps, mut sources) = (Vec::with_capacity(files.files.len()), Vec::new());
    for (index, file) in files.files.iter().enumerate() {
        match content(file, progress)? {
            Content::Data(data) => {
                statemaps.push(read(data).map_err(|error| Failure::in_file(file, error))?);
            }
            Content::Page { files, .. } => statemaps.extend(files),
            #[cfg(has_black_box)]
            Content::Box(files) => statemaps.extend(files),
        }
        sources.resize(statemaps.len(), index);
    }
    if window.begin.is_some() || window.duration.is_some() {
        let had_data = has_data(&statemaps);
        statemap::cut(&mut statemaps, window.begin.unwrap_or_default(), window.duration);
        if had_data && !has_data(&statemaps) {
            let names: Vec<_> = files.files.iter().map(|file| display_name(file)).collect();
            return Err(Failure::Problem(format!(
                "{}: there is nothing in this window; --begin counts from the start of the data",
                names.join(", ")
            )));
        }
    }
    Ok(Input { statemaps, sources })
}

fn has_data(statemaps: &[Statemap]) -> bool {
    statemaps.iter().flat_map(|file| &file.entities).any(|entity| !entity.data.is_empty())
}

impl Input {
    /// Returns the names of the input files that these statemaps are from, for messages.
    pub(crate) fn names(&self, files: &Files, statemaps: &[usize]) -> String {
        names(files, statemaps.iter().map(|&statemap| self.sources[statemap]))
    }
}

/// Joins the names of input files; one that is there several times in a row counts once.
pub(crate) fn names(files: &Files, sources: impl Iterator<Item = usize>) -> String {
    let mut names: Vec<_> = sources.map(|source| display_name(&files.files[source])).collect();
    names.dedup();
    names.join(", ")
}
