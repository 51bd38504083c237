//! Parses the values of the keys `dump_on` and `dump_limit`.
//!
//! The attribute checks them when it is expanded, and the library reads them when the program starts. The code exists in
//! two files, as that of durations does: `tokio-statemap-macros/src/args/dumps.rs` and
//! `tokio-statemap/src/recording/dump_on/values.rs`.

use super::duration;

/// An event on which a page is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A poll goes on for longer than this, in ns.
    Poll(u64),
    /// Each worker of a runtime is in a poll that goes on for longer than this, in ns.
    Stall(u64),
    /// A task is ready for longer than this, in ns.
    Ready(u64),
    /// A task waits for longer than this, in ns, in a source file of this pattern.
    Wait(u64, Option<String>),
    /// The file of this path appears or changes; `None` for the default one.
    File(Option<String>),
    /// Code of the program panics.
    Panic,
    /// The process gets the signal of this name.
    Signal(&'static str),
}

/// The limits of the pages that a process writes while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The most pages in an hour.
    pub(crate) an_hour: u64,
    /// The most files that are kept.
    pub(crate) files: u64,
    /// The most bytes that all of these have.
    pub(crate) bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { an_hour: 3, files: 20, bytes: 500_000_000 }
    }
}

const SIGNALS: [&str; 4] = ["SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGIO"];

const TRIGGERS: &str = "`poll > DURATION`, `stall > DURATION`, `ready > DURATION`, `wait > DURATION`, `wait > DURATION at FILES`, \
     `file`, `file = PATH`, `panic`, or a signal: `SIGUSR1`, `SIGUSR2`, `SIGQUIT` or `SIGIO`";

const LIMITS: &str =
    "pages an hour (`3/h`), of files (`20 files`), or of bytes in `kB`, `MB` or `GB` (`500MB`)";

/// Threads are looked at this often.
const SHORTEST_NS: u64 = 5_000_000;

/// Parses triggers with commas between them. An error says which part is wrong, and what is valid.
pub(crate) fn triggers(text: &str) -> Result<Vec<Trigger>, String> {
    let mut all: Vec<Trigger> = Vec::new();
    for part in text.split(',').map(str::trim) {
        let trigger = trigger(part)?;
        if all.iter().any(|other| other.is_like(&trigger)) {
            return Err(format!("`{part}` is the second trigger of its kind"));
        }
        all.push(trigger);
    }
    Ok(all)
}

impl Trigger {
    /// Returns `true` if only one of the two can be given.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Poll(_), Self::Poll(_)) | (Self::Stall(_), Self::Stall(_)) => true,
            (Self::Ready(_), Self::Ready(_)) | (Self::File(_), Self::File(_)) => true,
            (Self::Wait(_, here), Self::Wait(_, there)) => here == there,
            _ => self == other,
        }
    }
}

fn trigger(part: &str) -> Result<Trigger, String> {
    let (kind, length) = match part.split_once('>') {
        Some((kind, length)) => (kind.trim_end(), Some(length.trim_start())),
        None => (part, None),
    };
    match (kind, length) {
        ("poll", length) => nanoseconds(part, kind, length).map(Trigger::Poll),
        ("stall", length) => nanoseconds(part, kind, length).map(Trigger::Stall),
        ("ready", length) => nanoseconds(part, kind, length).map(Trigger::Ready),
        ("wait", length) => {
            let (length, at) = match length.and_then(|length| length.split_once(" at ")) {
                Some((length, at)) => (Some(length.trim_end()), Some(at.trim_start().to_owned())),
                None => (length, None),
            };
            nanoseconds(part, kind, length).map(|ns| Trigger::Wait(ns, at))
        }
        ("panic", None) => Ok(Trigger::Panic),
        ("file", None) => Ok(Trigger::File(None)),
        _ if file(part).is_some() => Ok(Trigger::File(file(part))),
        _ => match SIGNALS.iter().find(|name| **name == part) {
            Some(name) => Ok(Trigger::Signal(name)),
            None => Err(no_trigger(part)),
        },
    }
}

/// Returns the path in `file = PATH`.
fn file(part: &str) -> Option<String> {
    let path = part.strip_prefix("file")?.trim_start().strip_prefix('=')?.trim_start();
    (!path.is_empty()).then(|| path.to_owned())
}

fn nanoseconds(part: &str, kind: &str, length: Option<&str>) -> Result<u64, String> {
    match length.and_then(duration::nanoseconds) {
        None => Err(format!(
            "`{part}` lacks a duration of a number and a unit (`ns`, `us`, `ms`, `s`, `m`, `h`), as in `{kind} > 100ms`"
        )),
        Some(..SHORTEST_NS) => Err(format!(
            "`{part}` is too short: threads are looked at every 5 ms, so `{kind} > 5ms` is the least"
        )),
        Some(ns) => Ok(ns),
    }
}

fn no_trigger(part: &str) -> String {
    match part {
        "" => format!("a trigger is missing; it can be {TRIGGERS}"),
        _ => format!("`{part}` is no trigger; it can be {TRIGGERS}"),
    }
}

/// Parses limits with commas between them. Those that aren't given have their defaults.
pub(crate) fn limits(text: &str) -> Result<Limits, String> {
    let mut limits = Limits::default();
    let mut given = [false; 3];
    for part in text.split(',').map(str::trim) {
        let no_limit = || format!("`{part}` is no limit; it can be a number of {LIMITS}");
        let (kind, value) = limit(part).ok_or_else(no_limit)?;
        if std::mem::replace(&mut given[kind], true) {
            return Err(format!("`{part}` is the second limit of its kind"));
        }
        if value == 0 {
            return Err(format!("`{part}` may not be 0: leave out `dump_on` to have no pages"));
        }
        *[&mut limits.an_hour, &mut limits.files, &mut limits.bytes][kind] = value;
    }
    Ok(limits)
}

