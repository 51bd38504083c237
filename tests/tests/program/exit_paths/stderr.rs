//! A report on stderr follows everything that the program prints there.

use std::os::unix::process::ExitStatusExt;

use tests::child::{Running, command};
use tests::files::{data, folder, pictures};

/// Runs the program `reports` in the variant `way`. Returns its status, and stderr up to the report's last line.
fn report_of(way: &str, act: impl Fn(&mut Running)) -> (std::process::ExitStatus, String) {
    let name = format!("reports-{way}");
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/exit_paths"), &name);
    let mut running = Running::start(command(env!("CARGO_BIN_EXE_reports"), &folder).arg(way));
    act(&mut running);
    let ended = running.end();
    data(folder.join("tasks.json"));
    data(folder.join("workers.json"));
    pictures(&folder);
    let files = ["tasks.json", "workers.json", "statemap.html", "statemap.svg"];
    let files = files.map(|name| folder.join(name).display().to_string());
    let last = format!("Written: {}\n", files.join(", "));
    let all = ended.comparable_stderr();
    let report = all.strip_suffix(&last).unwrap_or_else(|| panic!("{all}"));
    let lines = report.lines().count();
    assert!(lines > 5, "{report}");
    (ended.status, report.to_owned())
}

#[test]
fn the_report_is_printed_on_every_exit_path() {
    let (status, _) = report_of("returns", |_| {});
    assert_eq!(status.code(), Some(0));
    let (status, text) = report_of("panic_main", |_| {});
    assert_eq!(status.code(), Some(101));
    let message = text.find("main panics").expect("the message of the panic");
    assert!(message < text.find("recorded: ").expect("the report"), "{text}");
    let (status, _) = report_of("exit_task", |_| {});
    assert_eq!(status.code(), Some(3));
    let (status, _) = report_of("waits", |running| {
        running.wait_for("ready").signal(libc::SIGINT);
    });
    assert_eq!(status.signal(), Some(libc::SIGINT));
}
