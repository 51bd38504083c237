//! Tasks that hold their worker up, in a program that prints such polls while they go on.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use super::out;

/// The name, to the system, of the threads that print.
const PRINTER: &str = "statemap-stderr";

/// As the attribute has it.
const WARN_AFTER: Duration = Duration::from_millis(20);

/// The body. It creates the file `told` when it was tried to print a poll. Each poll may be printed, at most one a second.
pub async fn run(way: &str) {
    if way == "closes_stderr" {
        // SAFETY: nothing in this program owns it.
        unsafe { libc::close(libc::STDERR_FILENO) };
    }
    // Called after the closure that prints, which was there before.
    let collector = tokio_statemap::current().unwrap();
    collector.on_long_poll(WARN_AFTER, |_| fs::write(out("told"), "").unwrap());
    while !goes_on() {
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

/// Whether the test has seen enough.
fn goes_on() -> bool {
    out("go_on").exists()
}

fn printers() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let names = threads.filter_map(|thread| fs::read(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim_ascii_end() == PRINTER.as_bytes()).count()
}
