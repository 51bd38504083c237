//! What went wrong, in one line.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use tokio_statemap::__private::clean;

/// The exit status for a run that is over a limit.
const OVER_A_LIMIT: u8 = 3;

/// Why the command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something is wrong with a file: this line says what.
    Bad(String),
    /// It was said already.
    Said,
    /// A run is over a limit, which was said already.
    Over,
    /// Nobody reads what is written any more: that is no error, they have seen enough.
    Closed,
}

impl Failure {
    /// Something is wrong with this file.
    pub(crate) fn of(file: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Bad(format!("{}: {problem}", name(file)))
    }

    /// Standard output can't be written.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Bad(format!("standard output: can't be written: {error}")),
        }
    }

    /// Says it on stderr; gives the exit status.
    pub(crate) fn say(self) -> ExitCode {
        match self {
            Self::Bad(problem) => {
                line(&problem);
                ExitCode::FAILURE
            }
            Self::Said => ExitCode::FAILURE,
            Self::Over => ExitCode::from(OVER_A_LIMIT),
            Self::Closed => ExitCode::SUCCESS,
        }
    }
}

/// Writes one line on stderr, whatever is in it, that says whose it is.
pub(crate) fn line(text: &str) {
    // There is nobody left to tell if this fails.
    let _ = writeln!(io::stderr(), "tokio-statemap: {}", clean(text));
}

/// What a file is called in messages.
pub(crate) fn name(file: &Path) -> String {
    if file.as_os_str() == "-" { "standard input".to_owned() } else { file.display().to_string() }
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::stdout(&error))
}
