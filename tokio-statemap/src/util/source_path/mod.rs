//! Shortens the paths of source files for display: they begin at the package. The folders in which packages
//! are stored don't help readers, and may be private.

mod fit;

use crate::util::map::Map;
use std::borrow::Cow;

#[cfg(feature = "svg")]
pub(crate) use fit::LONGEST;
pub(crate) use fit::fit;

/// The folders of a package with sources.
const OF_SOURCES: [&str; 4] = ["src", "tests", "examples", "benches"];

/// The number of last parts that are shown of a path to which no other rule applies.
const LAST_PARTS: usize = 3;

/// The most parts that are shown to tell a path from another.
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
        // A repository has its revision behind it.
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
    for files in alike.values().filter(|files| files.len() > 1) {
        let are_apart = |level: u8| {
            let mut all: Vec<_> = files.iter().map(|file| shown_at(file, level)).collect();
            let is_free = |shown: &Cow<'_, str>| {
                alike
                    .get(&**shown)
                    .is_none_or(|others| others.iter().all(|file| files.contains(file)))
            };
            let are_free = all.iter().all(is_free);
            crate::util::sort::sort(&mut all);
            all.dedup();
            are_free && all.len() == files.len()
        };
        let level = (1..=MOST_PARTS).find(|&level| are_apart(level)).unwrap_or(AS_IT_IS);
        levels.extend(files.iter().map(|file| (*file, level)));
    }
    let mut shown: Vec<_> = levels.iter().map(|(file, level)| shown_at(file, *level)).collect();
    crate::util::sort::sort(&mut shown);
    if shown.windows(2).any(|two| two[0] == two[1]) {
        levels.values_mut().for_each(|level| *level = AS_IT_IS);
    }
    levels
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
    if let Some(at) = position(names, &["registry", "src"]).filter(|at| names.len() > at + 4) {
        return from(at + 3);
    }
    // Parts of the path may be left out by `--remap-path-prefix`.
    let is_index = |name: &&str| name.starts_with("index.crates.io-");
    if let Some(at) = names.iter().position(is_index).filter(|at| names.len() > at + 2) {
        return from(at + 1);
    }
    let at = position(names, &["git", "checkouts"]).filter(|at| names.len() > at + 4)?;
    Some(Shown { head: Some(without_hash(names[at + 2])), from: at + 4 })
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
    let is_versioned = |name: &&str| name.strip_prefix("rustc-").is_some_and(is_version);
    let at = position(names, &["rustlib", "src", "rust"])
        .map(|at| at + 3)
        .or_else(|| names.iter().position(is_versioned).map(|at| at + 1))
        .or_else(|| position(names, &["rustc"]).map(|at| at + 2));
    let is_of_std =
        |at: &usize| matches!(names.get(*at), Some(&"library" | &"vendor")) && names.len() > at + 2;
    match at.filter(is_of_std) {
        Some(at) => Some(at + 1),
        None => {
            position(names, &["rust", "deps"]).filter(|at| names.len() > at + 3).map(|at| at + 2)
        }
    }
}

/// Returns the index of the package in the path of a file that its build script wrote.
fn build_script_part(names: &[&str]) -> Option<usize> {
    let at = names.iter().rposition(|name| *name == "out")?;
    (at >= 2 && names[at - 2] == "build" && at + 1 < names.len()).then(|| at - 1)
}

/// Returns the index of the package's folder in the folders of a source file's path.
fn package_of(folders: &[&str]) -> Option<usize> {
    let last = |of: &[&str]| folders.iter().rposition(|name| of.contains(name));
    let at = last(&OF_SOURCES[..1]).or_else(|| last(&OF_SOURCES[1..]))?;
    at.checked_sub(1)
}

/// `mini-redis` of `mini-redis-0c9c8b0f7d7d0c1d`.
fn without_hash(repository: &str) -> &str {
    repository.rsplit_once('-').map_or(repository, |(name, _)| name)
}

/// Returns the first position of `these` in a row.
fn position(names: &[&str], these: &[&str]) -> Option<usize> {
    names.windows(these.len()).position(|window| window == these)
}

/// Returns the names that follow the first `these` in a row.
#[cfg(feature = "symbols")]
pub(crate) fn after<'a, 'b>(names: &'b [&'a str], these: &[&str]) -> Option<&'b [&'a str]> {
    Some(&names[position(names, these)? + these.len()..])
}

/// Returns `true` if `text` begins as a version does: `1.54`.
pub(crate) fn is_version(text: &str) -> bool {
    let Some((major, rest)) = text.split_once('.') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_number(major) && rest.starts_with(|c: char| c.is_ascii_digit())
}

/// A path and the names that it is made of.
struct Parts<'a> {
    path: &'a str,
    names: Vec<&'a str>,
    is_absolute: bool,
}

impl<'a> Parts<'a> {
    fn new(path: &'a str) -> Self {
        let names: Vec<_> = path.split(['/', '\\']).filter(|name| !name.is_empty()).collect();
        let is_drive = |name: &&str| name.len() == 2 && name.ends_with(':');
        let is_absolute = path.starts_with(['/', '\\']) || names.first().is_some_and(is_drive);
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
