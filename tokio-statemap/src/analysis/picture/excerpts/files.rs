//! Finds source files.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::util::source_path::shown;

/// The places of source files, for [`Picture::with_source`](super::Picture::with_source).
#[derive(Clone, Debug)]
pub struct SourceFiles {
    root: Root,
    /// `true` if absolute paths are used as they are.
    is_own: bool,
}

/// The folder that relative paths start from.
#[derive(Clone, Debug)]
enum Root {
    Folder(PathBuf),
    /// The folder in which a package was compiled: its own or one around it. The second path is that of a file of the
    /// package, relative to the workspace.
    OfPackage(&'static str, &'static str),
    Unknown,
}

impl SourceFiles {
    /// The source files of this program. Relative paths start from `folder`, which has its workspace. Absolute paths,
    /// which dependencies have, are used as they are.
    ///
    /// A file that is newer than the program's own is marked as changed.
    pub fn of_this_program(folder: impl Into<PathBuf>) -> Self {
        Self { root: Root::Folder(folder.into()), is_own: true }
    }

    /// The source files of a program whose package was compiled in the folder `package`. The workspace is found with
    /// the help of `file`, the path of a file of the package.
    pub(crate) fn of_package(package: &'static str, file: &'static str) -> Self {
        Self { root: Root::OfPackage(package, file), is_own: true }
    }

    /// Only the source files of dependencies, which have absolute paths.
    pub(crate) fn of_dependencies() -> Self {
        Self { root: Root::Unknown, is_own: true }
    }

    /// The source files in `folder`, for data that may be from elsewhere. Nothing outside of the folder is read, unless
    /// a link in it leads there. An absolute path is looked for from its package on.
    ///
    /// A file that is newer than the end of the recording is marked as changed.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { root: Root::Folder(folder.into()), is_own: false }
    }

    /// Looks for the workspace.
    pub(super) fn found(self) -> Self {
        let Root::OfPackage(package, file) = self.root else { return self };
        let package = Path::new(package);
        for folder in package.ancestors() {
            let inner = package.strip_prefix(folder);
            // The file's name alone would fit any package.
            let is_it = inner.is_ok_and(|inner| Path::new(file).starts_with(inner))
                && !Path::new(file).is_absolute()
                && folder.join(file).is_file();
            if is_it {
                return Self { root: Root::Folder(folder.into()), ..self };
            }
        }
        Self { root: Root::Unknown, ..self }
    }

    /// Returns the time after which a file is newer than the recording, which ended at `recorded`; `None` if that isn't
    /// known.
    pub(super) fn made(&self, recorded: Option<SystemTime>) -> Option<SystemTime> {
        if !self.is_own {
            return recorded;
        }
        // The link leads to the program even if another file has its name now.
        let link = Path::new("/proc/self/exe");
        let program =
            if cfg!(target_os = "linux") { link.into() } else { std::env::current_exe().ok()? };
        fs::metadata(program).ok()?.modified().ok()
    }

    /// Opens the file of a path, if it is a regular file that can be read.
    pub(super) fn open(&self, path: &str) -> Option<File> {
        for place in self.places(path) {
            let file = open_regular(&place);
            if file.is_some() {
                return file;
            }
        }
        None
    }

    /// Returns the places where the file of a path may be.
    fn places(&self, path: &str) -> Vec<PathBuf> {
        let is_absolute = path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':');
        let folder = match &self.root {
            Root::Folder(folder) if self.is_own => return vec![folder.join(path)],
            Root::Folder(folder) => folder,
            _ if is_absolute => return vec![path.into()],
            _ => return Vec::new(),
        };
        let mut inside = Vec::new();
        if !is_absolute {
            inside.push(path.replace('\\', "/"));
        } else {
            let shown = shown(path).into_owned();
            // The folder may be the package's own.
            if let Some((own, within)) = shown.split_once('/') {
                let folder = folder.canonicalize().unwrap_or_default();
                if folder.file_name().is_some_and(|name| name == own) {
                    inside.push(within.to_owned());
                }
            }
            inside.push(shown);
        }
        let mut places = Vec::new();
        for path in inside {
            if path.split('/').all(|name| !name.is_empty() && name != ".." && !name.contains(':')) {
                places.push(folder.join(path));
            }
        }
        places
    }
}

/// Opens a file unless it is a device, a pipe, or anything else that may keep a reader waiting.
fn open_regular(path: &Path) -> Option<File> {
    // Opening a device may have an effect, so the path is checked before. It may lead to another file by then, so the
    // opened file is checked, too.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = options.open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}
