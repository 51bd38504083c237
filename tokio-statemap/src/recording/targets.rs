//! The output files of a run, each at its own path.

use std::path::PathBuf;
use std::sync::Mutex;

use super::path::Names;
use super::target::Target;
use crate::error::Error;
use crate::util::atomic_file::Destination;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The files used by the keys of one run.
#[derive(Debug)]
pub(super) struct Targets<'a> {
    names: &'a Names,
    used: Vec<(&'static str, PathBuf)>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(names: &'a Names) -> Self {
        Self { names, used: Vec::new() }
    }

    /// Resolves the file of `key`, if a path is given. Creates missing folders, and warns if the
    /// file can't be written or, unless `is_traced`, will be empty.
    pub(super) fn prepare(
        &mut self,
        key: &'static str,
        path: Option<PathBuf>,
        is_traced: bool,
    ) -> Option<Target> {
        let path = self.names.fill_in(&path?);
        let target = Target::new(key, &path);
        let found = target.find();
        if let Some(file) = file(&target, &found) {
            if let Some((first, _)) = self.used.iter().find(|(_, used)| *used == file) {
                warn(format_args!(
                    "`{key}` is not written: {} is the file of `{first}`",
                    target.shown.display()
                ));
                return None;
            }
            self.used.push((key, file));
        }
        if !is_traced {
            warn(format_args!("the file of `{key}` will be empty: `trace` excludes its data"));
        }
        let (target, found) = unused_target(target, found);
        let checked = found.and_then(|found| found.check().map_err(|source| target.error(source)));
        if let Err(error) = checked {
            warn(format_args!("`{key}` can't be written: {error}"));
        }
        Some(target)
    }
}

/// Returns the file that `target` resolves to; `None` for a stream, which several outputs may
/// share.
fn file(target: &Target, found: &Result<Destination, Error>) -> Option<PathBuf> {
    match found {
        Ok(found) if found.is_stream() => None,
        Ok(found) => Some(found.real_path()),
        Err(_) => Some(target.path.clone()),
    }
}

/// The files of all runs in this process, sorted, and how often each path was requested.
static USED: Mutex<Used> = Mutex::new((Vec::new(), Vec::new()));

type Used = (Vec<PathBuf>, Vec<(PathBuf, u32)>);

/// Returns `target`, or a numbered one if another run in this process uses its file: the function
/// may be called twice, and two functions may have the same path.
fn unused_target(
    mut target: Target,
    mut found: Result<Destination, Error>,
) -> (Target, Result<Destination, Error>) {
    let asked = target.clone();
    while let Some(file) = file(&target, &found) {
        let mut used = lock(&USED);
        let (files, counts) = &mut *used;
        if let Err(at) = files.binary_search(&file) {
            files.insert(at, file);
            break;
        }
        let known = counts.iter().position(|(path, _)| *path == asked.path);
        let at = known.unwrap_or_else(|| {
            counts.push((asked.path.clone(), 1));
            counts.len() - 1
        });
        counts[at].1 += 1;
        target = asked.numbered(counts[at].1);
        drop(used);
        found = target.find();
    }
    (target, found)
}
