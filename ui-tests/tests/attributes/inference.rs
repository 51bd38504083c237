//! rustc's type inference in a program is the same with tokio-statemap among the dependencies.
//!
//! Any crate in the dependency tree that implements a trait of std for a type of std makes lines
//! ambiguous: `assert_eq!(bytes, [])` has one meaning only as long as `u8` is comparable with `u8`
//! alone.

use std::collections::{BTreeMap, BTreeSet};

use ui_tests::{Dependencies, Package, Project, cases, foreign_impls};

const TMP: &str = env!("CARGO_TARGET_TMPDIR");

/// Checks both kinds of cases: lines as in programs, and all pairs of types and traits of std that
/// were found to be unambiguous.
#[test]
fn what_std_alone_decides_it_still_decides() {
    let tokio = cases("std");
    let ours: Vec<_> = tokio.iter().map(|case| case.ours()).collect();
    let mut packages = Package::group("std-tokio", Dependencies::Tokio, &tokio);
    packages.extend(Package::group("std-ours", Dependencies::Recording, &ours));
    let project = Project::new(TMP, "std", packages);
    let built = project.build();
    for (tokio, ours) in tokio.iter().zip(&ours) {
        let of_tokio = &built[&project.target("std-tokio", tokio)];
        assert!(
            of_tokio.program.is_some(),
            "std doesn't decide this any more, so nobody can rely on it:\n{}",
            of_tokio.text()
        );
        let of_ours = &built[&project.target("std-ours", ours)];
        assert!(of_ours.program.is_some(), "{}:\n{}", ours.name, of_ours.text());
    }
}

/// The crates that a program with the defaults links besides Tokio's own, each with its
/// implementations for foreign types.
const LOOKED_AT: &[(&str, &[&str])] = &[
    ("addr2line", &[]),
    ("adler2", &[]),
    // These make `<` between a `str` and an inferred type ambiguous: `"a" < x.into()` needs a type
    // with the feature `stacks`, as documented in Limits. So the pairs of `cases/std` exclude it.
    // `==` of a `str` is ambiguous in std, too.
    (
        "arrayvec",
        &["impl PartialEq<ArrayString<CAP>> for str", "impl PartialOrd<ArrayString<CAP>> for str"],
    ),
    ("base64", &[]),
    ("cfg-if", &[]),
    ("fallible-iterator", &[]),
    ("framehop", &[]),
    ("gimli", &[]),
    ("itoa", &[]),
    ("libc", &[]),
    ("memchr", &[]),
    // None of these makes a line ambiguous: std also converts several types to `i32`, and no
    // foreign `Result` is one of its own two types.
    (
        "miniz_oxide",
        &[
            "impl From<CompressionStrategy> for i32",
            "impl core::convert::From<&StreamResult> for MZResult",
            "impl core::convert::From<StreamResult> for MZResult",
        ],
    ),
    ("object", &[]),
    ("rtrb", &[]),
    // These are strings in its tests.
    (
        "rustc-demangle",
        &[
            "impl core::ops::index::IndexMut<I> for [T]>::index_mut.exit.i.i\")",
            "impl core::ops::index::IndexMut<I> for [T]>::index_mut::haf9727c2edfbc47b.exit.i.i\")",
        ],
    ),
    ("stable_deref_trait", &[]),
    ("thiserror", &[]),
    ("tokio-statemap", &[]),
];

/// A crate that is new in the tree must be checked first.
#[test]
fn the_default_tree_was_looked_at() {
    let package = |name: &str, dependencies| Package {
        name: name.to_owned(),
        dependencies,
        cases: Vec::new(),
    };
    let packages = vec![
        package("linked-ours", Dependencies::OnlyRecording),
        package("linked-tokio", Dependencies::OnlyTokio),
    ];
    let project = Project::new(TMP, "linked", packages);
    let (ours, tokio) = (project.linked("linked-ours"), project.linked("linked-tokio"));
    println!("linked: {:?}; with Tokio alone: {:?}", ours.keys(), tokio.keys());
    let added = ours.iter().filter(|(name, _)| !tokio.contains_key(*name));
    let found: BTreeMap<&str, BTreeSet<String>> =
        added.map(|(name, folder)| (name.as_str(), foreign_impls(&folder.join("src")))).collect();
    let looked_at = LOOKED_AT.iter().map(|&(name, impls)| {
        (name, impls.iter().map(|&head| head.to_owned()).collect::<BTreeSet<_>>())
    });
    assert_eq!(found, looked_at.collect());
}
