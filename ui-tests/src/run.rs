//! Running a case.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The result of running a program.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit code or signal.
    pub status: ExitStatus,
    /// The text written to standard output.
    pub stdout: String,
    /// The text written to standard error.
    pub stderr: String,
}

/// Runs a program in a new, empty folder.
///
/// # Panics
///
/// Panics if it can't be started or hasn't ended after a minute.
pub fn run(program: &Path, folder: &Path) -> Ended {
    if folder.exists() {
        fs::remove_dir_all(folder).expect("the folder can be emptied");
    }
    fs::create_dir_all(folder).expect("the folder can be made");
    // The outputs go to files next to the folder, as a full pipe could block the program.
    let (out, err) = (folder.with_extension("out"), folder.with_extension("err"));
    let create = |path: &Path| Stdio::from(File::create(path).expect("a file can be made"));
    let mut child = Command::new(program)
        .current_dir(folder)
        .env("RUST_BACKTRACE", "0")
        .env_remove("TOKIO_STATEMAP")
        .env_remove("TOKIO_STATEMAP_DIR")
        .env_remove("TOKIO_STATEMAP_DUMP_ON")
        .stdin(Stdio::null())
        .stdout(create(&out))
        .stderr(create(&err))
        .spawn()
        .unwrap_or_else(|err| panic!("{}: {err}", program.display()));

    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            break status;
        }
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().expect("the program can be killed");
            panic!("{} hasn't ended after a minute", program.display());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let read = |path: &Path| {
        String::from_utf8_lossy(&fs::read(path).expect("the output can be read")).into_owned()
    };
    Ended { status, stdout: read(&out), stderr: read(&err) }
}
