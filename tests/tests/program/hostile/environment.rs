//! Environment variables, and processes that lack resources.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use tests::child::{Running, copy_program};
use tests::files::{names_in, page, svg};

use super::run::{Run, messages};

#[test]
fn zero_turns_recording_off() {
    for value in ["0", "off", "OFF", "False", "no", " off "] {
        let run = Run::new("off", "returns");
        let ended = run.is_unharmed(|command| {
            command.env("TOKIO_STATEMAP", value);
        });
        assert_eq!(ended.stderr, "", "{value}");
        assert_eq!(names_in(&run.folder), [""; 0], "{value}");
    }
}

#[test]
fn other_values_leave_recording_on() {
    for value in ["1", "", "on", "True", "YES"] {
        let run = Run::new("on", "returns");
        let ended = run.is_unharmed(|command| {
            command.env("TOKIO_STATEMAP", value);
        });
        messages(&ended, &[]);
        run.file("tasks.json");
        run.pictures();
    }
}

#[test]
fn an_unreadable_value_is_reported_and_ignored() {
    for value in [OsStr::new("nonsense"), OsStr::from_bytes(b"\xff\n\xfe")] {
        let run = Run::new("nonsense", "returns");
        let ended = run.is_unharmed(|command| {
            command.env("TOKIO_STATEMAP", value);
        });
        messages(&ended, &[&["TOKIO_STATEMAP", "ignored", "0, off, false or no"]]);
        run.file("tasks.json");
    }
}

#[test]
fn one_variable_sets_the_folder_of_all_files() {
    let run = Run::new("dir", "returns");
    let absolute = run.folder.join("absolute.json");
    let ended = run.is_unharmed(|command| {
        command.env("TOKIO_STATEMAP_DIR", "a/b").env("TASKS", &absolute);
    });
    messages(&ended, &[]);
    run.file(absolute);
    run.file("a/b/workers.json");
    page(run.folder.join("a/b/statemap.html"));
    svg(run.folder.join("a/b/statemap.svg"));

    let run = Run::new("dir_bytes", "returns");
    let name = OsStr::from_bytes(b"\xff");
    let ended = run.is_unharmed(|command| {
        command.env("TOKIO_STATEMAP_DIR", name);
    });
    messages(&ended, &[]);
    run.file(std::path::Path::new(name).join("tasks.json"));
}

#[test]
fn without_a_key_a_page_is_written() {
    let run = Run::new("default", "returns");
    let ended = Running::start(&mut run.command(env!("CARGO_BIN_EXE_default_files"))).end();
    assert_eq!(ended.status.code(), Some(0));
    messages(&ended, &[]);
    assert_eq!(names_in(&run.folder), ["default_files.statemap.html"]);
    let page = page(run.folder.join("default_files.statemap.html"));
    assert_eq!(page.meta["title"], "default_files");
    assert!(ended.stderr.ends_with("Written: default_files.statemap.html\n"), "{}", ended.stderr);
    let first = "Report of tokio-statemap on default_files (process ";
    assert!(ended.stderr.starts_with(first), "{}", ended.stderr);
}

/// The name of the program becomes the page's title, and a part of the file's name.
#[test]
fn any_name_of_a_program_is_escaped() {
    let name = "<b onload=a()>&amp; \"'`]]><!-- \u{202e}{pid}\u{2028}";
    let run = Run::new("name", "returns");
    let program = run.folder.join(name);
    copy_program(env!("CARGO_BIN_EXE_default_files"), &program);
    let ended = Running::start(&mut run.command(&program)).end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    messages(&ended, &[]);
    let file = run.folder.join(format!("{name}.statemap.html"));
    assert_eq!(page(&file).meta["title"], name);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("<title>&lt;b onload=a()&gt;&amp;amp; &quot;&#39;`]]&gt;&lt;!-- "));
    assert!(!text.contains("<b onload") && !text.contains("]]><!--"));
    assert!(ended.stderr.contains(r"<!-- \u{202e}{pid}\u{2028} (process "), "{}", ended.stderr);
}

#[test]
fn stderr_is_full() {
    for (way, code) in [("returns", 0), ("panic_main", 101), ("exit_task", 3)] {
        let run = Run::new("stderr_full", way);
        let mut command = run.command(env!("CARGO_BIN_EXE_reports"));
        let full = File::options().write(true).open("/dev/full").unwrap();
        command.stderr(Stdio::from(full));
        let ended = Running::start(&mut command).end();
        assert_eq!(ended.status.code(), Some(code), "{way}");
        run.file("tasks.json");
        run.file("workers.json");
        run.pictures();
    }
}

#[test]
fn files_are_written_if_stderr_is_closed() {
    for (way, code) in [("closes_stderr", 0), ("closes_stderr_and_panics", 101)] {
        let run = Run::new("stderr_closed", way);
        let ended = run.ends(|_| {});
        assert_eq!(ended.status.code(), Some(code));
        assert_eq!(ended.stderr, "");
        run.file("tasks.json");
        run.file("workers.json");
        run.pictures();
    }
}

/// If no thread can be started, signals are not handled, but the rest works.
#[test]
fn recording_works_without_a_thread() {
    let run = Run::new("threads_none", "returns");
    let (mut command, folder) = run.command_as_nobody(env!("CARGO_BIN_EXE_single"));
    command.env("OUT", "/dev/null/nowhere");
    let limit = || {
        let limit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
        // SAFETY: `limit` lives through the call, which is async-signal-safe.
        match unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: `limit` only does what is async-signal-safe.
    unsafe { command.pre_exec(limit) };
    let ended = Running::start(&mut command).end();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stdout.ends_with("the last line\n"));
    let about_signals = ended.messages().into_iter().filter(|line| line.contains("on a signal"));
    assert_eq!(about_signals.count(), 1, "{}", ended.stderr);
}

/// A file over the size limit costs one line on stderr, not the program.
#[test]
fn file_size_limit() {
    let run = Run::new("file_size", "returns");
    let limit = || {
        let limit = libc::rlimit { rlim_cur: 512, rlim_max: 512 };
        // SAFETY: `limit` lives through the call, which is async-signal-safe.
        match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    let ended = run.is_unharmed(|command| {
        // SAFETY: `limit` only does what is async-signal-safe.
        unsafe { command.pre_exec(limit) };
    });
    let files =
        ["`tasks`", "`workers`", "`html`", "`svg`", "`report`"].map(|key| [key, "too large"]);
    messages(&ended, &files.each_ref().map(|words| &words[..]));
    assert_eq!(names_in(&run.folder), [""; 0], "nothing half written is left");
}
