//! Tasks that block their worker, in a program that prints long polls while they last.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use super::out;

/// The system's name of the threads that print.
const PRINTER: &str = "statemap-stderr";

/// The value of the attribute's key.
const WARN_AFTER: Duration = Duration::from_millis(20);

/// Runs polls that block until the file `go_on` exists. The file `told` shows that a poll was handed to the printer, which
/// prints at most one a second.
pub async fn run(way: &str) {
    if way == "closes_stderr" {
        // SAFETY: Nothing in this program owns the descriptor.
        unsafe { libc::close(libc::STDERR_FILENO) };
    }
    // Listeners are called in the order of their registration, so this one comes after the printer's.
    let collector = tokio_statemap::current().unwrap();
    collector.on_long_poll(WARN_AFTER, |_| fs::write(out("told"), "").unwrap());
    while !may_end() {
        tokio::spawn(async { hold_up() }).await.unwrap(); // the spawn
    }
    println!("printers: {}", printers());
    println!("the last line");
}

#[inline(never)]
fn hold_up() {
    sleep(Duration::from_millis(100)); // the line
    std::hint::black_box(());
}

/// Returns whether the test has seen enough.
fn may_end() -> bool {
    out("go_on").exists()
}

fn printers() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let names = threads.filter_map(|thread| fs::read(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim_ascii_end() == PRINTER.as_bytes()).count()
}
