//! Shortens the paths of source files for display: they begin at the package. The folders in which packages
//! are stored don't help readers, and may be private.

mod fit;

use std::borrow::Cow;

use crate::util::map::Map;

#[cfg(feature = "svg")]
pub(crate) use fit::LONGEST;
pub(crate) use fit::fit;

/// The folders of a package with sources.
const OF_SOURCES: [&str; 4] = ["src", "tests", "examples", "benches"];

/// The number of last parts that are shown of a path to which no other rule applies.
const LAST_PARTS: usize = 3;

/// The most parts that are shown to distinguish a path from others.
const MOST_PARTS: u8 = 32;

/// The level that shows a path unchanged.
const AS_IT_IS: u8 = u8::MAX;

/// Returns the path of a source file as every output shows it, with anything behind it, such as `:21`.
///
/// A path in a package of a registry becomes `axum-0.8.9/src/serve/mod.rs`, in a repository
/// `mini-redis/src/db.rs`, in the standard library `std/src/thread/mod.rs`. A path in the program's own
/// packages begins in the folder of its compilation. The separators are `/`.
pub(crate) fn shown(path: &str) -> Cow<'_, str> {
    shown_at(path, 0)
}

/// Returns the path with more of its beginning, the higher the `level`; see [`levels`].
pub(crate) fn shown_at(path: &str, level: u8) -> Cow<'_, str> {
    if level == AS_IT_IS {
        return Cow::Borrowed(path);
    }
    let parts = Parts::new(path);
    let Shown { head, from } = shown_of(&parts);
    let (head, from) = match level {
        0 => (head, from),
        // The revision of a repository follows its name.
        more => (None, from.saturating_sub(usize::from(more) + usize::from(head.is_some()))),
    };
    let has_root = level == 0 && parts.is_absolute && parts.names.len() > 1;
    let is_whole = from == 0 && head.is_none() && !has_root;
    let rest = if is_whole { path } else { parts.from(from) };
    match head {
        Some(head) => Cow::Owned(format!("{head}/{}", rest.replace('\\', "/"))),
        None if rest.contains('\\') => Cow::Owned(rest.replace('\\', "/")),
        None => Cow::Borrowed(rest),
    }
}

/// Returns the level of each file that would be shown like another one at level 0, so that all are shown
/// differently. Other files keep level 0.
pub(crate) fn levels<'a>(files: impl IntoIterator<Item = &'a str>) -> Map<&'a str, u8> {
    let mut alike: Map<Cow<'a, str>, Vec<&'a str>> = Map::default();
    for file in files {
        let of = alike.get_or_default(shown(file));
        if !of.contains(&file) {
            of.push(file);
        }
    }
    let mut levels = Map::default();
    for files in alike.values() {
        if files.len() < 2 {
            continue;
        }
        let mut level = 1;
        while level != AS_IT_IS && !are_apart(files, level, &alike) {
            level = if level < MOST_PARTS { level + 1 } else { AS_IT_IS };
        }
        for file in files {
            levels.insert(*file, level);
        }
    }
    let mut shown = Vec::new();
    for (file, level) in levels.iter() {
        shown.push(shown_at(file, *level));
    }
    if !are_all_different(shown) {
        for level in levels.values_mut() {
            *level = AS_IT_IS;
        }
    }
    levels
}

/// Returns whether files that are shown alike at level 0 differ at `level` from each other and from all others.
fn are_apart(files: &[&str], level: u8, alike: &Map<Cow<'_, str>, Vec<&str>>) -> bool {
    let mut all = Vec::new();
    for file in files {
        let shown = shown_at(file, level);
        for other in alike.get(&*shown).map_or(&[][..], Vec::as_slice) {
            if !files.contains(other) {
                return false;
            }
        }
        all.push(shown);
    }
    are_all_different(all)
}

fn are_all_different(mut texts: Vec<Cow<'_, str>>) -> bool {
    crate::util::sort::sort(&mut texts);
    !texts.windows(2).any(|two| two[0] == two[1])
}

/// The shown part of a path: the parts from `from` on, behind `head` if there is one.
#[derive(Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) head: Option<&'a str>,
    pub(crate) from: usize,
}

/// Returns `true` if the path of a source file is that of a dependency or of the standard library.
pub(crate) fn is_of_dependency(path: &str) -> bool {
    dependency_part(&Parts::new(path).names).is_some()
}

/// Returns the shown part of a path of a dependency or of the standard library, or `None` for other paths.
fn dependency_part<'a>(names: &[&'a str]) -> Option<Shown<'a>> {
    match std_part(names) {
        Some(from) => Some(Shown { head: None, from }),
        None => package_part(names),
    }
}

