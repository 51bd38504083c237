//! The command's binary, built by the first test that needs it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tests::build::build;

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// Returns the path of the binary.
///
/// It needs a feature that the other tests of this workspace don't enable, so cargo doesn't build it for
/// them.
pub(super) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let name = "tokio-statemap";
        let features = "tokio-statemap/cli,tokio-statemap/parquet";
        build(Path::new(TARGET), "command", &["build", "--bin", name, "--features", features], name)
    })
}

/// Creates an empty folder for a test.
pub(super) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(TARGET).join("command-files").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The end of a run of the command.
#[derive(Debug)]
pub(super) struct Ended {
    /// The exit status, or `None` if a signal ended it.
    pub(super) status: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ended {
    /// Returns its stdout, and asserts that nothing went wrong.
    #[track_caller]
    pub(super) fn stdout(self) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        self.stdout
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the command in `folder` with arguments that have no spaces in them.
pub(super) fn run(folder: &Path, args: &str) -> Ended {
    run_with(folder, args, b"")
}

/// Runs the command with standard input.
pub(super) fn run_with(folder: &Path, args: &str, stdin: &[u8]) -> Ended {
    let mut child = Command::new(binary())
        .args(args.split(' ').filter(|arg| !arg.is_empty()))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // The command may end before it has read everything.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

/// Returns the names of the entries of `folder`, sorted.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The metadata of tasks and of workers, as this crate writes it.
pub(super) const TASKS: &str = r##"{"start":[1000,0],"title":"api: Tokio tasks","states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"},"ready":{"value":4,"color":"#785EF0"}},"host":"box","entityKind":"Task"}
"##;
pub(super) const WORKERS: &str = r##"{"start":[1000,0],"title":"api: Tokio workers","states":{"running":{"value":0,"color":"#DC267F"},"parked":{"value":1,"color":"#FE6100"},"stopped":{"value":2,"color":"#648FFF"}},"host":"box","entityKind":"Worker"}
"##;

/// Returns the description of a run, which follows the metadata, and its part with `lists`, which precedes
/// the last datum.
pub(super) fn run_of(runtime: Option<&str>, end_ns: u64) -> String {
    let runtime = runtime.map_or_else(String::new, |name| format!("\"runtime\":\"{name}\","));
    format!(
        "{{\"tag\":\"tokio-statemap\",\"state\":0,\"format\":1,\"program\":\"api\",{runtime}\
         \"beginNs\":0,\"endNs\":{end_ns},\"longPollNs\":1000000,\"events\":12,\
         \"refusedEvents\":0,\"droppedEvents\":0,\"reentrantEvents\":0,\"traceTarget\":\"both\",\
         \"taskHooks\":true,\"scheduleLatency\":true}}\n"
    )
}

pub(super) fn part_of(data: usize, lists: &str) -> String {
    format!("{{\"tag\":\"tokio-statemap 1\",\"state\":0,\"data\":{data},{lists}}}\n")
}

/// Returns the definition of a tag.
pub(super) fn definition(state: u32, file: &str, place: &str) -> String {
    let (tag, file) = (Value::from(format!("{file}:{place}")), Value::from(file));
    format!("{{\"state\":{state},\"tag\":{tag},\"file\":{file},\"location\":\"{place}\"}}\n")
}

/// Returns the data of tasks, one of which blocks.
pub(super) fn tasks() -> String {
    let mut data = TASKS.to_owned() + &run_of(None, 60_000_000);
    for state in [0, 1, 2, 4] {
        data += &definition(state, "src/api.rs", "88:20");
    }
    for (time, entity, state, tag) in [
        (0, "main", 1, ""),
        (500_000, "main", 2, ""),
        (600_000, "task-7", 0, ",\"tag\":\"src/api.rs:88:20\""),
        (700_000, "task-7", 1, ",\"tag\":\"src/api.rs:88:20\""),
        (51_900_000, "task-7", 2, ",\"tag\":\"src/api.rs:88:20\""),
        (53_000_000, "task-7", 4, ",\"tag\":\"src/api.rs:88:20\""),
        (54_000_000, "task-7", 1, ",\"tag\":\"src/api.rs:88:20\""),
        (54_100_000, "task-7", 3, ""),
        (60_000_000, "main", 2, ""),
    ] {
        if time == 60_000_000 {
            let lists = "\"ranOn\":[[1,null],[0,0]],\"polls\":[0,1,1,2],\"parents\":[[null,1],[\"main\",1]]";
            data += &part_of(8, lists);
        }
        data +=
            &format!("{{\"time\":\"{time}\",\"entity\":\"{entity}\",\"state\":{state}{tag}}}\n");
    }
    data
}

/// Returns the data of their worker.
pub(super) fn workers() -> String {
    let mut data = WORKERS.to_owned() + &run_of(None, 60_000_000);
    for (time, state) in
        [(0, 0), (500_000, 1), (700_000, 0), (54_100_000, 1), (59_000_000, 2), (60_000_000, 2)]
    {
        if time == 60_000_000 {
            data += &part_of(5, "\"parks\":[2]");
        }
        data += &format!("{{\"time\":\"{time}\",\"entity\":\"worker-0\",\"state\":{state}}}\n");
    }
    data
}
