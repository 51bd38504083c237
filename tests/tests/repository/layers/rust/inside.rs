//! Paths in Rust between the files of one module.

use std::collections::{BTreeMap, BTreeSet};

use super::{code, is_in_name, is_name, test_modules, without_tests};
use crate::layers::{Source, line};

/// A path in a file to another file of the module.
struct Import<'a> {
    path: &'a str,
    line: usize,
    from: Vec<&'a str>,
    to: Vec<&'a str>,
}

/// Each path, outside of tests and comments, that breaks the order inside a module: one from a child to a later one of
/// `order`, or one of a circle of files that are not a parent and its child.
///
/// `sources` are relative to the folder of the module, which is `root` from the crate's root. An empty `order` allows all
/// but circles.
pub(in crate::layers) fn offenders(
    sources: &[Source],
    root: &str,
    order: &[&[&str]],
) -> Vec<String> {
    let tests: Vec<String> =
        sources.iter().flat_map(|(path, text)| test_modules(path, &code(text))).collect();
    let is_test = |path: &str| {
        tests.iter().any(|test| path.strip_prefix(test).is_some_and(super::is_end_of_module))
    };
    let files: Vec<(&str, String)> = sources
        .iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| (path.as_str(), without_tests(&code(text))))
        .collect();
    let modules: BTreeSet<Vec<&str>> = files.iter().map(|(path, _)| module(path)).collect();
    let mut imports = Vec::new();
    for (path, text) in &files {
        let from = module(path);
        for (offset, to) in paths(text, &from, root) {
            let Some(to) = deepest(&modules, &to) else { continue };
            if !to.starts_with(&from) && !from.starts_with(&to) {
                imports.push(Import { path, line: line(text, offset), from: from.clone(), to });
            }
        }
    }
    let mut offenders = against_order(&modules, &imports, order);
    offenders.extend(circles(&imports));
    offenders
}

fn against_order(
    modules: &BTreeSet<Vec<&str>>,
    imports: &[Import<'_>],
    order: &[&[&str]],
) -> Vec<String> {
    if order.is_empty() {
        return Vec::new();
    }
    let rank = |module: &str| order.iter().position(|layer| layer.contains(&module));
    let children: BTreeSet<&str> =
        modules.iter().filter_map(|module| module.first().copied()).collect();
    let mut offenders: Vec<String> = children
        .iter()
        .filter(|child| rank(child).is_none())
        .map(|child| format!("the module `{child}` has no place in the order"))
        .collect();
    for Import { path, line, from, to } in imports {
        if rank(from[0]) < rank(to[0]) {
            offenders.push(format!("{path}:{line}: {} -> {}, which is above", from[0], to[0]));
        }
    }
    offenders
}

/// The imports that close circles.
fn circles(imports: &[Import<'_>]) -> Vec<String> {
    let mut edges: BTreeMap<&[&str], BTreeSet<&[&str]>> = BTreeMap::new();
    for import in imports {
        edges.entry(&import.from).or_default().insert(&import.to);
    }
    let reaches = |from: &[&str], to: &[&str]| {
        let (mut open, mut seen) = (vec![from], BTreeSet::new());
        while let Some(module) = open.pop() {
            if module == to {
                return true;
            }
            if seen.insert(module) {
                open.extend(edges.get(module).into_iter().flatten());
            }
        }
        false
    };
    imports
        .iter()
        .filter(|import| reaches(&import.to, &import.from))
        .map(|Import { path, line, from, to }| {
            format!("{path}:{line}: {} -> {}, which leads back", from.join("::"), to.join("::"))
        })
        .collect()
}

/// The module of a file.
fn module(path: &str) -> Vec<&str> {
    let path = path.trim_end_matches(".rs");
    path.split('/').filter(|name| *name != "mod").collect()
}

/// The module that a path leads to, or into.
fn deepest<'a>(modules: &BTreeSet<Vec<&'a str>>, path: &[String]) -> Option<Vec<&'a str>> {
    (1..=path.len()).rev().find_map(|n| {
        let is_it = |module: &&Vec<&str>| module.len() == n && module.iter().eq(&path[..n]);
        modules.iter().find(is_it).cloned()
    })
}

