//! Starts child programs, reads their output and sends them signals, with a timeout for everything.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use crate::files::{folder, names_in};

/// The timeout for a child. It measures nothing; it only keeps a test from hanging.
const PATIENCE: Duration = Duration::from_secs(300);

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Arc<Output>,
    stderr: Arc<Output>,
    readers: Vec<JoinHandle<()>>,
}

/// The exit status and the output of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit status, or the signal that ended it.
    pub status: ExitStatus,
    /// The text it printed on stdout.
    pub stdout: String,
    /// The text it printed on stderr.
    pub stderr: String,
}

#[derive(Debug, Default)]
struct Output {
    read: Mutex<(Vec<u8>, bool)>,
    changed: Condvar,
}

impl Running {
    /// Starts `command`, with pipes for its outputs unless they are set.
    ///
    /// # Panics
    ///
    /// If it can't be started.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (stdout, stderr) = (Arc::default(), Arc::default());
        let readers = [
            child.stdout.take().map(|pipe| read(pipe, &stdout)),
            child.stderr.take().map(|pipe| read(pipe, &stderr)),
        ];
        Self { child, stdout, stderr, readers: readers.into_iter().flatten().collect() }
    }

    /// Waits until the program prints `line` on stdout.
    ///
    /// # Panics
    ///
    /// If it ends first.
    pub fn wait_for(&mut self, line: &str) -> &mut Self {
        self.wait_for_in(&self.stdout, line);
        self
    }

    /// Waits until the program prints `line` on stderr.
    ///
    /// # Panics
    ///
    /// If it ends first.
    pub fn wait_for_stderr(&mut self, line: &str) -> &mut Self {
        self.wait_for_in(&self.stderr, line);
        self
    }

    fn wait_for_in(&self, output: &Output, line: &str) {
        let line = format!("{line}\n");
        let read = output.read.lock().unwrap();
        let (read, _) = output
            .changed
            .wait_timeout_while(read, PATIENCE, |(bytes, is_over)| {
                !*is_over && !String::from_utf8_lossy(bytes).contains(&line)
            })
            .unwrap();
        let text = String::from_utf8_lossy(&read.0).into_owned();
        drop(read);
        assert!(
            text.contains(&line),
            "{line:?} was not printed, but {:?} and {:?}",
            self.stdout.text(),
            self.stderr.text()
        );
    }

    /// Sends the program a signal.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub fn signal(&mut self, signal: i32) -> &mut Self {
        // SAFETY: `kill` has no precondition; the child isn't waited for yet, so that the id is
        // its own.
        let result = unsafe { libc::kill(self.child.id() as i32, signal) };
        assert_eq!(result, 0, "kill");
        self
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the program ends.
    ///
    /// # Panics
    ///
    /// If it doesn't end.
    pub fn end(self) -> Ended {
        self.end_within(PATIENCE)
    }

    /// Waits until the program ends, for at most `patience`.
    ///
    /// # Panics
    ///
    /// If it doesn't end.
    pub fn end_within(mut self, patience: Duration) -> Ended {
        let deadline = Instant::now() + patience;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                Instant::now() < deadline,
                "it doesn't end: {:?} {:?}",
                self.stdout.text(),
                self.stderr.text()
            );
            thread::sleep(Duration::from_millis(2));
        };
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        Ended { status, stdout: self.stdout.text(), stderr: self.stderr.text() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Output {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.read.lock().unwrap().0).into_owned()
    }
}

impl Ended {
    /// Returns the lines on stderr that are this crate's messages.
    pub fn messages(&self) -> Vec<&str> {
        let lines = self.stderr.lines();
        lines.filter(|line| line.starts_with("tokio-statemap:") && !is_about_flag(line)).collect()
    }

    /// Returns stderr without what differs between runs: the ids of threads.
    ///
    /// Without `--cfg tokio_unstable` it also lacks the line that says so.
    pub fn comparable_stderr(&self) -> String {
        let mut text = String::new();
        for line in self.stderr.lines().filter(|line| !is_about_flag(line)) {
            // thread 'main' (4711) panicked at …
            match line.strip_prefix("thread '").and_then(split_thread_id) {
                Some((before, after)) => text += &format!("thread '{before}(id){after}\n"),
                None => text += &format!("{line}\n"),
            }
        }
        text
    }
}

fn is_about_flag(line: &str) -> bool {
    !cfg!(tokio_unstable) && line.starts_with("tokio-statemap: workers only")
}

fn split_thread_id(line: &str) -> Option<(&str, &str)> {
    let (before, rest) = line.split_once('(')?;
    let (id, after) = rest.split_once(')')?;
    id.bytes().all(|b| b.is_ascii_digit()).then_some((before, after))
}

fn read(mut pipe: impl Read + Send + 'static, output: &Arc<Output>) -> JoinHandle<()> {
    let output = Arc::clone(output);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            let count = pipe.read(&mut buffer).unwrap_or(0);
            let mut read = output.read.lock().unwrap();
            read.0.extend_from_slice(&buffer[..count]);
            read.1 = count == 0;
            output.changed.notify_all();
            if count == 0 {
                return;
            }
        }
    })
}

/// Returns a command for `program` with piped outputs, with `OUT=folder` and no variable of this crate in its
/// environment, and with `folder` as its working directory.
pub fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for name in ["TOKIO_STATEMAP", "TOKIO_STATEMAP_DIR", "TOKIO_STATEMAP_DUMP_ON", "RUST_BACKTRACE"]
    {
        command.env_remove(name);
    }
    command.current_dir(folder).env("OUT", folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A shell that runs the tests in the background ignores these signals, and children inherit that.
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: `signal` is async-signal-safe, as what runs after a fork must be.
        unsafe {
            command.pre_exec(move || {
                libc::signal(signal, libc::SIG_DFL);
                Ok(())
            })
        };
    }
    command
}

/// Copies a program to `to`, from where it can be run.
///
/// Another process makes the copy. A file that is open for writing can't be executed, and a child that another test
/// starts at that moment may inherit a descriptor of this process.
///
/// # Panics
///
/// If it can't be copied.
pub fn copy_program(program: impl AsRef<OsStr>, to: &Path) {
    let status = Command::new("cp").arg("--").arg(program.as_ref()).arg(to).status().unwrap();
    assert!(status.success(), "{}", to.display());
}
