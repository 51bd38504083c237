//! The licences, versions and sources of the package's dependencies.
//!
//! `cargo deny check licenses bans sources` would answer these questions, too, but building it takes longer than building
//! this whole project.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Licences that require no more than a notice.
const LICENCES: [&str; 7] = [
    "MIT",
    "Apache-2.0",
    "BSD-3-Clause",
    "CC0-1.0",
    "Unicode-3.0",
    "Zlib",
    "Apache-2.0 WITH LLVM-exception",
];
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

const ALL: &[&str] = &["--all-features"];
/// All features but `parquet`, whose dependencies have other versions of some of the command's dependencies.
const ALL_BUT_PARQUET: &[&str] = &["--features", "cli,stacks,schedule-latency,sdt,tracing"];

/// Returns the packages from which `tokio-statemap` with these features is built, without those for tests.
fn packages(features: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(features)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../tokio-statemap"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| (node["id"].as_str().expect("an id"), node))
        .collect();
    let root = nodes.keys().find(|id| id.contains("/tokio-statemap#")).expect("our package");
    let (mut found, mut to_visit) = (BTreeSet::new(), vec![*root]);
    while let Some(id) = to_visit.pop() {
        if !found.insert(id) {
            continue;
        }
        for dependency in list(&nodes[id]["deps"]) {
            let is_of_tests = |kind: &Value| kind["kind"] == "dev";
            if !list(&dependency["dep_kinds"]).iter().all(is_of_tests) {
                to_visit.push(dependency["pkg"].as_str().expect("an id"));
            }
        }
    }
    let is_found = |package: &&Value| package["id"].as_str().is_some_and(|id| found.contains(id));
    list(&metadata["packages"]).iter().filter(is_found).cloned().collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn name(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    format!("{} {}", text("name"), text("version"))
}

/// Returns whether the allowed licences satisfy an SPDX expression. It knows `OR`, `AND`, and parentheses around
/// alternatives, which is all that the dependencies use.
fn is_allowed(expression: &str) -> bool {
    let all_of = expression.split(" AND ");
    all_of.into_iter().all(|part| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        part.replace('/', " OR ").split(" OR ").any(|one| LICENCES.contains(&one.trim()))
    })
}

#[test]
fn licences_are_permissive() {
    let refused: Vec<_> = packages(ALL)
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(is_allowed))
        .map(|package| format!("{}: {}", name(package), package["license"]))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(!is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0"));
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
}

#[test]
fn no_crate_has_two_versions() {
    // The features of crates that tests use, too, are those that the package needs. `cargo metadata` has those that the
    // tests need.
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", "tokio-statemap", "--edges", "normal,build"])
        .args(["--target", "all", "--prefix", "none", "--format", "{p}"])
        .args(ALL_BUT_PARQUET)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).expect("it is text");
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in tree.lines() {
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            versions.entry(name).or_default().insert(version);
        }
    }
    assert!(versions.len() > 20, "{versions:#?}");
    versions.retain(|_, versions| versions.len() > 1);
    assert!(versions.is_empty(), "{versions:#?}");
}

#[test]
fn all_crates_come_from_the_registry() {
    let packages = packages(ALL);
    assert!(packages.len() > 20, "{}", packages.len());
    let others: Vec<_> = packages
        .iter()
        // This workspace's packages have no source.
        .filter(|package| !package["source"].is_null() && package["source"] != REGISTRY)
        .map(name)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}
