//! `check` with limits: for a run that exceeds one it prints the verdict and ends with status 3. A limit that
//! can't be judged isn't passed.

use std::fs;

use super::binary::{folder, run, tasks, workers};

#[test]
fn a_run_over_a_limit_has_status_3() {
    let folder = folder("limits");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    // The poll took 51.2 ms. The task was ready for 1 ms while nothing was polled, and for 0.1 ms before its
    // first poll.
    for (limit, message) in [
        ("--max-poll 51ms", "tasks.json: A poll may hold a worker for 51 ms at most. "),
        (
            "--no-long-polls-from src/**",
            "No long poll may be from `src/**`. A task of src/api.rs:88:20 ",
        ),
    ] {
        let over = run(&folder, &format!("check tasks.json {limit}"));
        assert_eq!(over.status, Some(3), "{over:?}");
        assert!(over.stderr.contains(message), "{over:?}");
        assert!(over.stderr.contains("src/api.rs:88:20"), "{over:?}");
        assert!(over.stdout.starts_with("tasks.json: ok, "), "{over:?}");
        assert_eq!(over.stderr.lines().count(), 1, "{over:?}");
    }
    let within = "--max-poll 52ms --max-ready 1ms --no-long-polls-from tests/**";
    let within = run(&folder, &format!("check tasks.json workers.json {within}")).stdout();
    assert!(within.ends_with("tasks.json, workers.json: within the limits\n"), "{within}");
}

#[test]
fn what_cannot_be_judged_does_not_pass() {
    let folder = folder("limits-unknown");
    // A run without `schedule_latency` has no state "ready".
    let without = tasks()
        .replace("\"scheduleLatency\":true", "\"scheduleLatency\":false")
        .replace(",\"ready\":{\"value\":4,\"color\":\"#785EF0\"}", "")
        .replace("\"data\":8", "\"data\":7");
    let without: Vec<_> = without.lines().filter(|l| !l.contains("\"state\":4")).collect();
    let without = without.join("\n") + "\n";
    fs::write(folder.join("tasks.json"), without).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    let others = r#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0}}}
{"time":"0","entity":"cpu-0","state":0}
"#;
    fs::write(folder.join("others.json"), others).unwrap();
    for (args, status, message) in [
        ("check tasks.json --max-ready 1h", 1, "how long tasks were ready was not recorded"),
        ("check workers.json --max-poll 1h", 1, "the tasks' file was not read"),
        ("check others.json --max-poll 1h", 1, "limits apply to runs of tokio-statemap"),
        // A limit that is known to be exceeded is worse.
        ("check tasks.json --max-ready 1h --max-poll 1ms", 3, "A poll may hold a worker for 1 ms"),
        ("check tasks.json --max-span GET 1h", 1, "no span of tracing is named `GET`"),
        ("check tasks.json --max-poll 0s", 2, "--max-poll"),
        ("check tasks.json --max-span GET 0s", 2, "--max-span"),
        ("check tasks.json --max-span GET", 2, "--max-span"),
        ("check tasks.json --no-long-polls-from src/[", 2, "--no-long-polls-from"),
    ] {
        let ended = run(&folder, args);
        assert_eq!(ended.status, Some(status), "{args}: {ended:?}");
        assert!(ended.stderr.contains(message), "{args}: {ended:?}");
    }
}
