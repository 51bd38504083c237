//! The reasons for which the command ends early, and the messages on stderr.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use tokio_statemap::__private::clean;

/// The exit status for a run that exceeds a limit.
const OVER_A_LIMIT: u8 = 3;

/// The reason for which the command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A problem, still to be reported.
    Problem(String),
    /// A problem that was reported already.
    Reported,
    /// A run exceeds a limit, which was reported already.
    OverLimit,
    /// The reader of the output went away. This is not an error.
    Closed,
}

impl Failure {
    /// Creates the failure for a problem with a file.
    pub(crate) fn in_file(file: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Problem(format!("{}: {problem}", display_name(file)))
    }

    /// Creates the failure of a write to `file`.
    pub(crate) fn write(file: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::in_file(file, format_args!("can't be written: {error}")),
        }
    }

    /// Creates the failure of a write to standard output.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Problem(format!("standard output: can't be written: {error}")),
        }
    }

    /// Prints the problem if that is still to be done. Returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Problem(problem) => {
                print_line(&problem);
                ExitCode::FAILURE
            }
            Self::Reported => ExitCode::FAILURE,
            Self::OverLimit => ExitCode::from(OVER_A_LIMIT),
            Self::Closed => ExitCode::SUCCESS,
        }
    }
}

/// Prints one line on stderr, prefixed with the name of this command.
pub(crate) fn print_line(text: &str) {
    // If stderr fails, there is nowhere left to report it.
    let _ = writeln!(io::stderr(), "tokio-statemap: {}", clean(text));
}

/// Returns the name of a file in messages.
pub(crate) fn display_name(file: &Path) -> String {
    if file.as_os_str() == "-" { "standard input".to_owned() } else { file.display().to_string() }
}
