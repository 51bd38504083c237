//! Tests that the causes of long polls in data are read as they were written, and that impossible ones are refused.

use std::time::Duration;

use super::check::check_ours;
use super::read::{Statemap, read};
use super::tests::{data, poll, task, timeline};
use super::{Recording, recordings};
use crate::report::Unattributed;
use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{
    ClockChanges, CpuLimit, CpuStack, ExhaustedPool, FrameOrigin, MachineTime, NoStack, NoStacks,
    PollCause, PollSample, Sampled, Sampling, SamplingState, StackFrame, Task, TaskKey, Timeline,
    limit_stacks,
};

const HOSTILE: &str = "a\"b\\c\n\u{1b}[2J\u{202e}</script>";

fn frame(function: &str, line: Option<u32>, origin: FrameOrigin) -> StackFrame {
    let file = line.map(|_| "src/shop.rs".into());
    StackFrame { function: function.into(), file, line, origin }
}

fn sample(poll_start_ns: u64, at_ns: u64, frames: Vec<StackFrame>) -> PollSample {
    let is_complete = frames.len() > 1;
    PollSample { thread: 0, poll_start_ns, at_ns, blocked_in: None, frames, is_complete }
}

/// Returns the cause of a poll of this length, which was blocked most of the time.
fn cause(length_ns: u64) -> PollCause {
    PollCause {
        on_cpu_ns: 1,
        blocked_ns: length_ns - 5,
        run_delay_ns: 2,
        stolen_ns: 0,
        unknown_ns: 2,
        major_faults: 7,
    }
}

/// Returns a task with these polls, all of whose causes are known.
fn with_causes(begin_ns: u64, end_ns: u64, polls: &[(u64, u64)]) -> Timeline {
    let all = polls.iter().map(|&(from, to)| poll(from, to)).collect();
    let task = Task { spawned_ns: None, ..task(TaskKey::Spawned(7), begin_ns, all) };
    let mut timeline = timeline(vec![task], Vec::new());
    (timeline.begin_ns, timeline.end_ns) = (begin_ns, end_ns);
    timeline.long_polls.causes =
        polls.iter().map(|&(from, to)| ((0, from), cause(to - from))).collect();
    timeline
}

/// Returns a timeline with one of everything.
fn full() -> Timeline {
    let mut timeline = with_causes(100, 1_000, &[(200, 400), (500, 900)]);
    (timeline.pool.ended, timeline.pool.ended_on) = (9, 2);
    timeline.machine = MachineTime {
        run_delay_ns: 5,
        workers_delay_ns: 1,
        pool_delay_ns: 4,
        pool_cpu_ns: 7,
        stolen_ns: 0,
        limit: Some(CpuLimit { millis: 1_500, stops: 2, stopped_ns: 1 << 60 }),
        clock: ClockChanges { jumps: 3, jumped_ns: 1 << 61, went_back: true, lost_source: false },
    };
    timeline.pool.exhausted = Some(pool(Some(SpawnLocation { file: HOSTILE, line: 7, column: 5 })));
    let mut no_stacks = NoStacks::default();
    no_stacks.add(NoStack::NoProc, 3);
    no_stacks.add(NoStack::MemoryDenied, u64::MAX);
    timeline.long_polls.sampling = Sampling { state: SamplingState::On, dropped: 1, no_stacks };
    let own = frame("shop::render_invoice", Some(21), FrameOrigin::Program);
    let hostile = frame(HOSTILE, Some(u32::MAX), FrameOrigin::Dependency);
    let sleep = frame("nanosleep", None, FrameOrigin::System);
    timeline.long_polls.samples = vec![
        PollSample {
            blocked_in: Some(format!("read of /tmp/{HOSTILE}")),
            ..sample(200, 300, vec![sleep.clone(), own.clone()])
        },
        sample(200, 300, Vec::new()),
        sample(500, 600, vec![hostile, own.clone(), own]),
        PollSample { thread: u32::MAX, ..sample(1 << 60, u64::MAX, vec![sleep.clone()]) },
    ];
    let score = frame("shop::score", Some(8), FrameOrigin::Program);
    timeline.cpu.stacks = vec![
        CpuStack {
            frames: vec![score.clone(), score],
            sampled: Sampled { samples: 7, cpu_ns: u64::MAX },
        },
        CpuStack { frames: vec![sleep], sampled: Sampled { samples: 1, cpu_ns: 0 } },
    ];
    timeline.cpu.others = Sampled { samples: 3, cpu_ns: 1 << 60 };
    timeline.cpu.outside = Sampled { samples: 5, cpu_ns: 9 };
    timeline
}

