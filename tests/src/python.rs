//! Runs Python scripts that read the exports with Perfetto's schema and DuckDB.
//!
//! Nothing is installed. A test that lacks a module is left out, and [`left_out`] prints how to get the module.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::left_out::left_out;

/// Returns a Python that can import `module`, for the test of `what`, or `None` if there is none.
///
/// `target` is cargo's folder for files of tests.
///
/// # Panics
///
/// As [`left_out`].
pub fn python(target: &Path, what: &str, module: &str) -> Option<PathBuf> {
    let folder = target.join("python");
    let python = folder.join("bin/python");
    let imported = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if imported.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("export/requirements.txt");
    let (folder, requirements) = (folder.display(), requirements.display());
    let why = format!(
        "there is no Python with {module}; `python3 -m venv {folder} && {folder}/bin/pip install -r {requirements}` \
         installs it"
    );
    left_out(what, &why);
    None
}

/// Runs a script of `tests/export` in `folder` and returns the JSON that it prints.
///
/// # Panics
///
/// If it fails, or prints no JSON.
pub fn run(python: &Path, script: &str, argument: &Path, folder: &Path) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("export").join(script);
    let output = Command::new(python).arg(script).arg(argument).current_dir(folder).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}
