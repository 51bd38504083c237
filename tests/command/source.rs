//! The page shows source only if asked for, and only from the given folder.

use std::fs;

use super::binary::{folder, run, tasks};
use super::page::Page;

#[test]
fn the_page_has_the_source_that_is_in_the_folder() {
    let folder = folder("source");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::create_dir_all(folder.join("shop/src")).unwrap();
    let text = (1..=100).map(|line| format!("// line {line}\n")).collect::<String>();
    fs::write(folder.join("shop/src/api.rs"), text).unwrap();
    // Source isn't read unless asked for, though it would be here.
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/api.rs"), "// not this\n".repeat(100)).unwrap();
    let source = |args: &str| {
        run(&folder, &format!("render tasks.json -o out.html{args}")).stdout();
        Page::read(&fs::read(folder.join("out.html")).unwrap()).meta["source"].clone()
    };
    assert!(source("").is_null());
    let found = source(" --source shop");
    assert_eq!(found["all"][0][0], 88);
    assert_eq!(found["all"][0][2][3], "// line 88");
    // The data is of 1970, so the file is newer.
    assert_eq!(found["all"][0][3], true);
    assert_eq!(source(" --source .")["all"][0][2][3], "// not this");
    fs::create_dir(folder.join("empty")).unwrap();
    assert_eq!(source(" --source empty")["all"].as_array().map(Vec::len), Some(0));
    let ended = run(&folder, "render tasks.json -o out.html --source nowhere");
    assert_eq!((ended.status, ended.stderr.lines().count()), (Some(1), 1), "{}", ended.stderr);
    assert!(ended.stderr.contains("nowhere: this is no directory"), "{}", ended.stderr);
}
