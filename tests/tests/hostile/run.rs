//! The program `hostile`, recorded and compared with itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::check::{Summary, check};
use tests::child::{Ended, Running, command, folder};

/// A run that is to be made.
pub(crate) struct Run {
    pub(crate) folder: PathBuf,
    way: &'static str,
}

impl Run {
    /// In a folder of its own, on the way `way`.
    pub(crate) fn new(name: &str, way: &'static str) -> Self {
        let parent = concat!(env!("CARGO_TARGET_TMPDIR"), "/hostile");
        Self { folder: folder(parent, name), way }
    }

    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = command(program.as_ref(), &self.folder);
        command.arg(self.way);
        command
    }

    /// Runs it recorded, after `change`, and says how it ended: as it does without us, but for the
    /// lines that are ours.
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

    /// The same, and that its output and its stderr, our lines apart, are the same, too.
    #[track_caller]
    pub(crate) fn is_unharmed(&self, change: impl Fn(&mut Command)) -> Ended {
        let ended = self.ends(change);
        assert!(ended.stdout.ends_with("the last line\n"), "{}", ended.stdout);
        let lines = ended.stderr.lines().filter(|line| !line.starts_with("tokio-statemap:"));
        assert_eq!(lines.collect::<Vec<_>>(), [""; 0], "{}", ended.stderr);
        ended
    }

    /// The file `name`, complete.
    #[track_caller]
    pub(crate) fn file(&self, name: impl AsRef<Path>) -> Summary {
        checked(&self.folder.join(name))
    }
}

/// The file at `path`, complete.
#[track_caller]
pub(crate) fn checked(path: &Path) -> Summary {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    check(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// That there is a line for each of `lines`, which holds these words.
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