/// Where paths begin that stay in the module, and the names that they have from there.
fn paths(text: &str, from: &[&str], root: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in text.match_indices(start) {
            let is_inner = is_in_name(text.as_bytes(), at) || text[..at].ends_with("::");
            if is_inner || text[..at].trim_end().ends_with("(in") {
                continue;
            }
            let mut prefix: Vec<String> = Vec::new();
            let mut rest = &text[at + start.len()..];
            if start == "crate::" {
                let Some(inside) = rest.strip_prefix(root).and_then(|rest| rest.strip_prefix("::"))
                else {
                    continue;
                };
                rest = inside;
            } else {
                let mut ups = 1;
                while let Some(next) = rest.strip_prefix("super::") {
                    (ups, rest) = (ups + 1, next);
                }
                let Some(depth) = from.len().checked_sub(ups) else { continue };
                prefix.extend(from[..depth].iter().map(|name| name.to_string()));
            }
            add(rest, prefix, at, &mut found);
        }
    }
    found
}

/// Adds the path that `rest` begins with, or each in a group; returns what follows.
fn add<'a>(
    rest: &'a str,
    mut prefix: Vec<String>,
    at: usize,
    found: &mut Vec<(usize, Vec<String>)>,
) -> &'a str {
    if let Some(mut group) = rest.strip_prefix('{') {
        loop {
            group = group.trim_start_matches([',', ' ', '\n', '\t']);
            if let Some(after) = group.strip_prefix('}') {
                return after;
            }
            let after = add(group, prefix.clone(), at, found);
            if after.len() == group.len() {
                return after;
            }
            group = after;
        }
    }
    let end = rest.bytes().position(|byte| !is_name(byte)).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    if !name.is_empty() && name != "self" {
        prefix.push(name.to_owned());
    }
    match after.strip_prefix("::") {
        Some(inner) if !name.is_empty() => add(inner, prefix, at, found),
        _ => {
            found.push((at, prefix));
            // A new name.
            after.strip_prefix(" as ").map_or(after, |renamed| {
                renamed.trim_start_matches(|c: char| c == '_' || c.is_alphanumeric())
            })
        }
    }
}

fn offenders_of(files: &[(&str, &str)], order: &[&[&str]]) -> Vec<String> {
    let sources: Vec<Source> =
        files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
    offenders(&sources, "room", order)
}

#[test]
fn an_import_against_the_order_is_named() {
    let files = [
        ("mod.rs", "mod low; mod high; use high::A;"),
        ("low.rs", "use super::high::A;\n#[cfg(test)]\nmod tests { use super::super::high::B; }"),
        ("high/mod.rs", "use crate::room::{low::{A, B as C}, Own};\nuse crate::other::high;"),
        ("high/inner.rs", "use super::Item; use crate::room::low;"),
        ("new.rs", ""),
    ];
    let found = offenders_of(&files, &[&["low"], &["high"]]);
    assert!(found.contains(&"low.rs:1: low -> high, which is above".to_owned()), "{found:?}");
    assert!(found.contains(&"the module `new` has no place in the order".to_owned()), "{found:?}");
    // The two are a circle, too.
    assert_eq!(found.len(), 5, "{found:?}");
}

#[test]
fn only_a_parent_and_its_child_may_name_each_other() {
    let circle = [
        ("a/mod.rs", "use b::B; use super::c::C;"),
        ("a/b.rs", "use super::Item;\nfn f() { super::d::f() }"),
        ("a/d.rs", "use super::{b::{self, B}, Item};"),
        ("c.rs", "use super::e;"),
        ("e.rs", ""),
    ];
    let found = offenders_of(&circle, &[]);
    assert_eq!(
        found,
        [
            "a/b.rs:2: a::b -> a::d, which leads back",
            "a/d.rs:1: a::d -> a::b, which leads back",
            "a/d.rs:1: a::d -> a::b, which leads back",
        ]
    );
}
