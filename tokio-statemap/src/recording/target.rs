//! An output file, which is written completely or left unchanged.

#[cfg(feature = "html")]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::env;
use super::runtimes::in_file_names;
use super::stream::OutputStream;
use crate::error::Error;
use crate::util::atomic_file::{self, Destination, Missing, Output, Readers};

/// An output file.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The attribute's key for it.
    pub(super) key: &'static str,
    /// The path, as shown to the user.
    pub(super) shown: PathBuf,
    /// The absolute path, independent of later changes to the working directory.
    pub(super) path: PathBuf,
}

impl Target {
    pub(super) fn new(key: &'static str, path: &Path) -> Self {
        let shown = match env::folder() {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        };
        let path = std::path::absolute(&shown).unwrap_or_else(|_| shown.clone());
        Self { key, shown, path }
    }

    /// Returns the target of a later run: `statemap.2.html` for `statemap.html`.
    pub(super) fn numbered(&self, number: u32) -> Self {
        self.with_part(&number.to_string())
    }

    /// Returns the target of one of several runtimes: `tasks.api.json` for `tasks.json`.
    pub(super) fn of_runtime(&self, name: &str) -> Self {
        self.with_part(&in_file_names(name))
    }

    /// Returns the target of a page that is written while the program runs: `shop.dump-2.statemap.html` for
    /// `shop.statemap.html`.
    #[cfg(feature = "html")]
    pub(super) fn of_dump(&self, number: u32) -> Self {
        let Self { key, .. } = *self;
        let of = |path: &Path| {
            let name = path.file_name().and_then(OsStr::to_str);
            match name.and_then(|name| name.strip_suffix(".statemap.html")) {
                Some(stem) => path.with_file_name(format!("{stem}.dump-{number}.statemap.html")),
                None => with_part(path, &format!("dump-{number}")),
            }
        };
        Self { key, shown: of(&self.shown), path: of(&self.path) }
    }

    /// Writes `content`, which does its own buffering, to the page with this number, or with the next one that is free: another
    /// process may write pages there. Returns that number.
    #[cfg(feature = "html")]
    pub(super) fn write_dump(
        &self,
        first: u32,
        content: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<u32, Error> {
        let place = self.of_dump(first);
        let write = || match atomic_file::open(&place.path, Readers::Expect)? {
            // Somebody has put a pipe there.
            Output::Stream(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Output::File(mut file) => {
                content(&mut file)?;
                for number in first..first.saturating_add(MOST_TAKEN) {
                    let path = self.of_dump(number).path;
                    if file.publish_as(path.file_name().unwrap_or_default())? {
                        return Ok(number);
                    }
                }
                Err(io::ErrorKind::AlreadyExists.into())
            }
        };
        write().map_err(|source| place.error(source))
    }

    /// Returns the pages with such names that are there, each with its number and its size in bytes, by their numbers.
    #[cfg(feature = "html")]
    pub(super) fn dumps(&self) -> Vec<(u32, PathBuf, u64)> {
        const NUMBER: &str = "dump-0";
        let mut found = Vec::new();
        let pattern = self.of_dump(0).path;
        let (Some(folder), Some(name)) =
            (pattern.parent(), pattern.file_name().and_then(OsStr::to_str))
        else {
            return found;
        };
        let Some((begin, end)) = name.rsplit_once(NUMBER) else { return found };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(begin)?.strip_suffix(end));
            let number = number.and_then(|number| page_number(number.strip_prefix("dump-")?));
            if let (Some(number), Ok(file)) = (number, entry.metadata()) {
                if file.is_file() {
                    found.push((number, pattern.with_file_name(&name), file.len()));
                }
            }
        }
        crate::util::sort::by_key(&mut found, |(number, ..)| *number);
        found
    }

    fn with_part(&self, part: &str) -> Self {
        let Self { key, .. } = *self;
        Self { key, shown: with_part(&self.shown, part), path: with_part(&self.path, part) }
    }

    /// Returns `true` if it is a pipe, a device, or the like.
    pub(super) fn is_stream(&self) -> bool {
        self.find().is_ok_and(|found| found.is_stream())
    }

    /// Resolves the path and creates missing folders.
    pub(super) fn find(&self) -> Result<Destination, Error> {
        Destination::find(&self.path, Missing::Make).map_err(|source| self.error(source))
    }

    /// Writes `content`, which does its own buffering. On an error the file is unchanged.
    pub(super) fn write(
        &self,
        content: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let write = || match atomic_file::open(&self.path, Readers::Expect)? {
            Output::Stream(stream) => content(&mut OutputStream::new(stream)),
            Output::File(mut file) => {
                content(&mut file)?;
                file.publish()
            }
        };
        write().map_err(|source| self.error(source))
    }

    pub(super) fn error(&self, source: io::Error) -> Error {
        Error::Io { path: Some(self.shown.clone()), source }
    }
}

/// The most numbers that are tried for a page.
#[cfg(feature = "html")]
const MOST_TAKEN: u32 = 1000;

/// Returns the number of a page, written as pages have it. Those of a billion on are somebody else's.
#[cfg(feature = "html")]
fn page_number(text: &str) -> Option<u32> {
    let is_number = text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number && !text.starts_with('0'))
}

/// Returns the path with `part` before the extension.
fn with_part(path: &Path, part: &str) -> PathBuf {
    let mut name = OsString::from(path.file_stem().unwrap_or_default());
    name.push(".");
    name.push(part);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_comes_before_the_extension() {
        for (path, second) in [
            ("statemap.html", "statemap.2.html"),
            ("a.b/shop.statemap.html", "a.b/shop.statemap.2.html"),
            ("/tmp/report", "/tmp/report.2"),
            (".hidden", ".hidden.2"),
        ] {
            assert_eq!(with_part(Path::new(path), "2"), Path::new(second));
        }
    }

    #[cfg(feature = "html")]
    #[test]
    fn dumps_are_beside_the_page() {
        for (page, dump) in [
            ("shop.statemap.html", "shop.dump-7.statemap.html"),
            ("a/page.html", "a/page.dump-7.html"),
            ("a/statemap.html", "a/statemap.dump-7.html"),
            ("page", "page.dump-7"),
        ] {
            assert_eq!(Target::new("html", Path::new(page)).of_dump(7).shown, Path::new(dump));
        }
    }
}