/// Returns the kind of a limit, and its value.
fn limit(part: &str) -> Option<(usize, u64)> {
    const KINDS: [(&str, usize, u64); 6] = [
        ("/h", 0, 1),
        ("files", 1, 1),
        ("file", 1, 1),
        ("kB", 2, 1_000),
        ("MB", 2, 1_000_000),
        ("GB", 2, 1_000_000_000),
    ];
    let (number, kind, unit) = KINDS.iter().find_map(|&(end, kind, unit)| {
        let number = part.strip_suffix(end)?;
        Some((number.trim_end(), kind, unit))
    })?;
    Some((kind, duration::multiple(number, unit)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_are_read() {
        use Trigger::{File, Panic, Poll, Ready, Signal, Stall, Wait};
        let at = |files: &str| Some(files.to_owned());
        for (text, expected) in [
            ("poll > 100ms", vec![Poll(100_000_000)]),
            ("poll>5ms,panic", vec![Poll(5_000_000), Panic]),
            ("stall > 1s, poll > 1s", vec![Stall(1_000_000_000), Poll(1_000_000_000)]),
            (" SIGUSR2 , poll > 1.5s ", vec![Signal("SIGUSR2"), Poll(1_500_000_000)]),
            ("ready > 1s,file", vec![Ready(1_000_000_000), File(None)]),
            ("file=a b.dump", vec![File(at("a b.dump"))]),
            (
                "wait > 30s at src/**, wait>1m",
                vec![Wait(30_000_000_000, at("src/**")), Wait(60_000_000_000, None)],
            ),
            ("SIGUSR1, SIGIO, SIGQUIT", ["SIGUSR1", "SIGIO", "SIGQUIT"].map(Signal).into()),
        ] {
            assert_eq!(triggers(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_trigger_is_refused() {
        let known = "it can be `poll > DURATION`, `stall > DURATION`, `ready > DURATION`, `wait > DURATION`, \
            `wait > DURATION at FILES`, `file`, `file = PATH`, `panic`, or a signal: `SIGUSR1`, `SIGUSR2`, `SIGQUIT` or \
            `SIGIO`";
        let lacks = "lacks a duration of a number and a unit (`ns`, `us`, `ms`, `s`, `m`, `h`), as in `poll > 100ms`";
        for (text, error) in [
            ("", format!("a trigger is missing; {known}")),
            ("panic,", format!("a trigger is missing; {known}")),
            ("file =", format!("`file =` is no trigger; {known}")),
            ("file a", format!("`file a` is no trigger; {known}")),
            ("wait at src/**", format!("`wait at src/**` is no trigger; {known}")),
            ("file, file = a", "`file = a` is the second trigger of its kind".to_owned()),
            (
                "wait > 1s at a, wait > 2s at a",
                "`wait > 2s at a` is the second trigger of its kind".to_owned(),
            ),
            ("panic > 1s", format!("`panic > 1s` is no trigger; {known}")),
            ("SIGKILL", format!("`SIGKILL` is no trigger; {known}")),
            ("poll", format!("`poll` {lacks}")),
            ("poll > 100", format!("`poll > 100` {lacks}")),
            ("poll >= 1s", format!("`poll >= 1s` {lacks}")),
            (
                "poll > 4ms",
                "`poll > 4ms` is too short: threads are looked at every 5 ms, so `poll > 5ms` is the least"
                    .to_owned(),
            ),
            (
                "poll > 1s, poll > 2s",
                "`poll > 2s` is the second trigger of its kind".to_owned(),
            ),
            ("stall > 1s, stall > 1s", "`stall > 1s` is the second trigger of its kind".to_owned()),
            ("panic, panic", "`panic` is the second trigger of its kind".to_owned()),
        ] {
            assert_eq!(triggers(text), Err(error), "{text}");
        }
    }

    #[test]
    fn limits_are_read() {
        let all = |an_hour, files, bytes| Ok(Limits { an_hour, files, bytes });
        for (text, expected) in [
            ("3/h, 20 files, 500MB", Ok(Limits::default())),
            ("10/h", all(10, 20, 500_000_000)),
            ("1.5GB,1 file", all(3, 1, 1_500_000_000)),
            ("60 kB , 2files , 1 /h", all(1, 2, 60_000)),
        ] {
            assert_eq!(limits(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        let valid = "it can be a number of pages an hour (`3/h`), of files (`20 files`), or of bytes in `kB`, `MB` or \
            `GB` (`500MB`)";
        for (text, error) in [
            ("", format!("`` is no limit; {valid}")),
            ("3", format!("`3` is no limit; {valid}")),
            ("3/s", format!("`3/s` is no limit; {valid}")),
            ("-3/h", format!("`-3/h` is no limit; {valid}")),
            ("1.5 files", format!("`1.5 files` is no limit; {valid}")),
            ("3/h, 500 mb", format!("`500 mb` is no limit; {valid}")),
            ("3/h, 4/h", "`4/h` is the second limit of its kind".to_owned()),
            ("0/h", "`0/h` may not be 0: leave out `dump_on` to have no pages".to_owned()),
        ] {
            assert_eq!(limits(text), Err(error), "{text}");
        }
    }
}
