//! If a function under the attribute runs more than once in a process, no run uses another's files.

use std::os::unix::fs::symlink;

use tests::child::Running;
use tests::files::{names_in, page, svg};

use super::run::{Run, messages};

#[test]
fn each_run_has_files_of_its_own() {
    let run = Run::new("twice", "returns");
    symlink("twice.html", run.folder.join("link.html")).unwrap();
    let ended = Running::start(&mut run.command(env!("CARGO_BIN_EXE_twice"))).end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    messages(&ended, &[]);
    assert_eq!(
        names_in(&run.folder),
        [
            "data",
            "link.2.html",
            "link.html",
            "report",
            "report.2",
            "report.3",
            "side.2.svg",
            "side.svg",
            "twice.2.html",
            "twice.3.html",
            "twice.4.html",
            "twice.html",
        ]
    );
    assert_eq!(names_in(&run.folder.join("data")), ["tasks.2.json", "tasks.3.json", "tasks.json"]);
    for (number, tasks) in [("", 1), (".2", 2), (".3", 3)] {
        let data = run.file(format!("data/tasks{number}.json"));
        if cfg!(tokio_unstable) {
            assert_eq!(data.entities.len(), tasks + 1, "{number}");
        }
    }
    for name in ["twice.html", "twice.2.html", "twice.3.html", "twice.4.html", "link.2.html"] {
        page(run.folder.join(name));
    }
    svg(run.folder.join("side.svg"));
    svg(run.folder.join("side.2.svg"));
    let written: Vec<_> =
        ended.stderr.lines().filter_map(|line| line.strip_prefix("Written: ")).collect();
    assert_eq!(written[..2], ["twice.4.html", "link.2.html"]);
    let mut side = written[2..].to_vec();
    side.sort_unstable();
    assert_eq!(side, ["side.2.svg", "side.svg"]);
    // Streams have no numbers.
    assert_eq!(ended.stdout.matches("\"entityKind\":\"Worker\"").count(), 2, "{}", ended.stdout);
}
