//! Finds, makes, and removes the files of boxes.

use std::fs::{self, DirEntry, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::choices::BlackBox;
use crate::sys::{file_lock, secure};
use crate::util::sync::lock;

/// The beginning and the end of the names of all files of boxes.
const BEGINS: &str = "tokio-statemap.";
const ENDS: [&str; 2] = [".0.box", ".1.box"];

/// The boxes of dead processes of this user that are kept in a folder.
const KEPT: usize = 2;

/// An empty box that is younger may be about to be locked.
const YOUNG: Duration = Duration::from_secs(10);

/// The permission that the first file of a box has until a later process of the program has found it.
const WRITABLE: u32 = 0o200;

/// The boxes that this process made. A look at one of their files would end its lock.
static OWN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The two files of a box, which are written in turn. The first is locked while the process lives.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) files: [File; 2],
    pub(crate) paths: [PathBuf; 2],
}

/// A box that an earlier process of this program has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// The program's name in names of files.
    pub(crate) program: String,
    /// The process, as it saw its own id.
    pub(crate) pid: u32,
    /// The path of its first file.
    pub(crate) path: PathBuf,
}

/// Creates the files of a box, and removes the boxes of dead processes but the newest. Returns those of this program
/// that are still there and weren't returned before, the newest last.
pub(super) fn create(choice: &BlackBox) -> io::Result<(Files, Vec<Left>)> {
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    let program = program();
    for folder in folders(choice) {
        match create_in(&folder, &program) {
            Ok(files) => {
                // If that fails, there is nothing to say.
                let left = remove_old(&folder, &program).unwrap_or_default();
                return Ok((files, left));
            }
            Err(error) => {
                failed = io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
            }
        }
    }
    Err(failed)
}

/// Returns the folders in which a box may be, the best first. Memory comes before disks: it is fast, and it is gone with
/// the machine.
pub(super) fn folders(choice: &BlackBox) -> Vec<PathBuf> {
    match choice {
        BlackBox::Off => Vec::new(),
        BlackBox::Folder(folder) => vec![folder.clone()],
        BlackBox::On => {
            let of_user = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
            let of_user = of_user.filter(|folder| folder.is_absolute());
            of_user.into_iter().chain([PathBuf::from("/dev/shm")]).collect()
        }
    }
}

/// Returns the program's name, as it is in the names of files.
fn program() -> String {
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    // A program may be replaced while it runs.
    let name = name.strip_suffix(" (deleted)").unwrap_or(&name);
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.chars().filter(is_plain).take(64).collect()
}

/// Forgets a box that was made by this process, as its files were removed.
pub(super) fn forget(first: &Path) {
    let name = first.file_name().unwrap_or_default().to_string_lossy();
    lock(&OWN).retain(|stem| name.strip_suffix(ENDS[0]) != Some(stem));
}

fn create_in(folder: &Path, name: &str) -> io::Result<Files> {
    static BOXES: AtomicU32 = AtomicU32::new(0);
    // Processes of several containers may have the same id, and share the folder.
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let (pid, number) = (std::process::id(), BOXES.fetch_add(1, Ordering::Relaxed));
    let stem = format!("{BEGINS}{name}.{pid}.{now_ms:x}-{number}");
    // The program may change its working directory.
    let folder = std::path::absolute(folder)?;
    let paths = ENDS.map(|end| folder.join(format!("{stem}{end}")));
    let open = |path: &Path| {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)
    };
    let first = open(&paths[0])?;
    let second = open(&paths[1]).inspect_err(|_| _ = fs::remove_file(&paths[0]))?;
    lock(&OWN).push(stem);
    file_lock::lock(&first);
    Ok(Files { files: [first, second], paths })
}

