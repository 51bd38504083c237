//! Counts instructions with callgrind.

use std::io::ErrorKind;
use std::ops::Sub;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::Variant;
use crate::table::{arguments, this_program};

/// The numbers of polls of the two runs.
const POLLS: [u64; 2] = [30_000, 230_000];

/// The instructions per poll.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instructions {
    /// The instructions of the first thread, which is the worker of `current_thread`.
    pub(crate) first: f64,
    /// The instructions of all threads: the first, other workers, and the background thread.
    pub(crate) all: f64,
}

impl Sub for Instructions {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { first: self.first - other.first, all: self.all - other.all }
    }
}

/// The counts of a variant: the fewest instructions of each of the two runs. Threads that wait for one another don't always
/// take the same number.
#[derive(Debug)]
pub(crate) struct Counts {
    variant: Variant,
    workers: usize,
    fewest: [[u64; 2]; 2],
}

impl Counts {
    /// Counts once. `Err` says why they can't be counted.
    pub(crate) fn new(variant: Variant, workers: usize) -> Result<Self, String> {
        let mut counts = Self { variant, workers, fewest: [[u64::MAX; 2]; 2] };
        counts.count()?;
        Ok(counts)
    }

    /// Counts once more.
    pub(crate) fn count(&mut self) -> Result<(), String> {
        // If the count of the short run is too high, that of a poll is too low.
        for (run, times) in [(0, 3), (1, 1)] {
            for _ in 0..times {
                let counted = collected(&arguments(self.variant, self.workers, POLLS[run]))?;
                self.fewest[run] = [0, 1].map(|i| self.fewest[run][i].min(counted[i]));
            }
        }
        let [few, many] = self.fewest;
        if many[0] <= few[0] {
            return Err(format!("{}: more polls took no more instructions", self.variant.name()));
        }
        Ok(())
    }

    /// Returns the instructions per poll.
    pub(crate) fn per_poll(&self) -> Instructions {
        // The warm-up of a run adds a tenth.
        let polls = (POLLS[1] - POLLS[0]) as f64 * 1.1;
        let [few, many] = self.fewest;
        let [first, all] = [0, 1].map(|i| (many[i] as f64 - few[i] as f64) / polls);
        Instructions { first, all }
    }
}

/// Returns the instructions of a run of this program: of its first thread, and of all threads.
fn collected(arguments: &[String]) -> Result<[u64; 2], String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("callgrind");
    // Removes the files of another run.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--separate-threads=yes", "--fair-sched=try"]);
    command.arg(format!("--callgrind-out-file={}", folder.join("out").display()));
    // Without this, callgrind counts each byte that `rep stosb` sets in glibc's memset as an
    // instruction.
    command.env("GLIBC_TUNABLES", format!("glibc.cpu.x86_rep_stosb_threshold={}", i64::MAX));
    let output = command.arg(this_program()).args(arguments).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => "there is no `valgrind` in PATH; install it".to_owned(),
        _ => format!("valgrind: {error}"),
    })?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let why = stderr.lines().find(|line| !line.is_empty()).unwrap_or_default();
        return Err(format!("valgrind: {}: {why}", output.status));
    }
    let entries = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
    let files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let (mut first, mut all) = (None, 0);
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let field =
            |name| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        // The file without a thread has no counts.
        let (Some(thread), Some(total)) = (field("thread:"), field("totals:")) else { continue };
        all += total;
        if thread == 1 {
            first = Some(total);
        }
    }
    let first = first.ok_or_else(|| "callgrind didn't say how many".to_owned())?;
    Ok([first, all])
}
