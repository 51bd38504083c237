//! Without the feature `record` the attribute is `#[tokio::main]`, `instrument` is nothing, and nothing of ours
//! is linked.
//!
//! (That the programs behave the same is in `twins.rs`, that `configure` and `hooks` still apply
//! in `own.rs`.)

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use ui_tests::{Case, Dependencies, Kind, Package, Project, cases, diff};

const TMP: &str = env!("CARGO_TARGET_TMPDIR");

/// The text that rustc prints of the expanded program is the same, to the letter.
#[test]
fn expansion_is_that_of_tokio() {
    let package =
        Package { name: "expanded".to_owned(), dependencies: Dependencies::Off, cases: Vec::new() };
    let project = Project::new(TMP, "expanded", vec![package]);
    let libraries = libraries(&project);

    let mut failures = String::new();
    let mut compared = 0;
    for case in cases("ok") {
        let tokio = expanded(&project, &libraries, &case);
        // What is left of our attributes' names is the program's own text: a `use`, a macro.
        let ours = expanded(&project, &libraries, &case.ours())
            .replace("tokio_statemap::main", "tokio::main")
            .replace("tokio_statemap::test", "tokio::test");
        assert!(tokio.contains("Builder"), "{}:\n{tokio}", case.name);
        let diff = diff(&tokio, &ours);
        if !diff.is_empty() {
            writeln!(
                failures,
                "{}: not the same expansion (- Tokio's, + ours):\n{diff}",
                case.name
            )
            .unwrap();
        }
        compared += 1;
    }
    println!("{compared} expansions compared");
    assert!(failures.is_empty(), "\n{failures}");
}

/// Of `instrument` nothing is left.
#[test]
fn instrumented_functions_are_as_written() {
    let dependencies = Dependencies::Off;
    let package = Package { name: "as-written".to_owned(), dependencies, cases: Vec::new() };
    let project = Project::new(TMP, "as-written", vec![package]);
    let libraries = libraries(&project);
    let all = cases("instrument/ok");
    // The one needs another crate; of the other, the text of macros is printed, in which attributes are.
    let left_out = ["instrument-ok-async_trait", "instrument-ok-hygiene"];
    let compared = all.iter().filter(|case| !left_out.contains(&&*case.name));
    let mut failures = String::new();
    for case in compared {
        // An attribute's line leaves a blank one behind.
        let lines = |case: &Case| {
            let text = expanded(&project, &libraries, case);
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.collect::<Vec<_>>().join("\n")
        };
        let diff = diff(&lines(&case.plain()), &lines(case));
        if !diff.is_empty() {
            writeln!(failures, "{}: not as written (- plain, + ours):\n{diff}", case.name).unwrap();
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// The files of the libraries that the cases name, by the name of the crate.
fn libraries(project: &Project) -> BTreeMap<String, PathBuf> {
    let output =
        project.cargo("build").arg("--message-format=json").output().expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            let files = message["filenames"].as_array()?;
            let library =
                files.iter().filter_map(Value::as_str).find(|file| file.ends_with(".rlib"))?;
            matches!(&*name, "tokio" | "tokio_statemap").then(|| (name, library.into()))
        })
        .collect()
}

fn expanded(project: &Project, libraries: &BTreeMap<String, PathBuf>, case: &Case) -> String {
    let file = project.folder().join(format!("{}.rs", case.name));
    std::fs::write(&file, &case.source).expect("the case can be written");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc
        // The expansion is printed by unstable rustcs only; this makes any rustc one, for this call.
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["-Zunpretty=expanded", "--crate-name=case", "--edition"])
        .arg(&case.edition)
        .args(["--cfg", "tokio_unstable"])
        .arg(&file);
    if case.kind == Kind::Test {
        rustc.arg("--test");
    }
    for (name, library) in libraries {
        let folder = library.parent().expect("a file is in a folder");
        rustc
            .arg("--extern")
            .arg(format!("{name}={}", library.display()))
            .arg("-L")
            .arg(format!("dependency={}", folder.join("deps").display()))
            .arg("-L")
            .arg(format!("dependency={}", folder.display()));
    }
    let output = rustc.output().expect("rustc can be run");
    assert!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What records isn't even compiled.
#[test]
fn nothing_that_records_is_compiled() {
    let package = |name: &str, dependencies| Package {
        name: name.to_owned(),
        dependencies,
        cases: Vec::new(),
    };
    let packages =
        vec![package("tree-off", Dependencies::Off), package("tree-tokio", Dependencies::Tokio)];
    let project = Project::new(TMP, "tree-off", packages);
    let (off, tokio) = (project.tree("tree-off"), project.tree("tree-tokio"));

    let added: Vec<&String> = off.iter().filter(|name| !tokio.contains(name)).collect();
    println!("without `record`, beside Tokio: {added:?}");
    let names: Vec<&str> = added.iter().filter_map(|name| name.split(' ').next()).collect();
    assert_eq!(names, ["tokio-statemap", "tokio-statemap-macros"]);
}

/// What a user's crate comes to depend on, with `record`.
#[test]
fn few_packages_are_added() {
    let package = |name: &str, dependencies| Package {
        name: name.to_owned(),
        dependencies,
        cases: Vec::new(),
    };
    let packages = vec![
        package("tree-ours", Dependencies::OnlyRecording),
        package("tree-no-html", Dependencies::WithoutHtml),
        package("tree-only-tokio", Dependencies::OnlyTokio),
    ];
    let project = Project::new(TMP, "tree-record", packages);
    let (ours, tokio) = (project.tree("tree-ours"), project.tree("tree-only-tokio"));
    let without_html = project.tree("tree-no-html");

    let added: Vec<&String> = ours.iter().filter(|name| !tokio.contains(name)).collect();
    println!("with `record`, beside Tokio: {} packages: {added:?}", added.len());
    assert!(added.len() <= 25);
    assert!(added.iter().any(|package| package.starts_with("itoa")));

    let for_html = ours.iter().filter(|name| !without_html.contains(name));
    let for_html: Vec<&str> = for_html.filter_map(|name| name.split(' ').next()).collect();
    println!("of which for `html`: {for_html:?}");
    assert_eq!(for_html, ["adler2", "base64", "miniz_oxide"]);
}
