//! Shortens source locations to a width. Their file and line stay longest.

/// The longest text that is parsed as a location, in bytes.
pub(crate) const LONGEST: usize = 1000;

/// Shortens `text` to at most `room`, as `width` measures it, if it is a source location
/// (`axum-0.8.9/src/serve/mod.rs:389:5`) or a function at one. Returns `None` otherwise.
///
/// The parts before the package go first, then the package's folders from the left, then the package, the
/// column, and the file's name from the left. The page has the same rules: `cases.json` tests both.
pub(crate) fn fit(text: &str, room: usize, width: &dyn Fn(&str) -> usize) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let place = Place::parse(text)?;
    let candidates = place.candidates();
    for only in &candidates {
        let with_function = format!("{}{only}", place.function);
        if width(&with_function) <= room {
            return Some(with_function);
        }
    }
    if !place.function.is_empty() {
        let least = candidates.last()?;
        let left = room.saturating_sub(width(least));
        if left >= LEAST_OF_FUNCTION {
            return Some(format!("{}{least}", keep_end(place.function, left, width)));
        }
    }
    for candidate in candidates {
        if width(&candidate) <= room {
            return Some(candidate);
        }
    }
    if !place.behind.is_empty() && width(place.core) < room {
        let left = room - width(place.core);
        return Some(format!("{}{}", place.core, keep_begin(place.behind, left, width)));
    }
    let mut core = place.core;
    if width(core) > room && core.find(':') != core.rfind(':') {
        core = core.rsplit_once(':').map_or(core, |(line, _)| line);
    }
    Some(keep_end(core, room, width))
}

/// The least width of a function's name that is still useful.
const LEAST_OF_FUNCTION: usize = 10;

/// A source location, in parts.
struct Place<'a> {
    /// The function and ` at `, if there is a function.
    function: &'a str,
    /// The folders as written, with everything before the first.
    path: &'a str,
    folders: Vec<&'a str>,
    /// The file with its line and column.
    core: &'a str,
    /// The text behind the location.
    behind: &'a str,
}

impl<'a> Place<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        // The text has several places.
        if text.contains(" + ") {
            return None;
        }
        let core_at = text.rfind(['/', '\\']).map_or(0, |at| at + 1);
        let begin = text[..core_at].rfind(" at ").map_or(0, |at| at + " at ".len());
        let core_length = core_length(&text[core_at..])?;
        if core_at == begin {
            // There is no folder: only the function or a part of the file name can go.
            return None;
        }
        let (core, behind) = text[core_at..].split_at(core_length);
        let path = &text[begin..core_at];
        let folders = super::names_of(path);
        Some(Self { function: &text[..begin], path, folders, core, behind })
    }

    /// Returns the forms of the location, from the whole path to the file alone.
    fn candidates(&self) -> Vec<String> {
        let Self { path, folders, core, behind, .. } = self;
        let tail = format!("{core}{behind}");
        let mut found = vec![format!("{path}{tail}")];
        match package(folders) {
            Some(at) => {
                if at > 0 {
                    found.push(format!("…/{}{tail}", joined(&folders[at..])));
                }
                let (package, inner) = (folders[at], &folders[at + 1..]);
                for left_out in 1..=inner.len() {
                    found.push(format!("{package}/…/{}{tail}", joined(&inner[left_out..])));
                }
            }
            None => {
                for left_out in 1..folders.len() {
                    found.push(format!("…/{}{tail}", joined(&folders[left_out..])));
                }
            }
        }
        found.push(format!("…/{tail}"));
        found.push(tail);
        found
    }
}

/// Returns the folders with `/` behind each.
fn joined(folders: &[&str]) -> String {
    let mut path = String::new();
    for folder in folders {
        path += folder;
        path.push('/');
    }
    path
}

/// Returns the package that a place is in, as an index into its folders.
fn package(folders: &[&str]) -> Option<usize> {
    match super::package_of(folders) {
        Some(at) => Some(at),
        // The first folder is a folder of sources, or a package that is recognised by its version.
        None if folders.first().is_some_and(|first| super::OF_SOURCES.contains(first)) => None,
        None => (folders.len() > 1).then_some(0),
    }
}

/// Returns the length of `mod.rs:389:5` at the beginning of `text`, or `None` if it has no line.
fn core_length(text: &str) -> Option<usize> {
    let mut end = text.find(':')?;
    for part in 0..2 {
        let Some(number) = text[end..].strip_prefix(':') else { break };
        let mut digits = 0;
        while number.as_bytes().get(digits).is_some_and(u8::is_ascii_digit) {
            digits += 1;
        }
        match (digits, part) {
            (0, 0) => return None,
            (0, _) => break,
            _ => end += 1 + digits,
        }
    }
    Some(end)
}

/// Returns the end of the text, as much as fits into `room`.
fn keep_end(text: &str, room: usize, width: &dyn Fn(&str) -> usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut rest = text.chars();
    while rest.next().is_some() {
        let cut = format!("…{}", rest.as_str());
        if width(&cut) <= room {
            return cut;
        }
    }
    "…".to_owned()
}

/// Returns the beginning of the text, as much as fits into `room`.
fn keep_begin(text: &str, room: usize, width: &dyn Fn(&str) -> usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut rest = text.chars();
    while rest.next_back().is_some() {
        let cut = format!("{}…", rest.as_str());
        if width(&cut) <= room {
            return cut;
        }
    }
    String::new()
}