/// Removes the boxes of dead processes of this user, but the newest two. Returns those of the program that are still
/// there, and weren't returned before.
fn remove_old(folder: &Path, program: &str) -> io::Result<Vec<Left>> {
    let mut dead = Vec::new();
    for entry in fs::read_dir(folder)? {
        let Ok(entry) = entry else { continue };
        let Some(stem) = stem(&entry) else { continue };
        let Ok(found) = entry.metadata() else { continue };
        let is_own = lock(&OWN).contains(&stem);
        if is_own || !found.is_file() || found.uid() != secure::effective_user() {
            continue;
        }
        let is_young = found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age < YOUNG));
        // Its process may not have locked it yet.
        let is_new = found.len() == 0 && is_young && has_process(&stem);
        if !is_new && lives(&entry.path()) == Some(false) {
            let files =
                ENDS.map(|end| fs::symlink_metadata(folder.join(format!("{stem}{end}"))).ok());
            let bytes: u64 = files.iter().flatten().map(Metadata::len).sum();
            let times = files.map(|found| found.map(|found| (found.mtime(), found.mtime_nsec())));
            let is_said = bytes == 0 || found.mode() & WRITABLE == 0;
            dead.push((times.into_iter().max(), stem, is_said));
        }
    }
    dead.sort();
    let kept = dead.split_off(dead.len().saturating_sub(KEPT));
    for (_, stem, _) in dead {
        for end in ENDS {
            let _ = fs::remove_file(folder.join(format!("{stem}{end}")));
        }
    }
    let mut left = Vec::new();
    for (_, stem, _) in kept.into_iter().filter(|(.., is_said)| !is_said) {
        let path = std::path::absolute(folder)?.join(format!("{stem}{}", ENDS[0]));
        let Some(pid) = pid_of(&stem, program) else { continue };
        // It can't be marked on a file system without permissions. Then it is returned each time.
        let _ = fs::set_permissions(&path, Permissions::from_mode(0o600 & !WRITABLE));
        left.push(Left { program: program.to_owned(), pid, path });
    }
    Ok(left)
}

/// Returns whether there is a process with the id in the name of a box.
fn has_process(stem: &str) -> bool {
    let pid = stem.rsplit('.').nth(1);
    pid.is_some_and(|pid| Path::new("/proc").join(pid).exists())
}

/// Returns the process of a box of this program, by the name of the box.
fn pid_of(stem: &str, program: &str) -> Option<u32> {
    let rest = stem.strip_prefix(BEGINS)?.strip_prefix(program)?.strip_prefix('.')?;
    let (pid, id) = rest.split_once('.')?;
    if id.contains('.') { None } else { pid.parse().ok() }
}

/// Returns the name of a box without its end, if the entry is the first file of one.
pub(super) fn stem(entry: &DirEntry) -> Option<String> {
    let name = entry.file_name().into_string().ok()?;
    let stem = name.strip_suffix(ENDS[0]).filter(|stem| stem.starts_with(BEGINS))?;
    Some(stem.to_owned())
}

/// Returns whether the process that writes the box of which `path` is a file lives; `None` if that can't be known.
pub(crate) fn lives(path: &Path) -> Option<bool> {
    owner(path).map(|owner| owner.is_some())
}

/// Returns the process that writes the box of which `path` is a file, as this process sees its id, if it lives; `None` if
/// that can't be known.
pub(super) fn owner(path: &Path) -> Option<Option<u32>> {
    let [first, _] = paths(path)?;
    file_lock::owner(&open(&first).ok()?)
}

/// Opens a file that may have been made by somebody else. A pipe isn't waited for, and a link isn't followed.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    File::options().read(true).custom_flags(flags).open(path)
}

/// Returns the paths of both files of a box, by that of one of them.
pub(crate) fn paths(path: &Path) -> Option<[PathBuf; 2]> {
    let name = path.file_name()?.to_str()?;
    let stem = ENDS.iter().find_map(|end| name.strip_suffix(end))?;
    Some(ENDS.map(|end| path.with_file_name(format!("{stem}{end}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_of_a_program_by_its_name() {
        let pid = |stem| pid_of(stem, "shop");
        assert_eq!(pid("tokio-statemap.shop.812.18c-0"), Some(812));
        assert_eq!(pid("tokio-statemap.shop-2.812.18c-0"), None);
        assert_eq!(pid("tokio-statemap.shop.x.812.18c-0"), None);
        assert_eq!(pid("tokio-statemap.shop.812"), None);
        assert_eq!(pid("shop.812.18c-0"), None);
    }
}
