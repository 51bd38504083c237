//! Each key leaves the same files under the attribute and as a method of `Recording`.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::child::{Ended, Running, command, folder};
use tests::files::{data, page, svg};

const KEYS: &str = env!("CARGO_BIN_EXE_keys");

#[test]
#[ignore = "slow: runs 50 programs"]
fn each_key_is_the_same_as_a_method() {
    let names = run("names", "names").1.stdout;
    assert!(names.lines().count() > 20, "{names}");
    for key in names.lines() {
        let (attribute, by_attribute) = run("attribute", key);
        let (builder, by_builder) = run("builder", key);
        assert_eq!(by_attribute.status, by_builder.status, "{key}");
        assert_eq!(by_attribute.stdout, by_builder.stdout, "{key}");
        assert_eq!(by_attribute.messages(), by_builder.messages(), "{key}");
        assert_eq!(attribute, builder, "{key}");
        assert!(!attribute.is_empty(), "{key} left nothing");
    }
}

/// Every key of the attribute that isn't Tokio's or of tests has a twin.
#[test]
fn no_key_is_forgotten() {
    let table = include_str!("../../../tokio-statemap-macros/src/args/table.rs");
    let own = table.split("own OwnKeys:").nth(1).expect("the keys of this crate");
    let lines = own.lines().filter_map(|line| line.trim_start().strip_prefix('"'));
    let keys: BTreeSet<_> = lines.filter_map(|line| Some(line.split_once("\" ")?.0)).collect();
    let keys = keys.iter().filter(|key| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    let elsewhere = ["max_poll", "max_ready", "configure"];
    let names = run("names", "names").1.stdout;
    let mut count = 0;
    for key in keys.filter(|key| !elsewhere.contains(key)) {
        assert!(
            names.lines().any(|name| name == *key),
            "`{key}` has no twin in tests/src/bin/keys.rs"
        );
        count += 1;
    }
    assert!(count > 15, "{count} keys were found");
}

/// Runs one, and returns what it left: the name of each file, and what doesn't depend on time.
fn run(mode: &str, key: &str) -> (BTreeSet<String>, Ended) {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/twins"), &format!("{mode}-{key}"));
    let ended = Running::start(command(KEYS, &folder).args([mode, key])).end();
    assert_eq!(ended.status.code(), Some(0), "{mode} {key}: {}", ended.stderr);
    let mut left = BTreeSet::new();
    describe_all(&folder, "", &mut left);
    (left, ended)
}

fn describe_all(folder: &Path, prefix: &str, left: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            describe_all(&path, &format!("{name}/"), left);
        } else {
            left.insert(format!("{name}: {}", describe(&path)));
        }
    }
}

/// Returns what a file shows, without times.
fn describe(path: &Path) -> String {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => {
            let summary = data(path);
            let entities = summary.entities.keys().map(|entity| {
                format!("{entity} {:?}", summary.states_of(entity).iter().collect::<BTreeSet<_>>())
            });
            let text = fs::read_to_string(path).unwrap();
            let facts = text.lines().find(|line| line.starts_with("{\"tag\":\"tokio-statemap\""));
            let facts: Value = serde_json::from_str(facts.expect("it has facts")).unwrap();
            let facts: Vec<_> =
                ["program", "runtime", "version", "longPollNs", "traceTarget", "scheduleLatency"]
                    .map(|name| facts[name].to_string())
                    .into();
            format!("{:?} {facts:?}", entities.collect::<Vec<_>>())
        }
        Some("html") => {
            let page = page(path);
            let meta = page.meta.as_object().unwrap();
            let has_source =
                page.meta["source"]["all"].as_array().is_some_and(|all| !all.is_empty());
            let keys: Vec<_> = meta.keys().collect();
            format!("{} rows, source {has_source}, {keys:?}", page.rows("tasks"))
        }
        Some("svg") => {
            svg(path);
            "a picture".to_owned()
        }
        _ => format!("{} lines at least", fs::read_to_string(path).unwrap().lines().count().min(5)),
    }
}