fn pool(location: Option<SpawnLocation>) -> ExhaustedPool {
    ExhaustedPool {
        threads: 2,
        most_waiting: 48,
        waited_ns: 1 << 60,
        longest_ns: 9,
        location,
        tasks: 50,
        ran_ns: u64::MAX,
        other_locations: 1,
    }
}

fn read_again(files: &[Statemap]) -> Timeline {
    match recordings(files).pop() {
        Some(Recording::Run { timeline, .. }) => *timeline,
        other => panic!("{other:?}"),
    }
}

fn file(timeline: &Timeline) -> Statemap {
    let bytes = data(timeline.clone()).tasks_to_bytes().unwrap();
    check_ours(&bytes[..]).expect("it is ours");
    read(&bytes[..]).unwrap()
}

#[track_caller]
fn comes_back(timeline: &Timeline) {
    let workers = data(timeline.clone()).workers_to_bytes().unwrap();
    check_ours(&workers[..]).expect("it is ours");
    let again = read_again(&[read(&workers[..]).unwrap(), file(timeline)]);
    assert!(!again.lacking.tasks && !again.lacking.workers, "they are of one run");
    assert_eq!(
        (again.machine, again.long_polls.sampling),
        (timeline.machine, timeline.long_polls.sampling)
    );
    assert_eq!(again.pool.exhausted, timeline.pool.exhausted);
    assert_eq!(again.pool.queue, timeline.pool.queue);
    assert_eq!(again.long_polls.causes, timeline.long_polls.causes);
    assert_eq!(again.long_polls.samples, timeline.long_polls.samples);
    assert_eq!(again.cpu, timeline.cpu);
}

#[test]
fn it_comes_back_as_it_was() {
    comes_back(&timeline(Vec::new(), Vec::new()));
    comes_back(&full());
    for state in [SamplingState::Off, SamplingState::NotBuilt, SamplingState::NotSupported] {
        let mut timeline = full();
        timeline.long_polls.sampling.state = state;
        comes_back(&timeline);
    }
    let mut timeline = full();
    timeline.pool.exhausted = Some(pool(None));
    timeline.pool.queue = vec![(0, 1), (5, 1 << 60), (u64::MAX, 0)];
    comes_back(&timeline);
}

#[test]
fn the_largest_times_come_back() {
    let begin_ns = u64::MAX - 9_000;
    let mut timeline = with_causes(begin_ns, u64::MAX - 10, &[(begin_ns, begin_ns + 8_000)]);
    timeline.machine.run_delay_ns = u64::MAX - 1;
    timeline.machine.stolen_ns = 1;
    timeline.long_polls.causes[0].1.major_faults = u64::MAX;
    comes_back(&timeline);
    let mut timeline = with_causes(0, 1 << 62, &[(5, 1 << 61)]);
    timeline.long_polls.samples = vec![sample(5, 1 << 61, Vec::new())];
    comes_back(&timeline);
}

/// Two polls of one thread may start at the same time: one is within the other.
#[test]
fn polls_with_one_key_come_back() {
    let mut timeline = with_causes(0, 1_000, &[(200, 400)]);
    let within = task(TaskKey::Spawned(8), 0, vec![poll(200, 300)]);
    timeline.tasks = timeline.tasks.iter().cloned().chain([within]).collect::<Vec<_>>().into();
    timeline.long_polls.causes.push(((0, 200), cause(100)));
    comes_back(&timeline);
}

