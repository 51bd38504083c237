//! The output: a file that is complete or unchanged, or a stream.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::process::{Command, Stdio};

use super::binary::{binary, folder, names_in, run, tasks};
use super::page::Page;

const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    // SAFETY: it has no precondition.
    unsafe { libc::geteuid() == 0 }
}

/// By any name it is stdout, whose content stays.
#[test]
fn a_link_to_stdout() {
    let folder = folder("link_to_stdout");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    symlink("/dev/stdout", folder.join("other-link")).unwrap();
    for leads_to in ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "other-link"] {
        let (link, out) = (folder.join("link.html"), folder.join("out.txt"));
        fs::write(&out, "before\n").unwrap();
        let _ = fs::remove_file(&link);
        symlink(leads_to, &link).unwrap();
        let status = Command::new(binary())
            .args(["render", "tasks.json", "-o", "link.html"])
            .current_dir(&folder)
            .stdout(Stdio::from(File::options().append(true).open(&out).unwrap()))
            .status()
            .unwrap();
        assert!(status.success());
        let text = fs::read_to_string(&out).unwrap();
        let page = text.strip_prefix("before\n").unwrap_or_else(|| panic!("{leads_to}"));
        Page::read(page.as_bytes());
        assert!(link.is_symlink());
    }
}

#[test]
fn what_somebody_else_planted_is_left_alone() {
    if !is_root() {
        return println!("not run: only the superuser can make other users' files");
    }
    let folder = folder("planted");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("victim"), "mine").unwrap();
    let tmp = folder.join("tmp");
    fs::create_dir(&tmp).unwrap();
    fs::set_permissions(&tmp, PermissionsExt::from_mode(0o1777)).unwrap();
    symlink("../victim", tmp.join("link.html")).unwrap();
    symlink("..", tmp.join("folder")).unwrap();
    fs::write(tmp.join("file.html"), "theirs").unwrap();
    for name in ["link.html", "folder", "file.html"] {
        lchown(tmp.join(name), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    for (output, what) in [
        ("tmp/link.html", "tmp/link.html is another user's link"),
        ("tmp/folder/victim", "tmp/folder is another user's link"),
        ("tmp/file.html", "tmp/file.html is another user's file"),
    ] {
        let ended = run(&folder, &format!("render tasks.json --format html -o {output}"));
        assert_eq!(ended.status, Some(1));
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(ended.stderr.contains(what), "{}", ended.stderr);
    }
    assert_eq!(fs::read(folder.join("victim")).unwrap(), b"mine");
    assert_eq!(fs::read(tmp.join("file.html")).unwrap(), b"theirs");
    assert_eq!(names_in(&tmp), ["file.html", "folder", "link.html"]);
}

#[test]
fn the_owner_stays_and_leftovers_go() {
    let folder = folder("owner");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    let path = folder.join("out.html");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    if is_root() {
        chown(&path, Some(1_234), Some(5_678)).unwrap();
    }
    fs::write(folder.join(".out.html.0123456789abcdef.statemap-tmp"), "a leftover").unwrap();
    run(&folder, "render tasks.json -o out.html").stdout();
    Page::read(&fs::read(&path).unwrap());
    let found = fs::metadata(&path).unwrap();
    assert_eq!(found.mode() & 0o777, 0o600);
    if is_root() {
        assert_eq!((found.uid(), found.gid()), (1_234, 5_678));
    }
    assert_eq!(names_in(&folder), ["out.html", "tasks.json"]);
}
