//! Updates data when more is known about its run than when it was read.

use super::format::Native;
use super::read::{ReadError, Statemap, read};
use super::{Labels, write_tasks, write_workers};
use crate::trace::timeline::Timeline;

/// Writes and reads `file` again, with its tasks or workers taken from `timeline`, and with the same part of the run.
///
/// # Errors
///
/// No known ones: data that was written can be read.
pub fn renewed(
    file: &Statemap,
    timeline: &Timeline,
    labels: &Labels,
) -> Result<Statemap, ReadError> {
    let mut data = Vec::new();
    let written = match file.metadata.native() {
        Some(Native::Workers) => write_workers(timeline, labels, &mut data),
        _ => write_tasks(timeline, labels, &mut data),
    };
    written.map_err(|error| ReadError {
        line: 1,
        byte: 0,
        problem: format!("it can't be written again: {error}"),
        source: Some(error),
    })?;
    let mut renewed = read(&data[..])?;
    renewed.is_part = file.is_part;
    if let (Some(of), Some(before)) = (&mut renewed.run, &file.run) {
        of.whole_ns = before.whole_ns;
    }
    Ok(renewed)
}
