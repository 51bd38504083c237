//! Resolves a path, step by step.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::{Missing, Readers, no_file_name};
use crate::sys::folder::{FileStatus, Folder, Links};
use crate::sys::secure::effective_user;

/// A name in an open folder. All links that lead there are followed.
#[derive(Debug)]
pub(super) struct ResolvedPath {
    pub(super) folder: Folder,
    /// The folder's path when it was opened.
    pub(super) folder_path: PathBuf,
    pub(super) name: OsString,
    /// The existing directory entry.
    pub(super) entry: Option<FileStatus>,
    /// `true` if the entry refers to a descriptor.
    is_descriptor: bool,
}

/// A path lookup in progress. The kernel would do it in one system call, but wouldn't report the owners of
/// the links that it follows.
struct PathWalk {
    folder: Folder,
    path: PathBuf,
    /// The remaining steps. The last step of the vector is the next one.
    rest: Vec<Step>,
    links: usize,
}

#[derive(Debug)]
enum Step {
    Root,
    Up,
    Name(OsString),
}

impl ResolvedPath {
    pub(super) fn find(path: &Path, missing: Missing) -> io::Result<Self> {
        path.file_name().ok_or_else(no_file_name)?;
        let mut walk = PathWalk::start(path)?;
        loop {
            match walk.rest.pop() {
                // The target of a link can be a folder.
                None => return Err(io::ErrorKind::IsADirectory.into()),
                Some(Step::Root) => walk.root()?,
                Some(Step::Up) => walk.up()?,
                Some(Step::Name(name)) if !walk.rest.is_empty() => walk.down(&name, missing)?,
                Some(Step::Name(name)) => {
                    if let Some(name) = walk.last(name)? {
                        return Self::new(walk, name);
                    }
                }
            }
        }
    }

    fn new(walk: PathWalk, name: OsString) -> io::Result<Self> {
        let PathWalk { folder, path: folder_path, .. } = walk;
        let entry = folder.entry(&name)?;
        let is_descriptor = entry.is_some()
            && (folder.is_procfs()
                || folder_path == Path::new("/dev/fd")
                || folder_path == Path::new("/dev") && (name == "stdout" || name == "stderr"));
        if let Some(entry) = entry {
            if entry.is_folder() && !is_descriptor {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            refuse_planted(&folder, &folder_path, &name, entry)?;
        }
        Ok(Self { folder, folder_path, name, entry, is_descriptor })
    }

    pub(super) fn real_path(&self) -> PathBuf {
        self.folder_path.join(&self.name)
    }

    pub(super) fn is_stream(&self) -> bool {
        self.is_descriptor || self.entry.is_some_and(|entry| !entry.is_file())
    }

    /// Returns the current directory entry, if it may be replaced.
    pub(super) fn current_entry(&self) -> io::Result<Option<FileStatus>> {
        let entry = self.folder.entry(&self.name)?;
        if let Some(entry) = entry {
            refuse_planted(&self.folder, &self.folder_path, &self.name, entry)?;
        }
        Ok(entry)
    }

    /// Opens the stream. Returns `None` if the entry is no longer one.
    pub(super) fn open_stream(&self, readers: Readers) -> io::Result<Option<File>> {
        let wait = if readers == Readers::Expect { libc::O_NONBLOCK } else { 0 };
        let links = if self.is_descriptor { Links::Follow } else { Links::Refuse };
        // A terminal must not become the controlling terminal.
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_NOCTTY | wait;
        let file = match self.folder.file(&self.name, flags, 0, links) {
            // With `Readers::Await` this error means a socket, which can't be opened.
            Err(error)
                if error.raw_os_error() == Some(libc::ENXIO) && readers == Readers::Expect =>
            {
                return Err(io::Error::new(io::ErrorKind::BrokenPipe, "it has no reader"));
            }
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => return Ok(None),
            opened => opened?,
        };
        if !self.is_descriptor {
            let found = file.metadata()?;
            if found.is_file() {
                return Ok(None);
            }
            let entry = FileStatus { mode: found.mode(), user: found.uid(), group: found.gid() };
            refuse_planted(&self.folder, &self.folder_path, &self.name, entry)?;
        }
        Ok(Some(file))
    }
}

impl PathWalk {
    fn start(path: &Path) -> io::Result<Self> {
        let folder = Folder::start(path.is_absolute())?;
        let mut walk = Self { folder, path: PathBuf::new(), rest: Vec::new(), links: 0 };
        walk.follow(path);
        Ok(walk)
    }

