//! On a terminal the report has colours. Elsewhere, and if colours are turned off, it is plain text.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::thread;

use super::binary::{binary, folder, run, tasks};

/// Returns the two ends of a terminal: what is written to the second can be read from the first.
fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut its) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: the first two may be written to, and the others may be null.
    let result =
        unsafe { libc::openpty(&raw mut ours, &raw mut its, null, null.cast(), null.cast()) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were just opened, and nothing else has them.
    unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(its)) }
}

/// Returns what the command prints on a terminal, with this environment.
fn printed_on_terminal(name: &str, environment: &[(&str, &str)]) -> String {
    let folder = folder(name);
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    let (mut ours, its) = terminal();
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        // Reading fails once the other end is closed.
        let _ = ours.read_to_end(&mut text);
        String::from_utf8(text).unwrap().replace("\r\n", "\n")
    });
    let mut command = Command::new(binary());
    command.args(["report", "tasks.json"]).current_dir(&folder).stdout(Stdio::from(its));
    command.env_remove("NO_COLOR").env_remove("COLORTERM").env("TERM", "xterm-256color");
    let status = command.envs(environment.iter().copied()).status().unwrap();
    assert!(status.success());
    // The command has the terminal's other end.
    drop(command);
    reader.join().unwrap()
}

#[test]
fn the_report_has_colours_on_a_terminal_alone() {
    let folder = folder("colours");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    let plain = run(&folder, "report tasks.json").stdout();
    assert!(!plain.contains('\x1b'));
    let coloured = printed_on_terminal("colours-256", &[]);
    assert!(coloured.starts_with("\x1b[1"), "{coloured:?}");
    // The text is the same.
    let mut parts = coloured.split('\x1b');
    let first = parts.next().unwrap().to_owned();
    let rest = parts.map(|part| part.split_once('m').unwrap().1);
    assert_eq!(rest.fold(first, |text, part| text + part), plain);
    for (n, environment) in [("NO_COLOR", "1"), ("TERM", "dumb")].into_iter().enumerate() {
        assert_eq!(printed_on_terminal(&format!("colours-{n}"), &[environment]), plain);
    }
}