#[test]
#[ignore = "slow"]
fn what_does_not_fit_into_a_part_is_in_the_next() {
    let polls: Vec<_> = (0..8_000).map(|n| (1_000 * n, 1_000 * n + 500)).collect();
    let mut timeline = with_causes(0, 10_000_000, &polls);
    let samples = polls.iter().enumerate().map(|(n, &(from, to))| {
        let name = format!("shop::{n}::{}", "x".repeat(n % 200));
        let own = frame(&name, Some(1), FrameOrigin::Program);
        let shared = frame(&format!("shop::{}", n % 100), None, FrameOrigin::Program);
        sample(from, to, vec![own.clone(), shared, own])
    });
    timeline.long_polls.samples = samples.collect();
    comes_back(&timeline);
    let text = String::from_utf8(data(timeline).tasks_to_bytes().unwrap()).unwrap();
    let parts = |name: &str| {
        let parts = text.lines().filter(|line| line.starts_with("{\"tag\":\"tokio-statemap "));
        parts.filter(|part| part.contains(&format!("\"{name}\":["))).count()
    };
    assert!(parts("causes") > 1 && parts("functions") > 8 && parts("samples") > 3);
    assert!(text.lines().all(|line| line.len() < 200_000));
    assert_eq!(text.matches("[\"shop::").count(), 8_100, "each function is there once");
}

#[test]
fn a_file_of_an_earlier_version_is_read() {
    let timeline = timeline(Vec::new(), Vec::new());
    let text = String::from_utf8(data(timeline).tasks_to_bytes().unwrap()).unwrap();
    for name in [
        "runDelayNs",
        "stolenNs",
        "cpuLimit",
        "clock",
        "stacks",
        "droppedSamples",
        "noStacks",
        "exhaustedPool",
        "poolQueue",
    ] {
        assert!(!text.contains(name), "{text}");
    }
    let again = read_again(&[read(text.as_bytes()).unwrap()]);
    assert_eq!(again.machine, MachineTime::default());
    assert_eq!(again.long_polls.sampling.state, SamplingState::NotBuilt);
}

#[test]
fn how_it_is_written() {
    let text = String::from_utf8(data(full()).tasks_to_bytes().unwrap()).unwrap();
    let header = r#""scheduleLatency":true,"cpuLimit":[1500,2,"1152921504606846976"],"clock":[3,"2305843009213693952",true,false],"stacks":"on","runDelayNs":5,"droppedSamples":1,"noStacks":{"noProc":3,"memoryDenied":"18446744073709551615"},"poolWork":[9,2,7,4,1],"exhaustedPool":[2,48,"1152921504606846976",9,50,"18446744073709551615",1,["#;
    assert!(text.contains(header), "{text}");
    for list in [
        r#""causes":[[0,200,1,195,2,0,7,2],[0,500,1,395,2,0,7,2]],"#,
        r#""functions":[["nanosleep",null,null,"system"],["shop::render_invoice","src/shop.rs",21,"program"],["a\"b\\"#,
        r#"[0,200,300,null,false,[]],[0,500,600,null,true,[2,1,1]],"#,
        r#""cpu":[[7,"18446744073709551615",[3,3]],[1,0,[0]],[3,"1152921504606846976",[]],[5,9,null]]"#,
    ] {
        assert!(text.contains(list), "{list}\n{text}");
    }
}

