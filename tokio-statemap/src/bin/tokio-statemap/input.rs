//! Reads the files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use tokio_statemap::html;
use tokio_statemap::statemap;
use tokio_statemap::statemap::read::{Statemap, read};

use crate::args::{Files, WindowArgs};
use crate::failure::{Failure, name};
use crate::gzip::{self, Counted};
use crate::progress::Progress;

/// A file that is read; if it is compressed with gzip, what is in it.
pub(crate) struct Input<'a> {
    source: Box<dyn Read + 'a>,
    /// Whether it is HTML or the like, and no JSON.
    is_page: bool,
}

impl<'a> Input<'a> {
    /// Opens a file, or standard input.
    pub(crate) fn open(file: &Path, progress: &'a mut Progress) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            let problem = match error.kind() {
                io::ErrorKind::IsADirectory => "this is a directory; name a file".to_owned(),
                _ => format!("reading failed: {error}"),
            };
            Failure::of(file, problem)
        };
        let mut source = BufReader::new(Counted::new(source(file, progress)?, progress));
        let first = peek(&mut source, 6).map_err(failed)?;
        if let Some(of) = compressed_by(&first) {
            let problem =
                format!("this is compressed by {of}; unpack it first (gzip is understood)");
            return Err(Failure::of(file, problem));
        }
        let is_gzip = first.starts_with(&gzip::MAGIC);
        let source = Cursor::new(first).chain(source);
        let source: Box<dyn Read + 'a> = match is_gzip {
            true => Box::new(gzip::Unpacked::new(source)),
            false => Box::new(source),
        };
        let mut source = BufReader::new(source);
        let begin = begin(&mut source).map_err(failed)?;
        let is_page = begin.last() == Some(&b'<');
        Ok(Self { source: Box::new(Cursor::new(begin).chain(source)), is_page })
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.read(buffer)
    }
}

/// Opens what is to be read.
fn source(file: &Path, progress: &mut Progress) -> Result<Box<dyn Read>, Failure> {
    if file.as_os_str() == "-" {
        progress.begin("reading standard input", None);
        return Ok(Box::new(io::stdin().lock()));
    }
    let source = File::open(file)
        .map_err(|error| Failure::of(file, format_args!("can't be opened: {error}")))?;
    let found = source.metadata().ok();
    if found.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        let example = file.join("tasks.json");
        let problem =
            format!("this is a directory; name the files in it, such as {}", example.display());
        return Err(Failure::of(file, problem));
    }
    let length = found.filter(std::fs::Metadata::is_file).map(|found| found.len());
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    progress.begin(&format!("reading {name}"), length);
    Ok(Box::new(source))
}

/// Takes up to so many bytes.
fn peek(source: &mut impl Read, bytes: u64) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    source.take(bytes).read_to_end(&mut first)?;
    Ok(first)
}

/// Takes what comes before the first byte that isn't white space, and that one.
fn begin(source: &mut impl BufRead) -> io::Result<Vec<u8>> {
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

/// What compressed a file that begins so, unless that is gzip.
fn compressed_by(first: &[u8]) -> Option<&'static str> {
    let all: [(&[u8], _); 4] = [
        (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
        (b"BZh", "bzip2"),
        (b"PK\x03\x04", "zip"),
    ];
    all.into_iter().find(|(magic, _)| first.starts_with(magic)).map(|(_, name)| name)
}

/// What comes behind all that could be read: nothing, or an error.
struct End(Option<io::Error>);

impl Read for End {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// What a file has.
pub(crate) enum Content<'a> {
    /// Statemap data, still to be read.
    Data(Input<'a>),
    /// What a page was made from.
    Page {
        files: Vec<Statemap>,
        /// Whether it shows lines of source, which are in none of these.
        shows_source: bool,
    },
}

/// Opens one file of data, or reads a page.
pub(crate) fn content<'a>(file: &Path, progress: &'a mut Progress) -> Result<Content<'a>, Failure> {
    let mut input = Input::open(file, progress)?;
    if !input.is_page {
        return Ok(Content::Data(input));
    }
    let mut page = Vec::new();
    let end = End(input.read_to_end(&mut page).err());
    let files = html::read(page[..].chain(end)).map_err(|error| Failure::of(file, error))?;
    // In no other place are quotation marks that stand so.
    let source = b"\"source\":{\"all\":[[";
    let shows_source = page.windows(source.len()).any(|part| part == source);
    Ok(Content::Page { files, shows_source })
}

/// What was read, and of which of the files each is: a page has several.
pub(crate) struct AllRead {
    pub(crate) statemaps: Vec<Statemap>,
    /// As indices.
    pub(crate) of: Vec<usize>,
}

/// Reads all files, and leaves of them what lies in the window.
pub(crate) fn read_all(
    files: &Files,
    window: WindowArgs,
    progress: &mut Progress,
) -> Result<AllRead, Failure> {
    let (mut statemaps, mut of) = (Vec::with_capacity(files.files.len()), Vec::new());
    for (index, file) in files.files.iter().enumerate() {
        match content(file, progress)? {
            Content::Data(input) => {
                statemaps.push(read(input).map_err(|error| Failure::of(file, error))?);
            }
            Content::Page { files, .. } => statemaps.extend(files),
        }
        of.resize(statemaps.len(), index);
    }
    if window.begin.is_some() || window.duration.is_some() {
        let was_there = has_data(&statemaps);
        statemap::cut(&mut statemaps, window.begin.unwrap_or_default(), window.duration);
        if was_there && !has_data(&statemaps) {
            let names: Vec<_> = files.files.iter().map(|file| name(file)).collect();
            return Err(Failure::Bad(format!(
                "{}: there is nothing in this window; --begin counts from the start of the data",
                names.join(", ")
            )));
        }
    }
    Ok(AllRead { statemaps, of })
}

fn has_data(statemaps: &[Statemap]) -> bool {
    statemaps.iter().flat_map(|file| &file.entities).any(|entity| !entity.data.is_empty())
}
