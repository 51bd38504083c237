//! A disk that is full is told as what it is.

use std::error::Error as _;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use super::Error;
use crate::statemap::{Labels, StatemapData};

/// Takes so many bytes, then its disk is full.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.0.min(bytes.len());
        self.0 -= taken;
        match taken {
            0 if !bytes.is_empty() => Err(io::Error::from_raw_os_error(ENOSPC)),
            taken => Ok(taken),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Windows says it otherwise.
const ENOSPC: i32 = if cfg!(windows) { 112 } else { 28 };

fn is_full(error: &Error) -> bool {
    let source = match error {
        Error::Io { path: None, source } => source,
        other => panic!("{other:?}"),
    };
    assert_eq!(error.to_string(), source.to_string());
    assert!(error.source().is_some());
    source.kind() == io::ErrorKind::StorageFull
}

#[test]
fn a_full_disk_is_an_error_of_io_wherever_it_fills_up() {
    let data =
        StatemapData::new(crate::analysis::picture::tests::timeline(20, 1), Labels::default());
    let lengths = [data.tasks_to_bytes().unwrap().len(), data.workers_to_bytes().unwrap().len()];
    for (of, length) in lengths.into_iter().enumerate() {
        let write = |w: &mut Full| match of {
            0 => data.write_tasks(w),
            _ => data.write_workers(w),
        };
        for room in (0..length).step_by(length / 50 + 1).chain([length - 1]) {
            assert!(is_full(&write(&mut Full(room)).unwrap_err()), "{room} of {length}");
        }
        write(&mut Full(length)).unwrap();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_full_device_is_full() {
    let data =
        StatemapData::new(crate::analysis::picture::tests::timeline(5, 1), Labels::default());
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert!(is_full(&data.write_tasks(full()).unwrap_err()));
    assert!(is_full(&data.write_workers(&mut full()).unwrap_err()));
}

#[test]
fn a_question_mark_makes_one_of_an_error_of_io() {
    fn fails() -> Result<(), Error> {
        Err(io::Error::from(io::ErrorKind::NotFound))?;
        Ok(())
    }
    assert_eq!(fails().unwrap_err().to_string(), "entity not found");
}

#[test]
fn a_path_is_told_if_it_is_known() {
    let error = Error::Io {
        path: Some(Path::new("a\u{1b}b\n/tasks.json").to_owned()),
        source: io::ErrorKind::NotFound.into(),
    };
    assert_eq!(error.to_string(), "a\\u{1b}b\\n/tasks.json: entity not found");
}
