//! Tests that the sums of the whole run in data are read as they were written, and that impossible ones are refused.

use crate::statemap::check::check_ours;
use crate::statemap::read::read;
use crate::statemap::{Recording, recordings};
use crate::trace::summary::Stopped;
use crate::trace::timeline::TaskKey;

const TASKS: &str = r##"{"start":[1544138397,322335842],"title":"api: Tokio tasks","states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"}},"host":"box","entityKind":"Task"}
{"tag":"tokio-statemap","state":3,"format":1,"program":"api","beginNs":50000000,"endNs":90000000,"longPollNs":1000000,"events":3,"refusedEvents":0,"droppedEvents":70000,"reentrantEvents":0,"traceTarget":"both","taskHooks":true,"scheduleLatency":false,"stacks":"off","wholeRun":[0,90000000,90000000,41,30020,2,1,0,1048576]}
{"tag":"tokio-statemap 1","state":3,"runLocations":[[["src/api.rs",88,5],false,40,30000,60000000,0,12,24000000,7,[1200,20000,700,9988,1998100,12],[900,3]],[null,true,1,0,0,85000000,0,0,0,[85000000,20],[]]],"runLongest":[["main",1,2000000,85000000,null,1],[7,0,3000000,2000000,1,0]],"runStretches":[[500000,90,85000000,1,40,2],[0,0,0,null,0,0]],"runStopped":[[20000000,30000000],[30000000,35000000,1000000,2]]}
{"time":"0","entity":"task-1","state":2}
{"time":"20000000","entity":"task-1","state":1}
{"tag":"tokio-statemap 2","state":3,"data":2,"ranOn":[[0,0]],"polls":[0,1],"parents":[[null,1]]}
{"time":"40000000","entity":"task-1","state":1}
"##;

#[test]
fn they_are_read() {
    check_ours(TASKS.as_bytes()).unwrap();
    let file = read(TASKS.as_bytes()).unwrap();
    let recordings = recordings(std::slice::from_ref(&file));
    let [Recording::Run { timeline, .. }] = &recordings[..] else { panic!("no run") };
    let whole = timeline.whole_run().unwrap();
    let numbers = (whole.begin_ns, whole.end_ns, whole.recorded_ns, whole.tasks, whole.polls);
    assert_eq!(numbers, (0, 90_000_000, 90_000_000, 41, 30_020));
    let numbers = (whole.cut_polls, whole.running_polls, whole.missed_events, whole.stretch_ns);
    assert_eq!(numbers, (2, 1, 0, 1_048_576));
    let [at, main] = &whole.locations[..] else { panic!("{whole:?}") };
    assert_eq!(at.location.map(|at| at.to_string()).as_deref(), Some("src/api.rs:88:5"));
    assert_eq!(at.polls.steps, [(1200, 20_000), (1900, 9988), (2_000_000, 12)]);
    assert_eq!((at.polls.longest_ns, at.long_polls, at.long_polls_ns), (2_000_000, 12, 24_000_000));
    assert_eq!((at.ready.longest_ns, at.ready_sum_ns), (900, 7));
    assert!(main.is_root && main.location.is_none() && main.off_worker_ns == 85_000_000);
    let [first, second] = &whole.longest_polls[..] else { panic!("{whole:?}") };
    assert!(first.task == TaskKey::Root(0) && first.is_cut && first.worker.is_none());
    assert!(second.task == TaskKey::Spawned(7) && !second.is_cut && second.worker == Some(1));
    assert_eq!((whole.stretches[0].longest_at, whole.stretches[1].longest_at), (Some(1), None));
    let several =
        Stopped { recorded_ns: 1_000_000, periods: 2, ..Stopped::new(30_000_000, 35_000_000) };
    assert_eq!(whole.stopped, [Stopped::new(20_000_000, 30_000_000), several]);
    assert!(whole.workers.is_empty(), "they are in the other file");
    // Written again, it is the same.
    let again = timeline.to_data().tasks_to_bytes().unwrap();
    let sums = |text: &str| {
        let (_, rest) = text.split_once("\"runLocations\"").expect("they are there");
        rest.lines().next().map(str::to_owned)
    };
    assert_eq!(sums(std::str::from_utf8(&again).unwrap()), sums(TASKS));
}

#[test]
fn what_cannot_be_is_refused() {
    let many = |entry: &str, n| vec![entry; n].join(",");
    let polls = format!("\"runLongest\":[{}]", many("[7,0,1,2,1,0]", 1001));
    let stretches = format!("\"runStretches\":[{}]", many("[0,0,0,null,0,0]", 2001));
    let steps = format!("[{}],[900,3]", many("1,1", 8193));
    let number = "\"wholeRun\":[0,90000000,90000000,41,30020,2,1,0,1048576]";
    for (right, wrong, error) in [
        (number, "\"wholeRun\":[1,0,0,41,30020,2,1,0,1]", "`wholeRun` is from 1 to 0"),
        (number, "\"wholeRun\":[0,9,10,41,30020,2,1,0,1]", "no more be recorded than"),
        (number, "\"wholeRun\":[0,9]", "invalid length 2"),
        (number, "\"waitsNotKept\":1", "the first definition must have it"),
        ("700,9988,", "-1,9988,", "`runLocations`: -1 is no whole number"),
        ("700,9988,", "700,", "a histogram of 5 numbers; they must be two a step"),
        ("700,9988,", "700,0,", "a step without values; it must have none"),
        ("700,9988,", "\"18446744073709551615\",9988,", "bounds over 2^64"),
        ("[1200,20000,700,9988,1998100,12],[900,3]", &steps, "at most 8192 steps"),
        ("[7,0,3000000", "[7,2,3000000", "`runLongest` has the location 2; it must be an index"),
        ("2000000,1,0]", "85000001,1,0]", "a poll of 85000001 ns behind a shorter one"),
        ("2000000,1,0]", "2000000,1,2]", "whose last number isn't 0 or 1"),
        ("85000000,1,40,2]", "85000000,5,40,2]", "`runStretches` has the location 5"),
        ("[[20000000,30000000],[30", "[[20000000,31000000],[30", "`runStopped` has [30000000,"),
        ("35000000,1000000,2]", "35000000,1000000]", "`runStopped` has 3 numbers"),
        ("35000000,1000000,2]", "35000000,5000001,2]", "it must be no longer than that"),
        ("35000000,1000000,2]", "35000000,1000000,0]", "one period at least"),
        (
            "\"runLongest\":[",
            "\"runWorkers\":[[0,1,1,1,1]],\"runLongest\":[",
            "must be in the workers'",
        ),
        (
            "\"runStretches\":[[500000,90,85000000,1,40,2],[0,0,0,null,0,0]]",
            &stretches,
            "over 2000",
        ),
        (
            "\"runLongest\":[[\"main\",1,2000000,85000000,null,1],[7,0,3000000,2000000,1,0]]",
            &polls,
            "over 1000",
        ),
    ] {
        assert!(TASKS.contains(right), "{right}");
        let text = TASKS.replacen(right, wrong, 1);
        let problem = check_ours(text.as_bytes()).expect_err(wrong).to_string();
        assert!(problem.contains(error), "{wrong}: {problem}");
    }
}
