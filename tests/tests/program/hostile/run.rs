//! Runs the program `hostile`, recorded and not.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::check::Summary;
use tests::child::{Ended, Running, command, copy_program};
use tests::files::{self, folder};
use tests::page::Page;

/// A run in a folder of its own.
pub(crate) struct Run {
    pub(crate) folder: PathBuf,
    way: &'static str,
}

impl Run {
    /// Prepares a run in the variant `way`, in a folder `name`.
    pub(crate) fn new(name: &str, way: &'static str) -> Self {
        let parent = concat!(env!("CARGO_TARGET_TMPDIR"), "/hostile");
        Self { folder: folder(parent, name), way }
    }

    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = command(program.as_ref(), &self.folder);
        command.arg(self.way);
        command
    }

    /// Returns a command for a copy of `program`, and its folder, which the caller removes. Anybody may run the program and
    /// write there.
    ///
    /// If the tests run as the superuser, to whom no limit and no permission applies, the program runs as nobody.
    pub(crate) fn command_as_nobody(&self, program: &str) -> (Command, PathBuf) {
        let name = Path::new(program).file_name().unwrap();
        let unique = format!("statemap-{}-{}", name.to_string_lossy(), std::process::id());
        let folder = folder(std::env::temp_dir(), &unique);
        let copy = folder.join(name);
        copy_program(program, &copy);
        let mut command = self.command(&copy);
        command.current_dir(&folder);
        if is_root() {
            command.uid(65_534).gid(65_534);
        }
        (command, folder)
    }

    /// Runs the program without and with recording, both changed by `change`. Asserts that they end in the same way, and
    /// returns how the recorded one ended.
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

    /// Does the same, and asserts that the program ran to its end and printed nothing on stderr but this crate's messages.
    #[track_caller]
    pub(crate) fn is_unharmed(&self, change: impl Fn(&mut Command)) -> Ended {
        let ended = self.ends(change);
        assert!(ended.stdout.ends_with("the last line\n"), "{}", ended.stdout);
        let lines = ended.stderr.lines().filter(|line| !line.starts_with("tokio-statemap:"));
        assert_eq!(lines.collect::<Vec<_>>(), [""; 0], "{}", ended.stderr);
        ended
    }

    /// Checks that the page and the SVG are complete, and returns the page.
    #[track_caller]
    pub(crate) fn pictures(&self) -> Page {
        files::pictures(&self.folder)
    }

    /// Checks that the data file `name` is complete, and returns its content.
    #[track_caller]
    pub(crate) fn file(&self, name: impl AsRef<Path>) -> Summary {
        files::data(self.folder.join(name))
    }
}

/// Returns whether this process may do anything, whatever the permissions.
pub(crate) fn is_root() -> bool {
    // SAFETY: The call has no precondition.
    unsafe { libc::geteuid() == 0 }
}

/// Asserts that there is one message for each of `lines`, and that it contains these words.
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