/// Wrong data neither panics nor makes a wrong report: it is taken for other data, and the check reports the problem.
#[test]
fn what_cannot_be_is_refused() {
    let text = String::from_utf8(data(full()).tasks_to_bytes().unwrap()).unwrap();
    let huge = format!("\"{}\"", u64::MAX);
    for (old, new, problem) in [
        // The run.
        ("\"runDelayNs\":5", "\"runDelayNs\":-5", "is no whole number"),
        ("\"runDelayNs\":5", "\"runDelayNs\":\"5\"", "is no whole number"),
        ("\"runDelayNs\":5", &format!("\"stolenNs\":1,\"runDelayNs\":{huge}"), "over 2^64 in sum"),
        ("\"stacks\":\"on\"", "\"stacks\":\"maybe\"", "there is no `stacks` of `maybe`"),
        ("\"stacks\":\"on\"", "\"stacks\":1", "invalid type"),
        ("\"noProc\":3", "\"noFun\":3", "there is no `noStacks` of `noFun`"),
        ("\"noProc\":3", "\"noProc\":-3", "is no whole number"),
        ("\"cpuLimit\":[1500,2,", "\"cpuLimit\":[2,", "invalid length 2"),
        ("\"cpuLimit\":[1500,2,", "\"cpuLimit\":[1500,2,3,", "invalid length 4"),
        ("\"clock\":[3,", "\"clock\":[3,3,", "invalid type"),
        ("\"clock\":[3,", "\"clock\":[-3,", "is no whole number"),
        ("true,false],\"stacks\"", "true,0],\"stacks\"", "invalid type"),
        ("\"poolWork\":[9,2,7,4,1]", "\"poolWork\":[9,2,7,5,1]", "no more than `runDelayNs`"),
        ("\"poolWork\":[9,", "\"poolWork\":[1,", "no more threads than tasks"),
        ("\"exhaustedPool\":[2,", "\"exhaustedPool\":[2,2,", "invalid type"),
        ("\"exhaustedPool\":[2,", "\"exhaustedPool\":[-2,", "is no whole number"),
        ("\"runDelayNs\":5", "\"poolQueue\":[[5,1],[5,0]]", "`poolQueue` must go by time"),
        ("\"runDelayNs\":5", "\"poolQueue\":[[5]]", "invalid length 1"),
        // Causes.
        ("[0,200,1,195,2,0,7,2]", "[0,200,1,195,2,0]", "`causes` has 6 numbers"),
        ("[0,200,1,195,2,0,7,2]", "[0,200,1,195,2,0,7,2,0]", "`causes` has 9 numbers"),
        ("[0,200,1,195,2,0,7,2]", "[-1,200,1,195,2,0,7,2]", "is no whole number"),
        ("[0,200,1,195,2,0,7,2]", "[0,600,1,195,2,0,7,2]", "by thread and start"),
        ("[0,200,1,195,2,0,7,2]", "[0,200,1,194,2,0,7,2]", "polls that are there"),
        ("[0,200,1,195,2,0,7,2]", "[0,201,1,195,2,0,7,2]", "polls that are there"),
        ("[0,500,1,395,2,0,7,2]", "[1,500,1,395,2,0,7,2]", "polls that are there"),
        ("[0,200,1,195,2,0,7,2]", "[0,20,1,195,2,0,7,2]", "isn't within 100 to 1000"),
        ("[0,200,1,195,2,0,7,2]", "[0,200,1,995,2,0,7,2]", "isn't within 100 to 1000"),
        ("[0,200,1,195,2,0,7,2]", &format!("[0,200,{huge},195,2,0,7,2]"), "isn't within"),
        ("[0,200,1,195,2,0,7,2]", &format!("[0,200,0,0,{huge},{huge},7,0]"), "isn't within"),
        // Functions.
        ("[\"nanosleep\",null,null,\"system\"]", "[\"nanosleep\",null,null]", "invalid length 3"),
        ("\"system\"]", "\"libc\"]", "there is no origin `libc`"),
        ("[\"nanosleep\",", "[null,", "invalid type: null"),
        ("\"src/shop.rs\",21", "\"src/shop.rs\",4294967296", "invalid value"),
        // The CPU time of polls.
        ("[1,0,[0]]", "[1,0,[9]]", "`cpu` has an index that `functions` doesn't have"),
        ("[1,0,[0]]", "[1,0,0]", "invalid type"),
        ("[1,0,[0]]", "[-1,0,[0]]", "is no whole number"),
        ("[1,0,[0]]", &format!("[1,0,[{}0]]", "0,".repeat(1024)), "of over 1024 functions"),
        ("[1,0,[0]]", &format!("{}[1,0,[0]]", "[1,0,[0]],".repeat(512)), "over 512 stacks"),
        // Samples.
        ("[0,500,600,null,true,[2,1,1]]", "[0,500,600,null,true,[2,1,4]]", "an index that"),
        ("[0,500,600,null,true,[2,1,1]]", "[0,500,600,null,true,[-2]]", "invalid value"),
        ("[0,500,600,null,true,[2,1,1]]", "[0,500,499,null,true,[2]]", "none before its poll"),
        ("[0,500,600,null,true,[2,1,1]]", "[0,100,600,null,true,[2]]", "by thread, start and time"),
        ("[0,500,600,null,true,[2,1,1]]", "[0,500,600,null,1,[2]]", "invalid type"),
        ("[0,500,600,null,true,[2,1,1]]", "[0,500,600,\"f\",true,{}]", "invalid type"),
    ] {
        assert!(text.contains(old), "{old}");
        let text = text.replace(old, new);
        let error = check_ours(text.as_bytes()).expect_err(new);
        assert!(error.to_string().contains(problem), "{new}: {error}");
        let other = read(text.as_bytes()).unwrap();
        let all = recordings(std::slice::from_ref(&other));
        assert!(matches!(all[..], [Recording::Other { .. }]), "{new}: {all:?}");
    }
}

