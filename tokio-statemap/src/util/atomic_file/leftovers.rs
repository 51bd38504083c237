//! Temporary files left by a process that was killed.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use super::place::ResolvedPath;
use crate::sys::folder::{Links, Lock, lock};
use crate::sys::secure::effective_user;

const SUFFIX: &str = ".statemap-tmp";
const RANDOM_DIGITS: usize = 16;

/// Returns an unpredictable hidden name for a file that will be called `name`.
pub(super) fn name_beside(name: &OsStr) -> OsString {
    // The hasher's keys are random numbers from the system.
    let random = RandomState::new().build_hasher().finish();
    let mut hidden = prefix(name);
    hidden.push(format!("{random:0RANDOM_DIGITS$x}{SUFFIX}"));
    hidden
}

fn prefix(name: &OsStr) -> OsString {
    // Some file systems limit names to 143 bytes.
    const MAX_PREFIX: usize = 100;
    let name = name.as_bytes();
    let mut prefix = OsString::from(".");
    prefix.push(OsStr::from_bytes(&name[..name.len().min(MAX_PREFIX)]));
    prefix.push(".");
    prefix
}

fn is_beside(hidden: &OsStr, name: &OsStr) -> bool {
    let middle = hidden.as_bytes().strip_prefix(prefix(name).as_bytes());
    let random = middle.and_then(|middle| middle.strip_suffix(SUFFIX.as_bytes()));
    random.is_some_and(|random| {
        random.len() == RANDOM_DIGITS && random.iter().all(u8::is_ascii_hexdigit)
    })
}

/// Removes the temporary files of earlier writers of `place` that belong to this user, or to the
/// owner of the existing file, and that no other process is writing.
pub(super) fn remove(place: &ResolvedPath) {
    // A relative path starts in the working directory.
    let folder = std::path::Path::new(".").join(&place.folder_path);
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    for hidden in names.filter(|hidden| is_beside(hidden, &place.name)) {
        let flags = libc::O_RDONLY | libc::O_NONBLOCK;
        let Ok(file) = place.folder.file(&hidden, flags, 0, Links::Refuse) else { continue };
        let is_owner =
            |user| user == effective_user() || place.entry.is_some_and(|entry| user == entry.user);
        let is_ours = file
            .metadata()
            .is_ok_and(|found| found.is_file() && is_owner(found.uid()) && found.nlink() == 1);
        if is_ours && lock(&file, Lock::Shared).is_ok() {
            let _ = place.folder.remove(&hidden);
        }
    }
}
