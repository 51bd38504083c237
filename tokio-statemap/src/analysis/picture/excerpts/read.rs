//! Reads lines of source files, in bounded time and memory, whatever these are.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::files::SourceFiles;
use super::{AROUND, Excerpt, Line};
use crate::util::clean::clean;

/// How long all of it may take: a file may be on a network.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much is read of a file, and of all of them, in bytes.
const MOST_OF_FILE: u64 = 4 << 20;
const MOST_OF_ALL: u64 = 64 << 20;

/// How many characters of a line are kept, and how many columns a tab takes.
const MOST_OF_LINE: usize = 160;
const TAB: &str = "    ";

/// An excerpt for each of `lines`, as far as they could be read. `recorded`: when the recording ended, since the Unix
/// epoch.
pub(super) fn read(
    lines: &[Line],
    files: &SourceFiles,
    recorded: Option<Duration>,
) -> Vec<Option<Excerpt>> {
    let mut found = vec![None; lines.len()];
    // Whoever starts a program with more rights than theirs must not see through it what they can't read.
    if lines.is_empty() || is_secure() {
        return found;
    }
    let mut by_file: BTreeMap<String, Vec<(usize, u32)>> = BTreeMap::new();
    for (index, (file, line)) in lines.iter().enumerate() {
        by_file.entry(file.clone()).or_default().push((index, *line));
    }
    // The files of what counts most first.
    let mut by_file: Vec<_> = by_file.into_iter().collect();
    by_file.sort_by_key(|(_, lines)| lines.iter().map(|(index, _)| *index).min());
    let recorded = recorded.and_then(|time| SystemTime::UNIX_EPOCH.checked_add(time));
    let (files, (send, receive)) = (files.clone(), mpsc::channel());
    let reader = thread::Builder::new().name("statemap-source".to_owned()).spawn(move || {
        let files = files.found();
        let made = files.made(recorded);
        let mut left = MOST_OF_ALL;
        for (path, lines) in by_file {
            let read = files.open(&path).and_then(|file| {
                let modified = file.metadata().and_then(|found| found.modified()).ok();
                let is_changed = made.zip(modified).is_some_and(|(made, file)| file > made);
                Some((bytes(file, &mut left)?, is_changed))
            });
            let Some((bytes, is_changed)) = read else { continue };
            for (index, line) in lines {
                let excerpt = excerpt(&bytes, line, is_changed);
                // Nobody waits any more.
                if send.send((index, excerpt)).is_err() {
                    return;
                }
            }
        }
    });
    if reader.is_err() {
        return found;
    }
    // It may hang, and is left alone then.
    let end = Instant::now() + PATIENCE;
    while let Ok((index, excerpt)) =
        receive.recv_timeout(end.saturating_duration_since(Instant::now()))
    {
        found[index] = excerpt;
    }
    found
}

#[cfg(unix)]
fn is_secure() -> bool {
    crate::sys::secure::is_secure()
}

#[cfg(not(unix))]
fn is_secure() -> bool {
    false
}

/// The beginning of a file; `None` if that fails, or there is no room for it.
fn bytes(file: File, left: &mut u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST_OF_FILE.min(*left)).read_to_end(&mut bytes).ok()?;
    *left -= bytes.len() as u64;
    Some(bytes)
}

/// The lines of a file around one; `None` if there is no such line, or these are no text.
pub(super) fn excerpt(bytes: &[u8], line: u32, is_changed: bool) -> Option<Excerpt> {
    if line == 0 || bytes.is_empty() {
        return None;
    }
    let first = line.saturating_sub(AROUND).max(1);
    let (before, around) = (first as usize - 1, (line - first + AROUND + 1) as usize);
    // What is behind the last newline is a line only if there is something.
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').skip(before).take(around).collect();
    let is_there = lines.len() > (line - first) as usize;
    if !is_there || lines.iter().any(|line| line.contains(&0)) {
        return None;
    }
    let mut lines: Vec<_> = lines.into_iter().map(text).collect();
    let indent = |line: &String| line.chars().take_while(|c| *c == ' ').count();
    let is_blank = |line: &&String| line.trim().is_empty();
    let common = lines.iter().filter(|line| !is_blank(line)).map(indent).min().unwrap_or(0);
    for line in &mut lines {
        // All of it are spaces.
        *line = cut(&line[common.min(indent(line))..]);
    }
    Some(Excerpt { line, first, lines, is_changed })
}

/// The text of a line, whatever its bytes are.
fn text(line: &[u8]) -> String {
    // A line may be as long as a file.
    let line = &line[..line.len().min(MOST_OF_LINE * 16)];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    clean(&String::from_utf8_lossy(line).replace('\t', TAB)).trim_end().to_owned()
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MOST_OF_LINE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
