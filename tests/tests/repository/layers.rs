//! The order of the library's modules, and of the page's scripts: an import points down.
//!
//! The order is that of ARCHITECTURE.md: data flows up, from what hooks record to what people look
//! at, and no module names one above it.

mod rust;
mod script;

use std::fs;
use std::path::{Path, PathBuf};

/// The root modules, the lowest first. Those of one line may name each other. `lib.rs` and the
/// command are above all.
const MODULES: &[&[&str]] = &[
    &["sys"],
    &["util"],
    &["choices", "error"],
    &["config"],
    &["symbols"],
    &["recorder"],
    &["trace"],
    &["statemap"],
    &["analysis"],
    &["render"],
    &["hooks", "collector", "current", "task"],
    &["recording", "layer"],
];

/// The modules of the recorder, the lowest first: see `recorder/mod.rs`.
const RECORDER: &[&[&str]] = &[
    &["boxed", "id_map", "locks", "lost"],
    &["task_id"],
    &["record"],
    &["clock"],
    &["window"],
    &["store"],
    &["memory"],
    &["process"],
    &["kept"],
    &["calls", "machine", "unwind", "wakes", "watch"],
    &["spans"],
    &["chains"],
    &["black_box"],
    &["hot"],
    &["root_waker", "waits"],
    &["functions", "root_future"],
    &["background"],
    &["capture"],
];

/// The modules of the trace, the lowest first: see `trace/mod.rs`.
const TRACE: &[&[&str]] = &[
    &["clock", "profile", "state", "task_key", "wait_id"],
    &["requests", "woken_by"],
    &["event"],
    &["snapshot"],
    &["summary"],
    &["timeline"],
    &["live_poll", "recovered"],
];

/// The modules of the statemap data, the lowest first: see `statemap/mod.rs`.
const STATEMAP: &[&[&str]] = &[
    &["intern", "labels", "run"],
    &["format"],
    &["write"],
    &["read"],
    &["align", "timeline"],
    &["check", "cut", "renew"],
];

/// The modules of the analysis, the lowest first: see `analysis/mod.rs`.
const ANALYSIS: &[&[&str]] = &[
    &["place", "lengths", "recording", "workers", "spots", "usual"],
    &["spelling", "poll", "request"],
    &["blocking_cause", "delay"],
    &["blame"],
    &["own_time", "resumed", "waits"],
    &["beside", "let_go", "behind_lock"],
    &["long_polls", "locations", "recent", "waiting_now"],
    &["sampled"],
    &["computed", "culprits"],
    &["whole_run", "trees", "runs"],
    &["blockers", "overdue", "local_tasks"],
    &["statement"],
    &["critical_path", "issues"],
    &["verdict"],
    &["report"],
    &["severity"],
    &["polls", "limits", "compare", "foreign", "awaits"],
    &["picture"],
];

/// The modules of the outputs, the lowest first: see `render/mod.rs`.
const RENDER: &[&[&str]] = &[
    &["palette"],
    &["report", "trees", "html", "svg", "prometheus", "export"],
    &["awaits", "compare", "limits", "now"],
];

/// The folders of the page's script, the lowest first. `main.js` is above all.
const FOLDERS: &[&str] = &["format", "data", "model", "draw", "ui"];

/// A source file: its path from the folder that is looked at, with `/`, and its text.
type Source = (String, String);

#[test]
fn no_module_names_one_above_it() {
    let offenders = rust::offenders(&sources("tokio-statemap/src", "rs"), MODULES);
    assert!(offenders.is_empty(), "\n{}\n", offenders.join("\n"));
}

#[test]
fn no_file_of_a_module_names_one_above_it() {
    for (module, order) in [
        ("recorder", RECORDER),
        ("trace", TRACE),
        ("statemap", STATEMAP),
        ("analysis", ANALYSIS),
        ("render", RENDER),
    ] {
        let sources = sources(&format!("tokio-statemap/src/{module}"), "rs");
        let offenders = rust::inside::offenders(&sources, module, order);
        assert!(offenders.is_empty(), "{module}:\n{}\n", offenders.join("\n"));
    }
}

#[test]
fn no_script_imports_one_above_it() {
    let scripts = sources("tokio-statemap/src/render/html/page", "js");
    let offenders = script::offenders(&scripts, FOLDERS);
    assert!(offenders.is_empty(), "\n{}\n", offenders.join("\n"));
}

/// The files in `folder` of the repository whose name ends in `extension`.
pub(crate) fn sources(folder: &str, extension: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut paths = Vec::new();
    add_files(&root, &mut paths);
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    assert!(!paths.is_empty(), "{folder}");
    let relative = |path: &Path| {
        let parts = path.strip_prefix(&root).unwrap().components();
        parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    };
    paths.iter().map(|path| (relative(path), fs::read_to_string(path).unwrap())).collect()
}

fn add_files(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => add_files(&path, paths),
            false => paths.push(path),
        }
    }
}

/// The line of the byte at `offset`, from 1.
fn line(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}
