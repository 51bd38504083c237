use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::sys::folder::{Lock, lock};

/// A folder that is removed at the end of its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("statemap-atomic-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn place(&self, name: &str) -> ResolvedPath {
        ResolvedPath::find(&self.path(name), Missing::Refuse).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().mode() & 0o777
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

type Make = fn(ResolvedPath) -> NewFile;

/// Returns each way in which a file can be created.
fn each_way() -> [(&'static str, Make); 3] {
    [
        ("as the system can", |place| NewFile::create(place).unwrap()),
        ("with a hidden name", |place| NewFile::named(place, 0o600).unwrap()),
        ("without a name, if it can be given none", |place| {
            let mut file = NewFile::create(place).unwrap();
            file.write_all(b"the beginning, ").unwrap();
            #[cfg(any(target_os = "linux", target_os = "android"))]
            file.copy().unwrap();
            file
        }),
    ]
}

#[test]
fn a_file_is_complete_or_unchanged() {
    for (way, make) in each_way() {
        let scratch = Scratch::new();
        fs::write(scratch.path("old"), "the old one").unwrap();
        fs::set_permissions(scratch.path("old"), fs::Permissions::from_mode(0o640)).unwrap();
        for name in ["old", "new"] {
            let mut dropped = make(scratch.place(name));
            dropped.write_all(b"half").unwrap();
            drop(dropped);
            assert_eq!(scratch.names(), ["old"], "{way}");
        }
        for name in ["old", "new"] {
            let mut file = make(scratch.place(name));
            file.write_all(b"all of it").unwrap();
            assert_eq!(fs::read(scratch.path("old")).unwrap(), b"the old one", "{way}");
            if name == "old" {
                file.publish().unwrap();
                assert!(fs::read(scratch.path(name)).unwrap().ends_with(b"all of it"), "{way}");
                assert_eq!(scratch.mode("old"), 0o640, "{way}");
                fs::write(scratch.path("old"), "the old one").unwrap();
            } else {
                file.publish().unwrap();
                assert!(fs::read(scratch.path(name)).unwrap().ends_with(b"all of it"), "{way}");
            }
        }
        assert_eq!(scratch.names(), ["new", "old"], "{way}");
    }
}

#[test]
fn a_half_written_file_is_private() {
    let scratch = Scratch::new();
    fs::write(scratch.path("old"), "the old one").unwrap();
    for (way, make) in each_way() {
        for mode in [0o600, 0o640, 0o644] {
            fs::set_permissions(scratch.path("old"), fs::Permissions::from_mode(mode)).unwrap();
            let file = make(scratch.place("old"));
            let found = file.file.metadata().unwrap();
            assert_eq!(found.mode() & 0o777, 0o600, "{way}");
            file.publish().unwrap();
            assert_eq!(scratch.mode("old"), mode, "{way}");
        }
    }
}

/// If a file has a hidden name, another process must not remove it.
#[test]
fn parallel_writers_leave_each_other_alone() {
    let scratch = Scratch::new();
    for (way, make) in each_way() {
        let mut first = make(scratch.place("file"));
        first.write_all(b"first").unwrap();
        leftovers::remove(&scratch.place("file"));
        let second = make(scratch.place("file"));
        leftovers::remove(&scratch.place("file"));
        first.publish().unwrap();
        assert!(fs::read(scratch.path("file")).unwrap().ends_with(b"first"), "{way}");
        second.publish().unwrap();
        assert_eq!(scratch.names(), ["file"], "{way}");
    }
}

/// A leftover of a killed process, with a name and no lock.
#[test]
fn leftovers_are_removed() {
    let scratch = Scratch::new();
    let mut killed = NewFile::named(scratch.place("file"), 0o600).unwrap();
    let name = killed.hidden.take().unwrap();
    assert_eq!(scratch.names(), [name.to_str().unwrap()]);
    let copy = killed.file.try_clone().unwrap();
    drop(killed);
    leftovers::remove(&scratch.place("file"));
    assert_eq!(scratch.names().len(), 1, "somebody has it open");
    drop(copy);
    leftovers::remove(&scratch.place("another"));
    assert_eq!(scratch.names().len(), 1, "it is another output's");
    leftovers::remove(&scratch.place("file"));
    assert_eq!(scratch.names(), [""; 0]);
}

/// A file taken for a leftover before it is locked is lost; another one is created then.
#[test]
fn a_lock_is_seen() {
    let scratch = Scratch::new();
    let path = scratch.path("file");
    let open = || fs::File::options().create(true).append(true).read(true).open(&path).unwrap();
    let (one, two) = (open(), open());
    lock(&one, Lock::Exclusive).unwrap();
    for how in [Lock::Shared, Lock::Exclusive] {
        assert_eq!(lock(&two, how).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
    drop(one);
    lock(&two, Lock::Shared).unwrap();
    lock(&open(), Lock::Shared).unwrap();
    lock(&open(), Lock::Exclusive).unwrap_err();
}

#[test]
fn the_longest_name_and_the_oddest() {
    let scratch = Scratch::new();
    for name in ["n".repeat(255), "\u{202e}ä\n".into(), ".".repeat(3), "-".into()] {
        for (way, make) in each_way() {
            make(scratch.place(&name)).publish().unwrap();
            assert_eq!(scratch.names(), [&*name], "{way}");
        }
        fs::remove_file(scratch.path(&name)).unwrap();
    }
}

#[test]
fn a_relative_path_and_one_that_goes_up_and_down() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("a")).unwrap();
    let real = scratch.0.canonicalize().unwrap().join("file");
    for path in ["file", "./a/../file", "a/.././/a/../file"] {
        assert_eq!(scratch.place(path).real_path(), real);
    }
    std::os::unix::fs::symlink("../file", scratch.path("a/link")).unwrap();
    assert_eq!(scratch.place("a/link").real_path(), real);
    let relative = ResolvedPath::find("Cargo.toml".as_ref(), Missing::Refuse).unwrap();
    assert_eq!(relative.real_path(), PathBuf::from("Cargo.toml"));
    for path in ["/", "..", "a/..", ""] {
        let error = ResolvedPath::find(path.as_ref(), Missing::Refuse).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path}");
    }
    let error = ResolvedPath::find(&scratch.path("a"), Missing::Refuse).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    let error = ResolvedPath::find(&scratch.path("b/file"), Missing::Refuse).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert_eq!(scratch.names(), ["a"]);
}

