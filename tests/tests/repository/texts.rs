//! The texts of the repository: their links, the length of the README, and how comments of the documentation begin.

use std::fs;
use std::path::{Path, PathBuf};

use crate::layers::sources;

/// Returns the texts below the root of the repository, by the folders that have some.
fn texts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["", "docs/decisions", "tokio-statemap/src/guide", "tokio-statemap/benches"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let mut texts: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    texts.retain(|path| path.extension().is_some_and(|found| found == "md"));
    texts.sort();
    texts
}

/// Returns the targets of a text's links to files, outside of blocks of code.
fn targets(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut targets = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            let definition = line.strip_prefix('[').and_then(|line| line.split_once("]: "));
            targets.extend(inline.chain(definition.map(|(_, target)| target)));
        }
    }
    // Names of the crate's items are links in its documentation alone, which `rustdoc` checks.
    targets.retain(|target| !["http", "#", "crate::"].iter().any(|no| target.starts_with(no)));
    targets
}

#[test]
fn links_lead_to_files() {
    let mut links = 0;
    for path in texts() {
        let text = fs::read_to_string(&path).unwrap();
        for target in targets(&text) {
            let file = target.split('#').next().unwrap();
            assert!(path.parent().unwrap().join(file).exists(), "{}: {target}", path.display());
            links += 1;
        }
    }
    assert!(links > 50, "{links}");
}

#[test]
fn the_readme_is_short() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let words = fs::read_to_string(readme).unwrap().split_whitespace().count();
    assert!(words <= 1500, "the README has {words} words; the guide has room for details");
}

#[test]
fn the_guide_lists_its_pages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tokio-statemap/src/guide");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (module, index, links) = (read("mod.rs"), read("README.md"), read("links.md"));
    for file in fs::read_dir(&folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(page) =
            name.strip_suffix(".md").filter(|name| !["README", "links"].contains(name))
        else {
            continue;
        };
        assert!(module.contains(&format!("include_str!(\"{name}\")")), "mod.rs: {page}");
        let is_listed =
            |line: &str| line.starts_with("| [") && line.contains(&format!("][{page}] |"));
        assert_eq!(index.lines().filter(|line| is_listed(line)).count(), 1, "README.md: {page}");
        assert!(index.contains(&format!("\n[{page}]: {name}\n")), "README.md: {page}");
        assert!(links.contains(&format!("[{page}]: crate::guide::{page}\n")), "links.md: {page}");
    }
}

/// A comment says what something is or does. One that begins with these words is a riddle: `Whether it is on.`
const RIDDLES: [&str; 7] = ["How", "Of", "That", "Those", "What", "Whether", "Who"];

#[test]
fn comments_begin_with_a_subject_or_a_verb() {
    let mut seen = 0;
    let of_crate = |folder| sources(folder, "rs");
    for (path, text) in
        ["tokio-statemap/src", "tokio-statemap-macros/src"].into_iter().flat_map(of_crate)
    {
        let mut is_first = true;
        for (nth, line) in text.lines().map(str::trim_start).enumerate() {
            let Some(comment) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
            else {
                is_first = true;
                continue;
            };
            let word = comment.split_whitespace().next().unwrap_or_default();
            let is_riddle = std::mem::take(&mut is_first) && RIDDLES.contains(&word);
            assert!(!is_riddle, "{path}:{}: {line}", nth + 1);
            seen += 1;
        }
    }
    assert!(seen > 5000, "{seen}");
}
