//! If a stream is not read, or too slowly, the program ends as it would without this crate, and all other outputs are
//! written.

use std::any::Any;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tests::child::{Ended, Running, command};
use tests::files::{self, folder};
use tests::full::{fill, full_pipe};

/// The timeout for a program that waits for 10 s in total. It measures nothing; it only tells waiting once from waiting
/// again for each write.
const PATIENCE: Duration = Duration::from_secs(60);
const MS: Duration = Duration::from_millis(1);

pub(crate) const FILES: [&str; 4] = ["tasks.json", "workers.json", "statemap.html", "statemap.svg"];

/// A program to run.
pub(crate) struct Case {
    folder: PathBuf,
    command: Command,
    signals: &'static [i32],
    /// The file that exists when the second signal is to be sent.
    last_file: &'static str,
}

impl Case {
    pub(crate) fn new(name: &str, way: &'static str, signals: &'static [i32]) -> Self {
        let name = format!("unread-{name}-{way}-{}", signals.len());
        let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/exit_paths"), &name);
        let mut command = command(env!("CARGO_BIN_EXE_quiet"), &folder);
        command.arg(way);
        Self { folder, command, signals, last_file: FILES[3] }
    }

    /// Runs the program until it ends, and sends the signals as soon as it is ready.
    #[track_caller]
    pub(crate) fn ends(&mut self) -> Ended {
        let mut running = Running::start(&mut self.command);
        for (count, signal) in self.signals.iter().enumerate() {
            let sign = if count == 0 { "ready" } else { self.last_file };
            // This fails if the program has ended; its status then tells why.
            for _ in 0..60_000 {
                if self.folder.join(sign).exists() {
                    break;
                }
                thread::sleep(MS);
            }
            if count > 0 {
                // A signal that comes together with the first one counts as the same.
                thread::sleep(250 * MS);
            }
            running.signal(*signal);
        }
        running.end_within(PATIENCE)
    }

    /// Asserts that exactly these files exist, and are complete.
    #[track_caller]
    pub(crate) fn leaves(&self, expected: &[&str]) {
        for name in FILES {
            let path = self.folder.join(name);
            let is_expected = expected.contains(&name);
            let is_file = fs::metadata(&path).is_ok_and(|found| found.is_file());
            assert_eq!(is_file, is_expected, "{}: {name}", self.folder.display());
            if is_expected {
                match name.rsplit_once('.').unwrap().1 {
                    "html" => drop(files::page(&path)),
                    "svg" => files::svg(&path),
                    _ => drop(files::data(&path)),
                }
            }
        }
    }
}

/// Returns the exit paths with the signals to send and the expected status.
fn ways() -> [(&'static str, &'static [i32], ExitStatus); 8] {
    let code = |code: i32| ExitStatus::from_raw(code << 8);
    let signal = ExitStatus::from_raw;
    [
        ("returns", &[], code(0)),
        ("exits", &[], code(3)),
        ("panics", &[], code(101)),
        ("aborts", &[], signal(libc::SIGABRT)),
        ("waits", &[libc::SIGTERM], signal(libc::SIGTERM)),
        ("waits", &[libc::SIGTERM, libc::SIGTERM], signal(libc::SIGTERM)),
        ("prints", &[libc::SIGTERM], signal(libc::SIGTERM)),
        ("locks", &[libc::SIGINT], signal(libc::SIGINT)),
    ]
}

/// Runs `case` for each item, in parallel, as each mostly waits.
#[track_caller]
pub(crate) fn at_once<T: Send>(items: impl IntoIterator<Item = T>, case: impl Fn(T) + Sync) {
    let case = &case;
    thread::scope(|scope| {
        for item in items {
            scope.spawn(move || case(item));
        }
    });
}

/// Returns a full pair of sockets, as a supervisor gives them to its services.
fn full_socket() -> (UnixStream, Stdio) {
    let (reader, writer) = UnixStream::pair().unwrap();
    writer.set_nonblocking(true).unwrap();
    fill(&writer);
    writer.set_nonblocking(false).unwrap();
    (reader, Stdio::from(OwnedFd::from(writer)))
}

