//! How the path of a source file is shown: from its package on. Where packages are kept says nothing to a
//! reader, and may be nobody's business.

mod fit;

use std::borrow::Cow;
use std::collections::HashMap;

pub(crate) use fit::{LONGEST, fit};

/// The folders of a package that sources are in.
const OF_SOURCES: [&str; 4] = ["src", "tests", "examples", "benches"];

/// How much is shown of a path to which nothing else applies: so many of its last parts.
const LAST_PARTS: usize = 3;

/// Of how many parts of a path it is tried whether they tell it from another.
const MOST_PARTS: u8 = 32;

/// The level at which nothing of a path is left out, and no separator is another.
const AS_IT_IS: u8 = u8::MAX;

/// The path of a source file as every output shows it; what stands behind it, as `:21`, stays.
///
/// Of a package of a registry `axum-0.8.9/src/serve/mod.rs`, of a repository `mini-redis/src/db.rs`, of the standard
/// library `std/src/thread/mod.rs`; of the program's own packages the path from the folder that they were compiled in.
/// The separators are `/`.
pub(crate) fn shown(path: &str) -> Cow<'_, str> {
    shown_at(path, 0)
}

/// The same with more of what is left out, the higher the `level`: see [`levels`].
pub(crate) fn shown_at(path: &str, level: u8) -> Cow<'_, str> {
    if level == AS_IT_IS {
        return Cow::Borrowed(path);
    }
    let parts = Parts::of(path);
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

/// The levels at which files are shown that would be shown alike at the lowest, so that each is shown otherwise than
/// all the others; those that aren't there are at the lowest.
pub(crate) fn levels<'a>(files: impl IntoIterator<Item = &'a str>) -> HashMap<&'a str, u8> {
    let mut alike: HashMap<Cow<'a, str>, Vec<&'a str>> = HashMap::new();
    for file in files {
        let of = alike.entry(shown(file)).or_default();
        if !of.contains(&file) {
            of.push(file);
        }
    }
    let mut levels = HashMap::new();
    for files in alike.values().filter(|files| files.len() > 1) {
        let are_apart = |level: u8| {
            let mut all: Vec<_> = files.iter().map(|file| shown_at(file, level)).collect();
            let is_free = |shown: &Cow<'_, str>| {
                alike
                    .get(&**shown)
                    .is_none_or(|others| others.iter().all(|file| files.contains(file)))
            };
            let are_free = all.iter().all(is_free);
            all.sort_unstable();
            all.dedup();
            are_free && all.len() == files.len()
        };
        let level = (1..=MOST_PARTS).find(|&level| are_apart(level)).unwrap_or(AS_IT_IS);
        levels.extend(files.iter().map(|file| (*file, level)));
    }
    let mut shown: Vec<_> = levels.iter().map(|(file, level)| shown_at(file, *level)).collect();
    shown.sort_unstable();
    if shown.windows(2).any(|two| two[0] == two[1]) {
        levels.values_mut().for_each(|level| *level = AS_IT_IS);
    }
    levels
}

/// What is shown of a path: the parts from one on, behind a head if there is one.
#[derive(Debug)]
struct Shown<'a> {
    head: Option<&'a str>,
    from: usize,
}

/// Whether a source file is one of a dependency, or of std, as far as its path says so.
pub(crate) fn is_of_dependency(path: &str) -> bool {
    of_dependency(&Parts::of(path).names).is_some()
}

/// What is shown of a path of a dependency, or of std; `None` if it is none.
fn of_dependency<'a>(names: &[&'a str]) -> Option<Shown<'a>> {
    let from = |from| Some(Shown { head: None, from });
    if let Some(at) = of_std(names) {
        return from(at);
    }
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
    if let Some(shown) = of_dependency(names) {
        return shown;
    }
    if !parts.is_absolute {
        return from(usize::from(names.first() == Some(&".")));
    }
    if let Some(at) = of_build_script(names) {
        return from(at);
    }
    // The last part is the file.
    let folders = &names[..names.len().saturating_sub(1)];
    from(match package_of(folders) {
        Some(at) => at,
        None => names.len().saturating_sub(LAST_PARTS),
    })
}

/// Where the path of a source of the standard library, or of what it is made of, goes on with its crate.
fn of_std(names: &[&str]) -> Option<usize> {
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

/// Where a path goes on with the package whose build script wrote the file.
fn of_build_script(names: &[&str]) -> Option<usize> {
    let at = names.iter().rposition(|name| *name == "out")?;
    (at >= 2 && names[at - 2] == "build" && at + 1 < names.len()).then(|| at - 1)
}

/// The folder of the package that a source is in, as an index into the folders of its path.
fn package_of(folders: &[&str]) -> Option<usize> {
    let last = |of: &[&str]| folders.iter().rposition(|name| of.contains(name));
    let at = last(&OF_SOURCES[..1]).or_else(|| last(&OF_SOURCES[1..]))?;
    at.checked_sub(1)
}

/// `mini-redis` of `mini-redis-0c9c8b0f7d7d0c1d`.
fn without_hash(repository: &str) -> &str {
    repository.rsplit_once('-').map_or(repository, |(name, _)| name)
}

/// Where the first `these` in a row are.
fn position(names: &[&str], these: &[&str]) -> Option<usize> {
    names.windows(these.len()).position(|window| window == these)
}

/// What follows the first `these` in a row.
#[cfg(feature = "symbols")]
pub(crate) fn after<'a, 'b>(names: &'b [&'a str], these: &[&str]) -> Option<&'b [&'a str]> {
    Some(&names[position(names, these)? + these.len()..])
}

/// Whether `text` begins as a version does: `1.54`.
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
    fn of(path: &'a str) -> Self {
        let names: Vec<_> = path.split(['/', '\\']).filter(|name| !name.is_empty()).collect();
        let is_drive = |name: &&str| name.len() == 2 && name.ends_with(':');
        let is_absolute = path.starts_with(['/', '\\']) || names.first().is_some_and(is_drive);
        Self { path, names, is_absolute }
    }

    /// The path from one of its names on.
    fn from(&self, index: usize) -> &'a str {
        let Some(name) = self.names.get(index) else { return self.path };
        // Names are slices of the path.
        let at = name.as_ptr() as usize - self.path.as_ptr() as usize;
        &self.path[at..]
    }
}

#[cfg(test)]
mod tests;
