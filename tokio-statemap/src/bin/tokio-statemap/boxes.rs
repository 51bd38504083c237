//! Finds black boxes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio_statemap::__private::{Found, find, folders, owner};

use crate::failure::Failure;

/// Returns the boxes of what is named: of a process, in a folder, or the one that has this file.
pub(crate) fn named(what: &Path) -> Result<Vec<Found>, Failure> {
    let failed = |problem: String| Failure::in_file(what, problem);
    if let Some(pid) = what.to_str().and_then(|text| text.parse().ok()).filter(|_| !what.exists()) {
        let found = of_process(pid);
        return match found.is_empty() {
            true => Err(failed(why_none(pid))),
            false => Ok(found),
        };
    }
    if !what.is_dir() {
        return Ok(vec![Found { pid: None, path: what.to_owned() }]);
    }
    let found = find(what).map_err(|error| failed(format!("can't be read: {error}")))?;
    match found.is_empty() {
        true => Err(failed("there is no black box in this folder".to_owned())),
        false => Ok(found),
    }
}

/// Returns the boxes in the folders where they are by default.
pub(crate) fn all() -> Vec<Found> {
    let mut all = Vec::new();
    for folder in folders() {
        all.extend(find(&folder).unwrap_or_default());
    }
    // Boxes of other users can't be read.
    all.retain(|found| fs::File::open(&found.path).is_ok());
    all
}

/// Returns the boxes that a process has open, through its own view of the file system.
fn of_process(pid: u32) -> Vec<Found> {
    let proc = PathBuf::from(format!("/proc/{pid}"));
    let mut found = Vec::new();
    // A container's root is `/` even from outside. That of `chroot` is a folder, with which the paths begin of what was opened
    // after that.
    let root = fs::read_link(proc.join("root")).unwrap_or_else(|_| "/".into());
    for entry in fs::read_dir(proc.join("fd")).into_iter().flatten().flatten() {
        let Ok(target) = fs::read_link(entry.path()) else { continue };
        let is_first = target.to_str().is_some_and(|path| path.ends_with(".0.box"));
        let below_root = target.strip_prefix(&root).map(|path| proc.join("root").join(path));
        let path = below_root.unwrap_or(target);
        // A child that was forked has its parent's files open.
        if is_first && owner(&path) == Some(pid) {
            found.push(Found { pid: Some(pid), path });
        }
    }
    if found.is_empty() {
        // It may be dead, or not be ours to look into.
        found = all();
        found.retain(|found| found.pid == Some(pid));
    }
    found.sort();
    found
}

fn why_none(pid: u32) -> String {
    let proc = PathBuf::from(format!("/proc/{pid}"));
    let why = match (proc.exists(), is_refused(&proc.join("fd"))) {
        (false, _) => "there is no such process, and no black box of one",
        (true, true) => {
            "this process is another user's, or can't be looked into: ask as its user and group, or name the file of its black box"
        }
        (true, false) => {
            "this process has no black box: it needs `black_box = true`, or TOKIO_STATEMAP_BOX=1"
        }
    };
    why.to_owned()
}

/// Returns whether a process doesn't show what it has open. To root without the capability `SYS_PTRACE`, as containers
/// have it, it shows how many files these are, but not which.
fn is_refused(fds: &Path) -> bool {
    let refused = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    match fs::read_dir(fds) {
        Ok(entries) => entries.flatten().any(|fd| fs::read_link(fd.path()).is_err_and(refused)),
        Err(error) => refused(error),
    }
}

/// Returns when a box was last written to.
pub(crate) fn written(found: &Found) -> Option<SystemTime> {
    let name = found.path.to_str()?;
    let other = name.strip_suffix(".0.box").map(|stem| format!("{stem}.1.box"));
    let times = [Some(name.to_owned()), other].into_iter().flatten();
    times.filter_map(|path| fs::metadata(path).ok()?.modified().ok()).max()
}