/// Returns a terminal that is stopped, as by Ctrl-S.
fn stopped_terminal() -> (File, Stdio) {
    use std::os::fd::AsRawFd;
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_NOCTTY);
    let master = options.open("/dev/ptmx").unwrap();
    let mut name = [0_u8; 64];
    // SAFETY: The length is that of `name`, and the calls have no other precondition.
    let terminal = unsafe {
        assert_eq!(libc::grantpt(master.as_raw_fd()), 0);
        assert_eq!(libc::unlockpt(master.as_raw_fd()), 0);
        assert_eq!(libc::ptsname_r(master.as_raw_fd(), name.as_mut_ptr().cast(), 64), 0);
        let length = name.iter().position(|&byte| byte == 0).unwrap();
        let name = Path::new(std::ffi::OsStr::from_bytes(&name[..length]));
        let terminal = options.open(name).unwrap();
        assert_eq!(libc::tcflow(terminal.as_raw_fd(), libc::TCOOFF), 0);
        terminal
    };
    (master, Stdio::from(terminal))
}

/// A stream, and its reader, which doesn't read.
type Unread = (Box<dyn Any>, Stdio);
type Named<T> = (&'static str, T);

#[test]
#[ignore = "slow: waits for the 10 s that a program's end waits"]
fn the_program_ends_if_stderr_is_not_read() {
    let streams: [Named<fn() -> Unread>; 3] = [
        ("pipe", || boxed(full_pipe())),
        ("socket", || boxed(full_socket())),
        ("terminal", || boxed(stopped_terminal())),
    ];
    let cases = streams.into_iter().flat_map(|stream| ways().map(|way| (stream, way)));
    at_once(cases, |((name, stream), (way, signals, status))| {
        let mut case = Case::new(name, way, signals);
        let (_reader, stderr) = stream();
        case.command.stderr(stderr);
        assert_eq!(case.ends().status, status, "{name}: {way}");
        case.leaves(&FILES);
    });
}

fn boxed((reader, stderr): (impl Any, Stdio)) -> Unread {
    (Box::new(reader), stderr)
}

/// The second signal ends the program at once, while it still waits for the first stream.
#[test]
#[ignore = "slow: waits for the 10 s that a program's end waits"]
fn a_second_signal_ends_a_program_that_waits_for_readers() {
    at_once(ways(), |(way, signals, status)| {
        let mut case = Case::new("both", way, signals);
        let ((_reader, stderr), (_other, stdout)) = (full_pipe(), full_pipe());
        case.command.stdout(stdout).stderr(stderr).env("HTML", "/dev/stdout");
        case.last_file = "workers.json";
        assert_eq!(case.ends().status, status, "{way}");
        match signals {
            [_, _] => case.leaves(&["tasks.json", "workers.json"]),
            _ => case.leaves(&["tasks.json", "workers.json", "statemap.svg"]),
        }
    });
}

/// A message before `main` waits for a reader, too. A later one doesn't wait again.
#[test]
#[ignore = "slow: waits for the 10 s that a program's end waits"]
fn a_warning_at_the_start_waits_once() {
    let mut case = Case::new("warning", "returns", &[]);
    let (_reader, stderr) = full_pipe();
    case.command.stderr(stderr).env("TOKIO_STATEMAP", "nonsense").env("SVG", "tasks.json");
    assert_eq!(case.ends().status.code(), Some(0));
    case.leaves(&["tasks.json", "workers.json", "statemap.html"]);
}

/// A thread that holds the lock of stderr delays the report for no longer than a missing reader.
#[test]
#[ignore = "slow: waits for the 10 s that a program's end waits"]
fn the_report_is_written_if_stderr_is_locked() {
    let mut case = Case::new("locked", "locks", &[libc::SIGTERM]);
    let ended = case.ends();
    assert_eq!(ended.status.signal(), Some(libc::SIGTERM));
    assert!(ended.stderr.contains("recorded: "), "{}", ended.stderr);
    case.leaves(&FILES);
}

/// Returns the name of [`a_recorded_test`] in the test harness.
fn recorded_test() -> String {
    let (_crate, module) = module_path!().split_once("::").unwrap();
    format!("{module}::a_recorded_test")
}

/// A recorded test, which also runs in processes that the next tests start.
#[tokio_statemap::test(
    tasks = std::env::var_os("OUT").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
        .join("tasks.json")
)]
async fn a_recorded_test() {}

