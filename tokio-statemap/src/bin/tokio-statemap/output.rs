//! Writes output to a file, which is replaced once the new one is complete, or to standard output.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tokio_statemap::__private::write_file;

use crate::failure::Failure;

/// Writes `content` to a file, or to standard output if `output` is `-`.
pub(crate) fn write(
    output: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if output.as_os_str() == "-" {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let written = content(&mut stdout).and_then(|()| stdout.flush());
        return written.map_err(|error| Failure::stdout(&error));
    }
    write_file(output, content).map_err(|error| Failure::write(output, &error))
}

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write(Path::new("-"), |w| w.write_all(text.as_bytes()))
}