#[test]
fn workers_have_no_polls() {
    let text = String::from_utf8(data(full()).workers_to_bytes().unwrap()).unwrap();
    for list in ["\"causes\":[[0,200,1,195,2,0,7,2]]", "\"functions\":[[\"f\",null,null,\"std\"]]"]
    {
        let part = format!("{{\"tag\":\"tokio-statemap 1\",\"state\":2,{list}}}\n");
        let error = check_ours((text.clone() + &part).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("workers have none"), "{error}");
    }
}

/// Impossible samples: a file may contain many in a few bytes, and each takes memory and time.
#[test]
fn samples_have_limits() {
    let problem = |timeline: Timeline| {
        let bytes = data(timeline).tasks_to_bytes().unwrap();
        let all = [read(&bytes[..]).unwrap()];
        let is_run = matches!(recordings(&all)[..], [Recording::Run { .. }]);
        let problem = check_ours(&bytes[..]).err().map(|error| error.to_string());
        assert_eq!(is_run, problem.is_none());
        problem.unwrap_or_default()
    };
    let of_polls = |polls: u64, of_each: usize| {
        let mut timeline = full();
        let of_poll = |n: u64| std::iter::repeat_n(sample(n, n, Vec::new()), of_each);
        timeline.long_polls.samples = (0..polls).flat_map(of_poll).collect();
        problem(timeline)
    };
    assert_eq!(of_polls(2, 64), "");
    assert!(of_polls(2, 65).contains("over 64 of the poll of thread 0 at 0, which is the limit"));
    assert_eq!(of_polls(8_192, 1), "");
    assert!(of_polls(8_193, 1).contains("`samples` are over 8192, which is the limit"));
}

/// Each of the polls would have all samples.
#[test]
fn samples_are_not_of_any_number_of_polls() {
    let of_tasks = |count: u64| {
        let tasks = (0..count).map(|id| Task {
            spawned_ns: None,
            ..task(TaskKey::Spawned(id), 100, vec![poll(200, 400)])
        });
        let mut timeline = timeline(tasks.collect(), Vec::new());
        (timeline.begin_ns, timeline.end_ns) = (100, 1_000);
        let own = frame("shop::render_invoice", Some(21), FrameOrigin::Program);
        timeline.long_polls.samples = vec![sample(200, 300, vec![own; 16_000])];
        check_ours(&data(timeline).tasks_to_bytes().unwrap()[..]).map_err(|e| e.to_string())
    };
    of_tasks(100).unwrap();
    let error = of_tasks(1_000).unwrap_err();
    let problem = "`samples` are of too many polls, such as that of thread 0 at 200";
    assert!(error.contains(problem), "{error}");
}

