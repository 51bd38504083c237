//! Checks statemap data strictly: for everything that the reference renderer requires, and more.
//!
//! Data that the renderer merely survives, or draws differently than it was meant, is refused here.

#[cfg(test)]
mod hidden;
#[cfg(test)]
mod tests;

use std::io;

use super::read::records::RecordStream;
use super::read::{ReadError, Reader, Statemap};

/// Reads statemap data and checks it strictly.
///
/// Besides the rules of [`read`](super::read::read()), each tag that is used must have a definition, and no
/// record may be later than the last. In data of this crate, which has an `entityKind` of `Task` or `Worker` and the
/// states of that kind, the definitions that describe the run, if there are any, must be complete and make a
/// timeline.
///
/// # Errors
///
/// If `r` fails, or for the first rule that is broken: with its line and byte, what is there and
/// what would be right.
///
/// # Examples
///
/// ```
/// use tokio_statemap::statemap::check::check;
///
/// let data = br#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
/// {"time":"0","entity":"cpu-0","state":0}
/// {"time":"70","entity":"cpu-0","state":1,"tag":"7"}
/// "#;
/// let error = check(&data[..]).unwrap_err();
/// assert!(error.to_string().starts_with("line 3, byte 120: tag `7` of state 1 has no definition"));
/// ```
pub fn check(r: impl io::Read) -> Result<Statemap, ReadError> {
    run(r, false)
}

/// Reads data of this crate and checks it strictly, as [`check`] does. Refuses other data.
///
/// # Errors
///
/// As with [`check`]; and if the data isn't this crate's.
pub fn check_ours(r: impl io::Read) -> Result<Statemap, ReadError> {
    run(r, true)
}

fn run(r: impl io::Read, must_be_ours: bool) -> Result<Statemap, ReadError> {
    let mut records = RecordStream::new(r);
    let (mut reader, start) = Reader::open(&mut records)?;
    reader.is_strict = reader.is_native();
    if must_be_ours && !reader.is_strict {
        return Err(start.error(
            "this isn't data of tokio-statemap: `entityKind` must be `Task` or `Worker`, with the \
             states of that kind",
        ));
    }
    reader.read_rest(&mut records)?;
    reader.check_tags_and_end()?;
    let end = records.here();
    let statemap = reader.finish().map_err(|problem| end.error(problem))?;
    if statemap.run.is_some() {
        statemap.timeline().map_err(|problem| end.error(problem))?;
    }
    Ok(statemap)
}
