//! Reads lines of source files in bounded time and memory.

use std::fs::File;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::files::SourceFiles;
use super::{AROUND, Excerpt, Line};
use crate::util::clean::clean;
use crate::util::latch::latch;
use crate::util::map::Map;
use crate::util::sync::lock;

/// The longest time that reading may take, as a file may be on a network.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most bytes that are read of one file, and of all files.
const MOST_OF_FILE: u64 = 4 << 20;
const MOST_OF_ALL: u64 = 64 << 20;

/// The most characters of a line that are kept, and the text that replaces a tab.
const MOST_OF_LINE: usize = 160;
const TAB: &str = "    ";

/// Returns an excerpt for each of `lines` that could be read. `recorded` is the end of the recording, since the Unix
/// epoch.
pub(super) fn read(
    lines: &[Line],
    files: &SourceFiles,
    recorded: Option<Duration>,
) -> Vec<Option<Excerpt>> {
    let mut found = Vec::with_capacity(lines.len());
    // The most important files come first.
    let mut by_file: Map<String, Vec<(usize, u32)>> = Map::default();
    for (index, (file, line)) in lines.iter().enumerate() {
        found.push(None);
        by_file.get_or_default(file.clone()).push((index, *line));
    }
    if lines.is_empty() {
        return found;
    }
    let recorded = recorded.and_then(|time| SystemTime::UNIX_EPOCH.checked_add(time));
    let (files, (ongoing, over)) = (files.clone(), latch());
    let all = Arc::new(Mutex::new(found));
    let to = Arc::downgrade(&all);
    let read = move || {
        let _ongoing = ongoing;
        let files = files.found();
        let made = files.made(recorded);
        let mut left = MOST_OF_ALL;
        for (path, lines) in by_file {
            let Some(file) = files.open(&path) else { continue };
            let modified = file.metadata().and_then(|found| found.modified());
            let is_changed = match (made, modified) {
                (Some(made), Ok(modified)) => modified > made,
                _ => false,
            };
            let Some(bytes) = bytes(file, &mut left) else { continue };
            for (index, line) in lines {
                let excerpt = excerpt(&bytes, line, is_changed);
                // If the result is gone, the time is over.
                let Some(all) = to.upgrade() else { return };
                if let Some(slot) = lock(&all).get_mut(index) {
                    *slot = excerpt;
                }
            }
        }
    };
    if crate::sys::start("statemap-source", Box::new(read)).is_ok() {
        // If the thread hangs, it is left alone.
        over.wait_for(PATIENCE);
    }
    std::mem::take(&mut lock(&all))
}

/// Reads the beginning of a file; `None` if that fails.
fn bytes(file: File, left: &mut u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST_OF_FILE.min(*left)).read_to_end(&mut bytes).ok()?;
    *left -= bytes.len() as u64;
    Some(bytes)
}

/// Returns the lines of a file around one; `None` if there is no such line, or the lines are no text.
pub(super) fn excerpt(bytes: &[u8], line: u32, is_changed: bool) -> Option<Excerpt> {
    if line == 0 || bytes.is_empty() {
        return None;
    }
    let first = line.saturating_sub(AROUND).max(1);
    let (before, around) = (first as usize - 1, (line - first + AROUND + 1) as usize);
    // There is no line after the last newline unless text follows it.
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut lines = Vec::new();
    let mut common = usize::MAX;
    for line in bytes.split(|byte| *byte == b'\n').skip(before).take(around) {
        if line.contains(&0) {
            return None;
        }
        let text = text(line);
        if !text.trim().is_empty() {
            common = common.min(indent(&text));
        }
        lines.push(text);
    }
    if lines.len() <= (line - first) as usize {
        return None;
    }
    for line in &mut lines {
        // Only spaces are cut off.
        *line = cut(&line[common.min(indent(line))..]);
    }
    Some(Excerpt { line, first, lines, is_changed })
}

/// Returns the number of spaces that a line begins with.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the text of a line, which may contain any bytes.
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
