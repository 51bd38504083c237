//! Finds the traits that a crate implements for foreign types, from its source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the heads of the `impl`s in `folder` that may make a line ambiguous in another crate: of
/// a foreign trait with a parameter, for a foreign type.
///
/// (Rust forbids it for a trait without one.) Types are compared by name, so an alias counts as
/// foreign.
///
/// # Panics
///
/// Panics if the folder can't be read.
pub fn foreign_impls(folder: &Path) -> BTreeSet<String> {
    let mut text = String::new();
    read(folder, &mut text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let declared = |keywords: &[&str]| -> BTreeSet<&str> {
        let pairs = words.windows(2).filter(|pair| keywords.contains(&pair[0]));
        pairs.map(|pair| identifier(pair[1])).collect()
    };
    let types = declared(&["struct", "enum", "union"]);
    let traits = declared(&["trait"]);
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("impl") {
        let is_word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let Some(rest) = text[at..].strip_prefix("impl").filter(|_| is_word) else { continue };
        if !rest.starts_with(['<', ' ', '\n']) {
            continue;
        }
        let Some(end) = rest.find(['{', ';']) else { continue };
        let head = rest[..end].split_whitespace().collect::<Vec<_>>().join(" ");
        let head = head.split(" where ").next().unwrap_or_default();
        let Some((implemented, of)) = behind_generics(head).split_once(" for ") else { continue };
        let (path, parameters) = implemented.split_once('<').unwrap_or((implemented, ""));
        let name = path.rsplit("::").next().unwrap_or(path).trim();
        // A reference to a type is as local as the type.
        let referred = of.trim_start_matches('&').split(' ');
        let referred = referred.filter(|word| !word.starts_with('\'') && *word != "mut");
        let type_path = referred.collect::<Vec<_>>().join(" ");
        let type_path = type_path.split('<').next().unwrap_or_default();
        let is_ours = types.contains(identifier(type_path.rsplit("::").next().unwrap_or_default()))
            && !["std::", "core::", "alloc::"].iter().any(|std| type_path.starts_with(std));
        let has_parameter = !parameters.is_empty() && !parameters.starts_with('\'');
        if has_parameter && !traits.contains(name) && !is_ours {
            found.insert(format!("impl {implemented} for {of}"));
        }
    }
    found
}

/// Returns the head of an `impl` without its own generics.
fn behind_generics(head: &str) -> &str {
    if !head.starts_with('<') {
        return head;
    }
    let mut depth = 0_usize;
    let mut last = ' ';
    for (at, c) in head.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if last != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return head[at + 1..].trim_start();
        }
        last = c;
    }
    head
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Reads all Rust code in a folder, without comment lines.
fn read(folder: &Path, text: &mut String) {
    let entries = fs::read_dir(folder).unwrap_or_else(|err| panic!("{folder:?}: {err}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.file_stem().is_some_and(|name| name == "tests") {
            // Other crates don't get those.
        } else if path.is_dir() {
            read(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let code = fs::read_to_string(&path).unwrap_or_else(|err| panic!("{path:?}: {err}"));
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_make_a_line_ambiguous_is_found() {
        let folder = std::env::temp_dir().join(format!("foreign-impls-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(
            folder.join("inner/mod.rs"),
            "pub struct Value;\npub enum Kind {}\ntrait Mine<T> {}\n\
             impl PartialEq<Value> for str {}\n\
             impl<'a, T: Fn() -> u8> PartialEq<Wrap<T>>\n    for &'a String\nwhere T: Copy {}\n\
             macro_rules! m { ($t:ty) => { impl PartialEq<Value> for $t {} } }\n\
             unsafe impl core::convert::From<Value> for std::io::Kind {}\n\
             // impl From<Value> for u8 {}\n\
             impl From<u8> for Value {}\nimpl<'a> PartialEq<u8> for &'a mut Kind {}\n\
             impl Mine<u8> for u8 {}\nimpl Clone for Value {}\nimpl Value { fn f(_: impl Fn()) {} }\n",
        )
        .unwrap();
        let found = foreign_impls(&folder);
        fs::remove_dir_all(&folder).unwrap();
        let right = [
            "impl PartialEq<Value> for $t",
            "impl PartialEq<Value> for str",
            "impl PartialEq<Wrap<T>> for &'a String",
            "impl core::convert::From<Value> for std::io::Kind",
        ];
        assert_eq!(found.iter().collect::<Vec<_>>(), right);
    }
}