/// The memory for the data is at most a few times the file's size.
#[test]
#[ignore = "slow"]
fn a_small_file_does_not_have_millions_of_functions() {
    let problem = |samples: usize, functions: usize| {
        let own = frame("shop::render_invoice", Some(21), FrameOrigin::Program);
        let mut timeline = full();
        let starts = 0..samples as u64;
        timeline.long_polls.samples =
            starts.map(|n| sample(n, n, vec![own.clone(); functions])).collect();
        check_ours(&data(timeline).tasks_to_bytes().unwrap()[..]).err().map(|e| e.to_string())
    };
    assert!(problem(4_096, 513).unwrap().contains("`samples` have over 2097152 functions"));
    assert_eq!(problem(1, 65_536), None);
    let error = problem(1, 65_537).unwrap();
    assert!(error.contains("`samples` has one with over 65536 functions, of thread 0 at 0"));
}

/// A stack may have any depth, with inlined functions or when its addresses are looked up.
#[test]
#[ignore = "slow"]
fn what_is_left_of_the_deepest_stack_comes_back() {
    let deep = (0..70_000).map(|n| frame(&format!("shop::f{n}"), Some(n), FrameOrigin::Program));
    let mut timeline = full();
    timeline.long_polls.samples =
        vec![PollSample { is_complete: true, ..sample(5, 6, deep.collect()) }];
    limit_stacks(&mut timeline.long_polls.samples);
    assert_eq!(
        (timeline.long_polls.samples[0].frames.len(), timeline.long_polls.samples[0].is_complete),
        (65_536, false)
    );
    comes_back(&timeline);
}

#[test]
fn a_window_keeps_what_is_within() {
    let whole = full();
    let of = |from_ns: u64, length_ns: Option<u64>| {
        let mut file = file(&whole);
        file.cut(from_ns, length_ns);
        read_again(&[file])
    };
    let causes =
        |timeline: &Timeline| timeline.long_polls.causes.iter().map(|c| c.0.1).collect::<Vec<_>>();
    let samples = |timeline: &Timeline| {
        timeline.long_polls.samples.iter().map(|s| (s.poll_start_ns, s.at_ns)).collect::<Vec<_>>()
    };
    // The whole recording: from 100 to 1000.
    let same = of(0, None);
    assert_eq!(
        (same.long_polls.causes, same.long_polls.samples),
        (whole.long_polls.causes.clone(), whole.long_polls.samples.clone())
    );
    // The second poll ends at the edge.
    let first = of(0, Some(800));
    assert_eq!(causes(&first), [200]);
    assert_eq!(samples(&first), [(200, 300), (200, 300), (500, 600)]);
    // Both polls lie across an edge: the first one starts there now.
    let middle = of(150, Some(400));
    assert_eq!((middle.begin_ns, middle.end_ns), (250, 650));
    assert!(middle.long_polls.causes.is_empty());
    assert_eq!(samples(&middle), [(250, 300), (250, 300), (500, 600)]);
    let polls: Vec<_> = middle.tasks.iter().flat_map(|task| &task.polls).collect();
    let found: Vec<_> =
        polls.iter().map(|poll| (middle.cause(poll), middle.samples(poll).len())).collect();
    assert_eq!(found, [(None, 2), (None, 1)]);
    // The rest of the first poll does what the poll was last seen to do.
    let second = of(250, None);
    assert_eq!(causes(&second), [500]);
    assert_eq!(samples(&second), [(350, 350), (500, 600), (1 << 60, u64::MAX)]);
    // A poll that is over is left out.
    assert_eq!(samples(&of(350, None)), [(500, 600), (1 << 60, u64::MAX)]);
    // A second window cuts it in the same way.
    let mut twice = file(&whole);
    twice.cut(250, None);
    twice.cut(20, None);
    assert_eq!(samples(&read_again(&[twice])), [(370, 370), (500, 600), (1 << 60, u64::MAX)]);
    assert!(of(850, None).long_polls.causes.is_empty());
}