/// The error for a pipe without a reader is returned with `Readers::Expect` only: the command takes
/// it for a reader that has closed its end.
#[test]
fn a_socket_is_no_pipe_without_a_reader() {
    let scratch = Scratch::new();
    let _listener = std::os::unix::net::UnixListener::bind(scratch.path("socket")).unwrap();
    let error = write(&scratch.path("socket"), |w| w.write_all(b"text")).unwrap_err();
    assert_ne!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[cfg(feature = "html")]
#[test]
fn a_new_name_replaces_nothing() {
    for (way, make) in each_way() {
        let scratch = Scratch::new();
        fs::write(scratch.path("1"), "another process's").unwrap();
        std::os::unix::fs::symlink("1", scratch.path("2")).unwrap();
        let mut file = make(scratch.place("1"));
        file.write_all(b"text").unwrap();
        let is_free = |file: &mut NewFile, name: &str| file.publish_as(name.as_ref()).unwrap();
        assert!(!is_free(&mut file, "1") && !is_free(&mut file, "2"), "{way}");
        assert!(is_free(&mut file, "3"), "{way}");
        drop(file);
        assert_eq!(scratch.names(), ["1", "2", "3"], "{way}");
        let texts = ["1", "3"].map(|name| fs::read_to_string(scratch.path(name)).unwrap());
        assert!(texts[0] == "another process's" && texts[1].ends_with("text"), "{way}: {texts:?}");
    }
}

/// The implementation for systems without directory descriptors.
#[test]
fn by_paths_alone() {
    use super::portable::{NewFile, ResolvedPath};
    let scratch = Scratch::new();
    #[cfg(feature = "html")]
    {
        fs::write(scratch.path("taken"), "text").unwrap();
        let place = ResolvedPath::find(&scratch.path("taken"), Missing::Make).unwrap();
        let mut file = NewFile::create(place).unwrap();
        assert!(!file.publish_as("taken".as_ref()).unwrap());
        assert!(file.publish_as("free".as_ref()).unwrap());
        for name in ["taken", "free"] {
            fs::remove_file(scratch.path(name)).unwrap();
        }
    }
    std::os::unix::fs::symlink("file", scratch.path("link")).unwrap();
    let place = || ResolvedPath::find(&scratch.path("link"), Missing::Make).unwrap();
    assert_eq!(place().real_path(), scratch.0.canonicalize().unwrap().join("file"));
    for text in ["first", "second"] {
        let mut dropped = NewFile::create(place()).unwrap();
        dropped.write_all(b"half").unwrap();
        drop(dropped);
        let mut file = NewFile::create(place()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.flush().unwrap();
        file.publish().unwrap();
        assert_eq!(fs::read_to_string(scratch.path("file")).unwrap(), text);
        assert_eq!(scratch.names(), ["file", "link"]);
    }
    let place = ResolvedPath::find("/dev/null".as_ref(), Missing::Refuse).unwrap();
    assert!(place.is_stream());
    place.open_stream(Readers::Expect).unwrap().unwrap();
}