/// The report of a test is printed so that the harness can capture it, and may end up on stderr.
#[test]
#[ignore = "slow: waits for the 10 s that a program's end waits"]
fn a_test_ends_if_stderr_is_not_read() {
    at_once([("captured", &[][..]), ("not_captured", &["--nocapture"])], |(name, arguments)| {
        let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/exit_paths"), name);
        let mut command = command(std::env::current_exe().unwrap(), &folder);
        let (_reader, stderr) = full_pipe();
        command.args(["--exact", &recorded_test()]).args(arguments).stderr(stderr);
        let ended = Running::start(&mut command).end_within(PATIENCE);
        assert_eq!(ended.status.code(), Some(0), "{name}: {}", ended.stdout);
        assert!(ended.stdout.contains("test result: ok. 1 passed"), "{name}: {}", ended.stdout);
        assert!(folder.join("tasks.json").is_file(), "{name}");
    });
}

/// The output of a failed test includes its report.
#[test]
fn the_harness_captures_the_report_of_a_test() {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/exit_paths"), "harness");
    let mut command = command(std::env::current_exe().unwrap(), &folder);
    command.args(["--exact", &recorded_test(), "--show-output"]);
    let ended = Running::start(&mut command).end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stdout);
    assert!(ended.stdout.contains("recorded: "), "{}", ended.stdout);
    assert!(!ended.stderr.contains("recorded: "), "{}", ended.stderr);
}

/// The program waits for a late reader, which gets the whole report.
#[test]
fn a_late_reader_gets_the_report() {
    let mut case = Case::new("late", "waits", &[libc::SIGTERM]);
    let (mut reader, stderr) = full_pipe();
    case.command.stderr(stderr);
    let files = case.folder.join("statemap.svg");
    let reads = thread::spawn(move || {
        // The report is written last. If the file is missing, the program must not wait for the reader for ever.
        let began = Instant::now();
        while !files.exists() && began.elapsed() < PATIENCE / 2 {
            thread::sleep(MS);
        }
        thread::sleep(300 * MS);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    });
    let ended = case.ends();
    // The command holds the writing end.
    drop(case.command);
    let text = reads.join().unwrap();
    assert_eq!(ended.status.signal(), Some(libc::SIGTERM));
    let report = text.trim_start_matches('.');
    assert!(report.contains("recorded: ") && report.ends_with("statemap.svg\n"), "{report}");
}

/// Creates a full named pipe and returns its reader.
fn full_fifo(path: &Path) -> File {
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: The path ends with a zero and lives through the call.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let reader = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path);
    let reader = reader.unwrap();
    fill(&reader);
    reader
}

/// All pipes share one waiting time, and the other outputs are written.
#[test]
#[ignore = "slow: waits for the 10 s that a program's end waits"]
fn outputs_without_a_reader_are_given_up() {
    at_once(ways(), |(way, signals, status)| {
        let mut case = Case::new("fifos", way, signals);
        let _readers = ["workers.json", "statemap.html", "statemap.svg"]
            .map(|name| full_fifo(&case.folder.join(name)));
        case.last_file = "tasks.json";
        let ended = case.ends();
        assert_eq!(ended.status, status, "{way}");
        case.leaves(&["tasks.json"]);
        if let [_, _] = signals {
            return;
        }
        let given_up = |key| {
            let mut messages = ended.messages().into_iter();
            messages.any(|line| line.contains(key) && line.ends_with("the reader stopped reading"))
        };
        for key in ["`workers`", "`html`", "`svg`"] {
            assert!(given_up(key), "{way}: {key}: {}", ended.stderr);
        }
    });
}

/// The waiting time doesn't start anew each time the reader reads.
#[test]
#[ignore = "slow: waits for the 10 s that a program's end waits"]
fn an_output_that_is_read_too_slowly_is_given_up() {
    let mut case = Case::new("slow", "waits", &[libc::SIGTERM]);
    let mut reader = full_fifo(&case.folder.join("statemap.html"));
    // The reader goes on for as long as the tests run. A page of the pipe is written as soon as it is free.
    thread::spawn(move || {
        let mut page = [0; 4096];
        loop {
            let _ = reader.read(&mut page);
            thread::sleep(1000 * MS);
        }
    });
    let ended = case.ends();
    assert_eq!(ended.status.signal(), Some(libc::SIGTERM));
    assert!(ended.stderr.contains("`html`"), "{}", ended.stderr);
    case.leaves(&["tasks.json", "workers.json", "statemap.svg"]);
}