/// Returns the shown part of a path of a package of a registry or of git, or `None` for other paths.
pub(crate) fn package_part<'a>(names: &[&'a str]) -> Option<Shown<'a>> {
    let from = |from| Some(Shown { head: None, from });
    match position(names, &["registry", "src"]) {
        Some(at) if names.len() > at + 4 => return from(at + 3),
        _ => {}
    }
    // Parts of the path may be left out by `--remap-path-prefix`.
    match first(names, |name| name.starts_with("index.crates.io-")) {
        Some(at) if names.len() > at + 2 => return from(at + 1),
        _ => {}
    }
    match position(names, &["git", "checkouts"]) {
        Some(at) if names.len() > at + 4 => {
            Some(Shown { head: Some(without_hash(names[at + 2])), from: at + 4 })
        }
        _ => None,
    }
}

fn shown_of<'a>(parts: &Parts<'a>) -> Shown<'a> {
    let from = |from| Shown { head: None, from };
    let names = &parts.names;
    if let Some(shown) = dependency_part(names) {
        return shown;
    }
    if !parts.is_absolute {
        return from(usize::from(names.first() == Some(&".")));
    }
    if let Some(at) = build_script_part(names) {
        return from(at);
    }
    // The last part is the file.
    let folders = &names[..names.len().saturating_sub(1)];
    from(match package_of(folders) {
        Some(at) => at,
        None => names.len().saturating_sub(LAST_PARTS),
    })
}

/// Returns the index of the crate in a path of the standard library or of its dependencies.
pub(crate) fn std_part(names: &[&str]) -> Option<usize> {
    let library = match position(names, &["rustlib", "src", "rust"]) {
        Some(at) => Some(at + 3),
        None => match first(names, |name| name.strip_prefix("rustc-").is_some_and(is_version)) {
            Some(at) => Some(at + 1),
            None => position(names, &["rustc"]).map(|at| at + 2),
        },
    };
    if let Some(at) = library {
        if matches!(names.get(at), Some(&"library" | &"vendor")) && names.len() > at + 2 {
            return Some(at + 1);
        }
    }
    match position(names, &["rust", "deps"]) {
        Some(at) if names.len() > at + 3 => Some(at + 2),
        _ => None,
    }
}

/// Returns the index of the package in the path of a file that its build script wrote.
fn build_script_part(names: &[&str]) -> Option<usize> {
    let at = last(names, &["out"])?;
    (at >= 2 && names[at - 2] == "build" && at + 1 < names.len()).then(|| at - 1)
}

/// Returns the index of the package's folder in the folders of a source file's path.
fn package_of(folders: &[&str]) -> Option<usize> {
    let at = last(folders, &OF_SOURCES[..1]).or_else(|| last(folders, &OF_SOURCES[1..]))?;
    at.checked_sub(1)
}

/// Returns `mini-redis` for `mini-redis-0c9c8b0f7d7d0c1d`.
fn without_hash(repository: &str) -> &str {
    repository.rsplit_once('-').map_or(repository, |(name, _)| name)
}

/// Returns the index of the first name for which `is_it` returns `true`.
fn first(names: &[&str], is_it: fn(&str) -> bool) -> Option<usize> {
    (0..names.len()).find(|&at| is_it(names[at]))
}

/// Returns the index of the last name that is one of these.
fn last(names: &[&str], of: &[&str]) -> Option<usize> {
    (0..names.len()).rev().find(|&at| of.contains(&names[at]))
}

/// Returns the first position of `these` in a row.
fn position(names: &[&str], these: &[&str]) -> Option<usize> {
    (0..names.len()).find(|&at| names[at..].starts_with(these))
}

/// Returns the names that follow the first `these` in a row.
#[cfg(feature = "symbols")]
pub(crate) fn after<'a, 'b>(names: &'b [&'a str], these: &[&str]) -> Option<&'b [&'a str]> {
    Some(&names[position(names, these)? + these.len()..])
}

/// Returns `true` if `text` begins like a version: `1.54`.
pub(crate) fn is_version(text: &str) -> bool {
    let Some((major, rest)) = text.split_once('.') else { return false };
    let is_number = !major.is_empty() && major.as_bytes().iter().all(u8::is_ascii_digit);
    is_number && rest.as_bytes().first().is_some_and(u8::is_ascii_digit)
}

/// Returns the names that a path is made of.
pub(crate) fn names_of(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for name in path.split(['/', '\\']) {
        if !name.is_empty() {
            names.push(name);
        }
    }
    names
}

/// A path and the names that it is made of.
struct Parts<'a> {
    path: &'a str,
    names: Vec<&'a str>,
    is_absolute: bool,
}

impl<'a> Parts<'a> {
    fn new(path: &'a str) -> Self {
        let names = names_of(path);
        let is_absolute = match names.first() {
            Some(drive) if drive.len() == 2 && drive.ends_with(':') => true,
            _ => path.starts_with(['/', '\\']),
        };
        Self { path, names, is_absolute }
    }

    /// Returns the path from the name at `index` on.
    fn from(&self, index: usize) -> &'a str {
        let Some(name) = self.names.get(index) else { return self.path };
        // Names are slices of the path.
        let at = name.as_ptr() as usize - self.path.as_ptr() as usize;
        &self.path[at..]
    }
}

#[cfg(test)]
mod tests;
