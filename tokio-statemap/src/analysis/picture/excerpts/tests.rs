//! Tests that only some lines of the intended files are read, whatever these files are.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::read::{excerpt, read};
use super::*;
use crate::analysis::picture::tests::timeline;
use crate::analysis::picture::why_tests::explained;
use crate::statemap::Labels;

/// A folder of its own.
fn folder(name: &str) -> PathBuf {
    let name = format!("statemap-excerpts-{}-{name}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    folder
}

fn numbered(lines: u32) -> String {
    (1..=lines).map(|line| format!("    line {line}\n")).collect()
}

fn lines_of(bytes: &[u8], line: u32) -> Option<Vec<String>> {
    excerpt(bytes, line, false).map(|of| of.lines)
}

#[test]
fn three_lines_before_and_after() {
    let text = numbered(20);
    let of = |line| {
        let of = excerpt(text.as_bytes(), line, false)?;
        Some((of.first, of.lines.len(), of.lines[(of.line - of.first) as usize].clone()))
    };
    assert_eq!(of(1), Some((1, 4, "line 1".to_owned())));
    assert_eq!(of(10), Some((7, 7, "line 10".to_owned())));
    assert_eq!(of(20), Some((17, 4, "line 20".to_owned())));
    assert_eq!([of(0), of(21), of(u32::MAX)], [None, None, None]);
    assert_eq!(excerpt(b"", 1, false), None);
}

#[test]
fn what_is_no_text_is_made_fit_to_be_seen() {
    let bytes =
        b"\xef\xbb\xbffn main() {\r\n\tlet a = \"\x1b[31m\xff\xe2\x80\xae\";\r\n\r\n\t}\r\n";
    let found = lines_of(bytes, 2).unwrap();
    let said = ["fn main() {", "    let a = \"\\u{1b}[31m\u{fffd}\\u{202e}\";", "", "    }"];
    assert_eq!(found, said);
    // The common indentation says nothing.
    assert_eq!(lines_of(b"\t\ta\n\n\t\t\tb\n", 1).unwrap(), ["a", "", "    b"]);
    assert_eq!(lines_of(b"a\0b\n", 1), None, "no text");
    let long = format!("{}\nnext\n", "\u{e9}".repeat(1 << 20));
    let found = lines_of(long.as_bytes(), 2).unwrap();
    assert_eq!((found[0].chars().count(), found[1].as_str()), (161, "next"));
}

#[test]
fn only_regular_files_are_read_and_none_is_waited_for() {
    let folder = folder("kinds");
    fs::write(folder.join("src/a.rs"), numbered(9)).unwrap();
    fs::create_dir(folder.join("src/folder.rs")).unwrap();
    let huge = File::create(folder.join("src/huge.rs")).unwrap();
    huge.set_len(1 << 33).unwrap();
    let files = SourceFiles::of_this_program(&folder);
    let mut paths = vec!["src/folder.rs", "src/none.rs", "src/huge.rs"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.rs", folder.join("src/link.rs")).unwrap();
        std::os::unix::fs::symlink("loop.rs", folder.join("src/loop.rs")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.join("src/fifo.rs")).status();
        assert!(made.unwrap().success());
        paths.extend(["src/loop.rs", "src/fifo.rs", "/dev/zero", "src/a.rs/"]);
    }
    let lines =
        |paths: &[&str]| paths.iter().map(|path| ((*path).to_owned(), 1)).collect::<Vec<_>>();
    let found = read(&lines(&paths), &files, None);
    assert!(found.iter().all(Option::is_none), "{paths:?}: {found:?}");
    let there = if cfg!(unix) { vec!["src/a.rs", "src/link.rs"] } else { vec!["src/a.rs"] };
    let found = read(&lines(&there), &files, None);
    assert!(found.iter().all(Option::is_some), "{found:?}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn of_foreign_data_nothing_outside_of_the_folder_is_read() {
    let folder = folder("inside");
    let inner = folder.join("shop");
    fs::create_dir_all(inner.join("src")).unwrap();
    fs::create_dir_all(inner.join("axum-0.8.9/src")).unwrap();
    for file in ["secret.rs", "shop/src/main.rs", "shop/axum-0.8.9/src/lib.rs"] {
        fs::write(folder.join(file), numbered(9)).unwrap();
    }
    let secret = folder.join("secret.rs").to_str().unwrap().to_owned();
    let files = SourceFiles::in_folder(&inner);
    for (path, is_read) in [
        ("src/main.rs", true),
        (r"src\main.rs", true),
        ("/build/shop/src/main.rs", true),
        (r"C:\build\shop\src\main.rs", true),
        ("/root/.cargo/registry/src/index.crates.io-1/axum-0.8.9/src/lib.rs", true),
        // A file of the same name that isn't the program's own.
        ("/root/.cargo/registry/src/index.crates.io-1/hyper-1.0.0/src/main.rs", false),
        ("../secret.rs", false),
        ("src/../../secret.rs", false),
        (r"..\secret.rs", false),
        (&secret, false),
        ("/etc/passwd", false),
        ("", false),
        ("/", false),
    ] {
        let found = read(&[(path.to_owned(), 1)], &files, None);
        assert_eq!(found[0].is_some(), is_read, "{path}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_workspace_is_found_by_the_package() {
    let folder = folder("workspace");
    for package in ["", "crates/api"] {
        fs::create_dir_all(folder.join(package).join("src")).unwrap();
        let main = format!("// of {package}\n");
        fs::write(folder.join(package).join("src/main.rs"), main).unwrap();
    }
    let leaked = |path: PathBuf| -> &'static str { Box::leak(path.to_str().unwrap().into()) };
    let (root, member) = (leaked(folder.clone()), leaked(folder.join("crates/api")));
    let read = |files: SourceFiles, path: &str| {
        read(&[(path.to_owned(), 1)], &files, None).remove(0).map(|of| of.lines[0].clone())
    };
    let of = |package, file| SourceFiles::of_package(package, file);
    let of_root = Some("// of".to_owned());
    assert_eq!(read(of(root, "src/main.rs"), "src/main.rs"), of_root);
    // Paths are from the workspace's folder, not from the package's.
    assert_eq!(read(of(member, "crates/api/src/main.rs"), "src/main.rs"), of_root);
    let of_member = Some("// of crates/api".to_owned());
    assert_eq!(read(of(member, "crates/api/src/main.rs"), "crates/api/src/main.rs"), of_member);
    // A package that is no member of the workspace.
    assert_eq!(read(of(member, "src/main.rs"), "src/main.rs"), of_member);
    // The file isn't there any more.
    assert_eq!(read(of(member, "crates/web/src/main.rs"), "src/main.rs"), None);
    assert_eq!(read(of("/nowhere/at/all", "src/main.rs"), "src/main.rs"), None);
    // An absolute path is read all the same.
    let path = folder.join("src/main.rs");
    assert_eq!(read(SourceFiles::of_dependencies(), path.to_str().unwrap()), of_root);
    assert_eq!(read(SourceFiles::of_dependencies(), "src/main.rs"), None);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_that_is_newer_is_said_to_be_changed() {
    let folder = folder("changed");
    let path = folder.join("src/a.rs");
    fs::write(&path, numbered(9)).unwrap();
    let recorded = Duration::from_secs(1_700_000_000);
    let set = |time: Duration| {
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + time).unwrap();
    };
    let is_changed = |files: &SourceFiles, recorded| {
        read(&[("src/a.rs".to_owned(), 1)], files, recorded)[0].as_ref().unwrap().is_changed
    };
    let of_data = SourceFiles::in_folder(&folder);
    set(recorded - Duration::from_secs(5));
    assert!(!is_changed(&of_data, Some(recorded)));
    set(recorded + Duration::from_secs(5));
    assert!(is_changed(&of_data, Some(recorded)) && !is_changed(&of_data, None));
    // This program is newer than that, but older than a file written later.
    let of_program = SourceFiles::of_this_program(&folder);
    assert!(!is_changed(&of_program, Some(recorded)));
    set(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() * 2);
    assert!(is_changed(&of_program, None));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_picture_has_the_source_of_what_it_names() {
    let folder = folder("picture");
    for file in ["src/a.rs", "src/main.rs"] {
        fs::write(folder.join(file), numbered(60)).unwrap();
    }
    let (timeline, _) = explained("shop::compute");
    let labels = Labels { title: "x".to_owned(), host: None };
    let picture = Picture::of_timeline(&timeline, &labels);
    let picture = picture.with_source(&SourceFiles::in_folder(&folder));
    fs::remove_dir_all(&folder).unwrap();
    let excerpts = picture.excerpts.as_ref().unwrap();
    assert!(!excerpts.of_frames.is_empty() && !excerpts.of_groups.is_empty());
    for &(section, frame, at) in &excerpts.of_frames {
        let frame = &picture.sections[section].why.as_ref().unwrap().frames[frame as usize];
        assert_eq!(Some(excerpts.all[at].line), frame.line);
        assert_eq!(&*frame.function, "shop::compute", "what it calls is not to blame");
    }
    for &(section, group, at) in &excerpts.of_groups {
        let location = picture.sections[section].groups[group].location.unwrap();
        assert_eq!(excerpts.all[at].line, location.line);
    }
    // Without source files there are no excerpts.
    let picture = Picture::of_timeline(&timeline, &labels);
    let picture = picture.with_source(&SourceFiles::in_folder("/nowhere/at/all"));
    let none = picture.excerpts.unwrap();
    assert!(none.all.is_empty() && none.of_frames.is_empty() && none.of_groups.is_empty());
}

#[test]
#[ignore = "slow"]
fn there_is_a_limit_to_it() {
    let folder = folder("limit");
    let long = format!("{}\n", "x".repeat(300)).repeat(6000);
    fs::write(folder.join("src/main.rs"), long).unwrap();
    let mut timeline = timeline(900, 3);
    let mut line = 0;
    for task in &mut timeline.tasks {
        let Some(location) = &mut task.location else { continue };
        line += 6;
        location.line = line;
    }
    let labels = Labels { title: "x".to_owned(), host: None };
    let picture = Picture::of_timeline(&timeline, &labels);
    let picture = picture.with_source(&SourceFiles::in_folder(&folder));
    fs::remove_dir_all(&folder).unwrap();
    let excerpts = picture.excerpts.unwrap();
    let bytes: usize = excerpts.all.iter().flat_map(|of| &of.lines).map(String::len).sum();
    assert!((100_000..MOST_BYTES).contains(&bytes), "{bytes}");
    assert!(excerpts.all.len() <= MOST && excerpts.of_groups.len() == excerpts.all.len());
}