/// The data doesn't say when the machine took something.
#[test]
fn what_the_machine_took_is_of_the_whole_run() {
    // 900 ns are recorded, 100 ns of which are a gap. Over 1 % is worth a sentence.
    for (stolen_ns, is_said) in [(0, false), (8, false), (9, true)] {
        let mut whole = full();
        whole.gaps = vec![(900, 1_000)];
        whole.machine = MachineTime { stolen_ns, ..MachineTime::default() };
        let of_whole = "The host of this machine took the processor from them for 9 ns, in sum.";
        let of_part = of_whole.replacen("The", "In the whole run, the", 1);
        let sentences = |windows: &[(u64, Option<u64>)]| {
            let mut file = file(&whole);
            windows.iter().for_each(|&(from_ns, length_ns)| file.cut(from_ns, length_ns));
            read_again(&[file]).report().machine_sentences()
        };
        let expected = |sentence: &str| match is_said {
            true => vec![sentence.to_owned()],
            false => Vec::new(),
        };
        assert_eq!(sentences(&[]), expected(of_whole));
        // The remaining 100 ns don't count.
        assert_eq!(sentences(&[(0, Some(100))]), expected(&of_part));
        assert_eq!(sentences(&[(0, Some(400)), (0, Some(100))]), expected(&of_part));
    }
}

/// A poll that is seen to do something once goes on with it: the function is to blame in any part of the poll's time.
#[test]
fn a_window_of_a_long_poll_does_not_excuse_it() {
    let mut whole = full();
    whole.settings.long_poll = Duration::from_nanos(50);
    whole.long_polls.sampling = Sampling { state: SamplingState::On, ..Sampling::default() };
    // The poll starts at the same time as the state before it, which is written 1 ns earlier.
    for (first_ns, from_ns) in [(100, 450), (500, 550), (500, 700)] {
        let location = SpawnLocation { file: "src/shop.rs", line: 9, column: 5 };
        let polls = vec![poll(500, 900)];
        let task = task(TaskKey::Spawned(7), first_ns, polls);
        whole.tasks = vec![Task { location: Some(location), ..task }].into();
        whole.long_polls.causes = vec![((0, 500), cause(400))];
        let mut file = file(&whole);
        file.cut(from_ns - whole.begin_ns, Some(150));
        let part = read_again(&[file]);
        let report = part.report();
        let names: Vec<_> = report
            .blame
            .culprits
            .iter()
            .map(|culprit| culprit.frame.as_ref().map_or("", |frame| &*frame.function))
            .collect();
        assert_eq!(names, ["shop::render_invoice"], "{from_ns}: {report}");
        assert_eq!(report.blame.unattributed, Unattributed::default(), "{from_ns}: {report}");
    }
}

/// A poll that a window cuts starts at the window's edge, as another poll does.
#[test]
fn a_cut_poll_has_no_cause_of_another() {
    let mut whole = with_causes(0, 1_000, &[(200, 400)]);
    let outer = task(TaskKey::Spawned(8), 0, vec![poll(100, 900)]);
    whole.tasks = whole.tasks.iter().cloned().chain([outer]).collect::<Vec<_>>().into();
    let mut file = file(&whole);
    file.cut(200, None);
    let part = read_again(&[file]);
    let causes: Vec<_> = part
        .tasks
        .iter()
        .flat_map(|task| &task.polls)
        .map(|poll| (poll.start_ns(), part.cause(poll)))
        .collect();
    assert_eq!(causes, [(200, Some(cause(200))), (200, None)]);
}
