//! The program `hostile`, recorded and compared with itself.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::check::{Summary, check};
use tests::child::{Ended, Running, command, copy_program, folder};
use tests::page::{self, Page};

/// A run to make.
pub(crate) struct Run {
    pub(crate) folder: PathBuf,
    way: &'static str,
}

impl Run {
    /// In a folder of its own, in the variant `way`.
    pub(crate) fn new(name: &str, way: &'static str) -> Self {
        let parent = concat!(env!("CARGO_TARGET_TMPDIR"), "/hostile");
        Self { folder: folder(parent, name), way }
    }

    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = command(program.as_ref(), &self.folder);
        command.arg(self.way);
        command
    }

    /// The same with a copy of `program`, in a folder where anybody may run it and write: as nobody
    /// if this is the superuser, to whom no limit and no permission applies. The caller removes the
    /// folder.
    pub(crate) fn command_as_nobody(&self, program: &str) -> (Command, PathBuf) {
        let name = Path::new(program).file_name().unwrap();
        let of_process = format!("statemap-{}-{}", name.to_string_lossy(), std::process::id());
        let folder = folder(std::env::temp_dir(), &of_process);
        let copy = folder.join(name);
        copy_program(program, &copy);
        let mut command = self.command(&copy);
        command.current_dir(&folder);
        if is_root() {
            command.uid(65_534).gid(65_534);
        }
        (command, folder)
    }

    /// Runs it recorded, after `change`, and returns how it ended: as without this crate, apart
    /// from this crate's lines.
    #[track_caller]
    pub(crate) fn ends(&self, change: impl Fn(&mut Command)) -> Ended {
        let run = |program: &str| {
            let mut command = self.command(program);
            change(&mut command);
            Running::start(&mut command).end()
        };
        let plain = run(env!("CARGO_BIN_EXE_hostile_plain"));
        let ended = run(env!("CARGO_BIN_EXE_hostile"));
        assert_eq!(ended.status, plain.status, "{}", ended.stderr);
        ended
    }

    /// The same; its stdout and its stderr, apart from this crate's lines, must be the same, too.
    #[track_caller]
    pub(crate) fn is_unharmed(&self, change: impl Fn(&mut Command)) -> Ended {
        let ended = self.ends(change);
        assert!(ended.stdout.ends_with("the last line\n"), "{}", ended.stdout);
        let lines = ended.stderr.lines().filter(|line| !line.starts_with("tokio-statemap:"));
        assert_eq!(lines.collect::<Vec<_>>(), [""; 0], "{}", ended.stderr);
        ended
    }

    /// The page and the SVG, complete, each at its own path.
    #[track_caller]
    pub(crate) fn pictures(&self) -> Page {
        svg(&self.folder.join("statemap.svg"));
        page(&self.folder.join("statemap.html"))
    }

    /// The file `name`, complete.
    #[track_caller]
    pub(crate) fn file(&self, name: impl AsRef<Path>) -> Summary {
        checked(&self.folder.join(name))
    }
}

/// Whether permissions don't apply to this process.
pub(crate) fn is_root() -> bool {
    // SAFETY: it has no precondition.
    unsafe { libc::geteuid() == 0 }
}

/// The page at `path`, complete.
#[track_caller]
pub(crate) fn page(path: &Path) -> Page {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    page::check(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The SVG at `path`, complete.
#[track_caller]
pub(crate) fn svg(path: &Path) {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    page::check_svg(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The file at `path`, complete.
#[track_caller]
pub(crate) fn checked(path: &Path) -> Summary {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    check(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Asserts that there is a message for each of `lines` that contains these words.
#[track_caller]
pub(crate) fn messages(ended: &Ended, lines: &[&[&str]]) {
    let messages = ended.messages();
    assert_eq!(messages.len(), lines.len(), "{messages:?}");
    for (message, words) in messages.iter().zip(lines) {
        for word in *words {
            assert!(message.contains(word), "{word:?} is not in {message:?}");
        }
    }
}
