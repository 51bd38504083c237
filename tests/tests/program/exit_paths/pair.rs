//! Compares a recorded program, under the attribute and with a runtime that is built by hand, with the same program under
//! Tokio's attribute.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use tests::check::Summary;
use tests::child::{Ended, Running, command};
use tests::files::{data, folder, names_in, pictures};

/// Two commands for the same program.
pub(crate) struct Pair {
    observed: Command,
    plain: Command,
    folder: PathBuf,
    /// The later runs in the process, by the suffix of their files' names.
    later: Option<&'static str>,
}

const STILL_RUN: &str =
    "tokio-statemap: threads of a runtime still run as its recording is dropped";

/// The result of the recorded program.
pub(crate) struct Observed {
    pub(crate) ended: Ended,
    pub(crate) tasks: Summary,
    pub(crate) workers: Summary,
}

/// Pairs the binaries `$name` and `$name_plain`, in the variant `$way`.
macro_rules! pair {
    ($name:literal, $way:literal) => {
        crate::exit_paths::pair::Pair::new(
            env!(concat!("CARGO_BIN_EXE_", $name)),
            env!(concat!("CARGO_BIN_EXE_", $name, "_plain")),
            concat!($name, "-", $way),
            $way,
        )
    };
}

/// Pairs the two modes of the binary `either`, in the variant `$way`.
macro_rules! either {
    ($way:literal) => {
        crate::exit_paths::pair::Pair::in_modes(env!("CARGO_BIN_EXE_either"), $way)
    };
}

pub(crate) use {either, pair};

impl Pair {
    /// Pairs two programs in the variant `way`, in a folder that begins with `name`.
    pub(crate) fn new(observed: &str, plain: &str, name: &str, way: &str) -> Self {
        // Tests that run in parallel may run the same program in the same variant.
        static PAIRS: AtomicUsize = AtomicUsize::new(0);
        let name = format!("{name}-{}", PAIRS.fetch_add(1, Ordering::Relaxed));
        let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/exit_paths"), &name);
        let in_variant = |program: &str| {
            let mut command = command(program, &folder);
            command.arg(way);
            command
        };
        Self { observed: in_variant(observed), plain: in_variant(plain), folder, later: None }
    }

    pub(crate) fn in_modes(program: &str, way: &str) -> Self {
        let mut pair = Self::new(program, program, &format!("either-{way}"), way);
        for (command, mode) in [(&mut pair.observed, "observed"), (&mut pair.plain, "plain")] {
            *command = self::command(program, &pair.folder);
            command.args([mode, way]);
        }
        pair
    }

    /// Changes both commands.
    pub(crate) fn with(mut self, change: impl Fn(&mut Command)) -> Self {
        change(&mut self.observed);
        change(&mut self.plain);
        self
    }

    /// Adds a later run in the process, whose files have `name` in theirs: `tasks.2.json`.
    pub(crate) fn with_later_run(mut self, name: &'static str) -> Self {
        self.later = Some(name);
        self
    }

    /// Runs both until they end.
    #[track_caller]
    pub(crate) fn compare(self) -> Observed {
        self.compare_when(|_| {})
    }

    /// Sends both `signal` after they print `line`.
    #[track_caller]
    pub(crate) fn compare_signalled(self, line: &str, signal: i32) -> Observed {
        self.compare_when(|running| {
            running.wait_for(line).signal(signal);
        })
    }

    /// Runs both, calls `act` with each, and compares how they end. Then checks the files of the recorded one.
    #[track_caller]
    pub(crate) fn compare_when(mut self, act: impl Fn(&mut Running)) -> Observed {
        let run = |command: &mut Command| {
            let mut running = Running::start(command);
            act(&mut running);
            running.end()
        };
        let plain = run(&mut self.plain);
        assert_eq!(names_in(&self.folder), [""; 0], "the plain one left files");
        let observe = |observed: &mut Command, way: &str| {
            let ended = run(observed);
            assert_eq!(ended.status, plain.status, "{way}: {}", ended.stderr);
            assert_eq!(ended.stdout, plain.stdout, "{way}: {}", ended.stderr);
            // A runtime that is shut down with stuck threads leaves these running, which is said.
            let stderr = ended.comparable_stderr();
            let lines = stderr.lines().filter(|line| !line.contains(STILL_RUN));
            let lines: String = lines.map(|line| format!("{line}\n")).collect();
            assert_eq!(lines, plain.comparable_stderr(), "{way}");
            if let Some(later) = self.later {
                take_away(&self.folder, later);
            }
            Observed {
                tasks: data(self.folder.join("tasks.json")),
                workers: data(self.folder.join("workers.json")),
                ended,
            }
            .check(&self.folder)
        };
        // Both ways must end alike, and leave files that are as they must be. A test looks closer at those of the attribute.
        self.observed.env_remove("BY_HAND");
        let observed = observe(&mut self.observed, "by the attribute");
        self.observed.env("BY_HAND", "1");
        for name in names_in(&self.folder) {
            fs::remove_file(self.folder.join(name)).unwrap();
        }
        observe(&mut self.observed, "by hand");
        observed
    }
}

/// Checks the files of a later run, and removes them.
#[track_caller]
fn take_away(folder: &Path, later: &str) {
    for kind in ["tasks", "workers"] {
        data(folder.join(format!("{kind}.{later}.json")));
    }
    let names = ["tasks.json", "workers.json", "statemap.html", "statemap.svg", "report.txt"];
    for name in names {
        let (stem, extension) = name.split_once('.').unwrap();
        let name = format!("{stem}.{later}.{extension}");
        fs::remove_file(folder.join(&name)).unwrap_or_else(|_| panic!("{name}"));
    }
}

impl Observed {
    #[track_caller]
    fn check(self, folder: &Path) -> Self {
        assert!(self.tasks.entities.contains_key("main") || !cfg!(tokio_unstable));
        assert_eq!(self.tasks.entity_kind, "Task");
        assert_eq!(self.workers.entity_kind, "Worker");
        let page = pictures(folder);
        assert_eq!(page.rows("tasks"), self.tasks.entities.len() as u64);
        assert_eq!(page.rows("workers"), self.workers.entities.len() as u64);
        // No temporary file is left.
        let names = names_in(folder);
        let expected =
            ["report.txt", "statemap.html", "statemap.svg", "tasks.json", "workers.json"];
        let all = names.iter().all(|name| expected.contains(&&**name));
        assert!(all, "{names:?}");
        self
    }
}