    /// Prepends `path` to the remaining steps.
    fn follow(&mut self, path: &Path) {
        for component in path.components().rev() {
            self.rest.push(match component {
                Component::Prefix(_) | Component::RootDir => Step::Root,
                Component::CurDir => continue,
                Component::ParentDir => Step::Up,
                Component::Normal(name) => Step::Name(name.to_owned()),
            });
        }
    }

    fn root(&mut self) -> io::Result<()> {
        self.folder = Folder::start(true)?;
        self.path = "/".into();
        Ok(())
    }

    fn up(&mut self) -> io::Result<()> {
        self.folder = self.folder.folder(OsStr::new(".."), Links::Refuse)?;
        // `path` contains no links, but may be relative to a working directory.
        if matches!(self.path.components().next_back(), None | Some(Component::ParentDir)) {
            self.path.push("..");
        } else {
            self.path.pop();
        }
        Ok(())
    }

    /// Enters the folder `name`, or the one that the link `name` leads to.
    fn down(&mut self, name: &OsStr, missing: Missing) -> io::Result<()> {
        let opened = match self.folder.folder(name, Links::Refuse) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::Make => {
                match self.folder.make(name, 0o777) {
                    // Processes that run in parallel create the same folders.
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                    _ => self.folder.folder(name, Links::Refuse),
                }
            }
            opened => opened,
        };
        let error = match opened {
            Ok(folder) => {
                self.path.push(name);
                self.folder = folder;
                return Ok(());
            }
            Err(error) => error,
        };
        let Some(entry) = self.folder.entry(name)?.filter(FileStatus::is_link) else {
            return Err(error);
        };
        if self.folder.is_procfs() {
            // The text of a link such as `/proc/self/cwd` may be relative to another root.
            self.folder = self.folder.folder(name, Links::Follow)?;
            self.path.push(name);
            return Ok(());
        }
        self.follow_link(name, entry)
    }

    /// Takes the last step. Returns the name, unless it is a link, which is followed.
    fn last(&mut self, name: OsString) -> io::Result<Option<OsString>> {
        match self.folder.entry(&name)? {
            Some(entry) if entry.is_link() && !self.folder.is_procfs() => {
                self.follow_link(&name, entry).map(|()| None)
            }
            _ => Ok(Some(name)),
        }
    }

    fn follow_link(&mut self, name: &OsStr, entry: FileStatus) -> io::Result<()> {
        const MAX_LINKS: usize = 40;
        refuse_planted(&self.folder, &self.path, name, entry)?;
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        // Only the owners of the link and of the folder can replace the link in between.
        let text = self.folder.link(name)?;
        let ends_in_folder = text.as_bytes().ends_with(b"/");
        if ends_in_folder && self.rest.is_empty() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.follow(Path::new(&text));
        Ok(())
    }
}

/// Returns an error if `entry` is in a sticky folder that everybody may write to, such as `/tmp`,
/// and is owned by neither this user nor the folder's owner: following or writing it could do what
/// its owner wants.
fn refuse_planted(folder: &Folder, path: &Path, name: &OsStr, entry: FileStatus) -> io::Result<()> {
    let folder = folder.itself()?;
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    let sticky_and_writable = u32::from(libc::S_ISVTX | libc::S_IWOTH);
    let is_shared = folder.mode & sticky_and_writable == sticky_and_writable;
    if !is_shared || entry.user == effective_user() || entry.user == folder.user {
        return Ok(());
    }
    let what = match () {
        () if entry.is_link() => "link",
        () if entry.is_file() => "file",
        () => "pipe or device",
    };
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{} is another user's {what} in a folder where everybody may write: it is left alone; \
             write to another folder, or have it removed",
            path.join(name).display()
        ),
    ))
}
