//! Checks that two runs of one program are alike, and that a line that got slower is found first. The runs are made up:
//! their polls have heavy tails, come in bursts, and depend on those before, on machines that behave differently each
//! time.

use std::time::Duration;

use super::{Change, Comparison, compare};
use crate::analysis::picture::tests::timeline as any_timeline;
use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{
    FrameOrigin, Poll, PollCause, PollSample, SamplingState, StackFrame, Task, TaskKey, Timeline,
};
use crate::util::random::Random;

const MS: u64 = 1_000_000;
const RUN_NS: u64 = 10_000 * MS;

/// A line of a program, as it behaves in a run.
#[derive(Clone, Copy)]
pub(crate) struct Planned {
    line: u32,
    /// The usual length of its polls, in ns.
    usual_ns: f64,
    polls: u64,
    /// The variation of the lengths: the deviation of their logarithms.
    varies: f64,
    /// The factor by which they are longer.
    pub(crate) slower: f64,
}

/// Six lines of all kinds.
pub(crate) fn program() -> Vec<Planned> {
    let line =
        |line, usual_ns, polls, varies| Planned { line, usual_ns, polls, varies, slower: 1.0 };
    vec![
        line(10, 200e3, 1_500, 0.05),
        line(20, 200e3, 2_000, 0.3),
        line(30, 40e3, 2_500, 0.8),
        line(40, 3e3, 3_000, 0.4),
        line(50, 900e3, 400, 0.35),
        line(60, 300e3, 90, 0.2),
    ]
}

/// A number that is about normally distributed.
fn normal(random: &mut Random) -> f64 {
    let sum: u64 = (0..12).map(|_| random.below(1 << 20)).sum();
    sum as f64 / f64::from(1 << 20) - 6.0
}

/// A run of a program. The machine is slower by `machine`, and disturbs it in bursts.
pub(crate) fn run(program: &[Planned], seed: u64, machine: f64) -> Timeline {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..20 {
        random.below(2);
    }
    // Bursts in which everything takes longer: from and to.
    let bursts: Vec<(u64, u64)> = (0..4)
        .map(|_| (random.below(RUN_NS), 100 * MS + random.below(400 * MS)))
        .map(|(from, length)| (from, from + length))
        .collect();
    let mut tasks = Vec::new();
    for (index, planned) in program.iter().enumerate() {
        let at = SpawnLocation { file: "src/main.rs", line: planned.line, column: 5 };
        let every_ns = RUN_NS / planned.polls;
        // Each poll depends on the one before.
        let (mut state, mut polls) = (0.0, Vec::new());
        let mut last_ns = 0;
        for number in 0..planned.polls {
            state = 0.9 * state + 0.436 * normal(&mut random);
            let own = 0.7 * state + 0.7 * normal(&mut random);
            let mut length = planned.usual_ns * planned.slower * (planned.varies * own).exp();
            if random.once_in(200) {
                // The tail: to the hundredfold.
                length *= 1e3 / (10.0 + random.below(990) as f64);
            }
            let start_ns = (number * every_ns + random.below(every_ns)).max(last_ns + 1);
            let is_in = |burst: &(u64, u64)| (burst.0..burst.1).contains(&start_ns);
            let disturbed = if bursts.iter().any(is_in) { 1.8 } else { 1.0 };
            let end_ns = start_ns + (length * machine * disturbed).max(100.0) as u64;
            let ready_ns = start_ns.saturating_sub(5_000 + random.below(30_000)).max(last_ns);
            let poll = Poll::open(start_ns, index as u32, Some(index as u32));
            polls.push(poll.ready(Some(ready_ns)).ended(end_ns));
            last_ns = end_ns;
        }
        tasks.push(Task {
            location: Some(at),
            ..Task::planted(TaskKey::Spawned(1 + index as u64), 0, polls)
        });
    }
    let mut timeline = any_timeline(1, 1);
    let lasts = tasks.iter().flat_map(|task| &task.polls).filter_map(Poll::end_ns).max();
    timeline.end_ns = lasts.unwrap_or(RUN_NS).max(RUN_NS);
    (timeline.begin_ns, timeline.recent_ns) = (0, 0);
    timeline.settings.long_poll = Duration::from_millis(1);
    timeline.long_polls.sampling.state = SamplingState::On;
    timeline.tasks = tasks.into();
    timeline
}

fn compare_two(before: &Timeline, after: &Timeline) -> Comparison {
    compare(&[before], &[after])
}

/// Returns the factor by which a machine is slower than another: up to a half.
fn machine(seed: u64) -> f64 {
    1.0 + (seed % 6) as f64 / 10.0
}

#[test]
#[ignore = "slow"]
fn two_runs_of_one_program_are_alike() {
    let runs = 60;
    let are_called_different = |seed: &u64| {
        let before = run(&program(), 2 * seed, machine(*seed));
        let after = run(&program(), 2 * seed + 1, machine(seed / 6));
        compare_two(&before, &after).has_changes()
    };
    let wrong: Vec<u64> = (1..=runs).filter(are_called_different).collect();
    println!("{} of {runs} pairs of runs are called different: {wrong:?}", wrong.len());
    assert!(wrong.len() as u64 * 20 <= runs, "{wrong:?}");
}

#[test]
#[ignore = "slow"]
fn so_are_runs_of_a_program_of_one_line() {
    for line in program() {
        let wrong = (1..=20).filter(|seed| {
            let machine = if seed % 2 == 0 { 1.3 } else { 1.0 };
            let before = run(&[line], 1_000 + 2 * seed, 1.0);
            compare_two(&before, &run(&[line], 1_001 + 2 * seed, machine)).has_changes()
        });
        assert!(wrong.count() <= 1, "{}", line.line);
    }
}

#[test]
#[ignore = "slow"]
fn a_line_that_takes_twice_as_long_is_the_first() {
    let number = program().len() as u64;
    for seed in 1..=36 {
        let mut slower = program();
        let planted = &mut slower[(seed % number) as usize];
        planted.slower = 2.0;
        let line = planted.line;
        let before = run(&program(), 5_000 + 2 * seed, machine(seed));
        let after = run(&slower, 5_001 + 2 * seed, machine(seed / 3));
        let comparison = compare_two(&before, &after);
        let first = comparison.longer().next().map(|line| line.line.place.location);
        // Polls of 3 µs say little: the clock and the caches make differences as large.
        let is_tiny = line == 40;
        let found = first.flatten().map(|location| location.line);
        assert!(found == Some(line) || is_tiny && found.is_none(), "{seed}, {line}\n{comparison}");
        assert!(comparison.longer().count() <= 1, "{seed}, {line}\n{comparison}");
        // In the opposite direction, the line is the one that got shorter.
        let back = compare_two(&after, &before);
        let shorter = back.shorter().next().and_then(|line| line.line.place.location);
        assert_eq!(shorter.map(|location| location.line), found, "{seed}\n{back}");
    }
}

/// With one line there are no others that tell how fast the machine was.
#[test]
fn so_is_the_only_line() {
    for seed in 1..=20 {
        let line = program()[0];
        let before = run(&[line], 9_000 + 2 * seed, 1.0);
        let after = run(&[Planned { slower: 2.0, ..line }], 9_001 + 2 * seed, 1.0);
        assert_eq!(compare_two(&before, &after).longer().count(), 1, "{seed}");
    }
}

/// Some polls take twice as long, which the median doesn't show.
#[test]
#[ignore = "slow"]
fn a_part_of_the_polls_is_found() {
    let usual = program();
    let slow = |factor| Planned { usual_ns: 2e6, polls: 700, slower: factor, ..usual[0] };
    let mixed = |seed, factor| {
        let mut timeline = run(&usual, seed, 1.0);
        let other = run(&[slow(factor)], seed + 1, 1.0);
        let of_line = &mut timeline.tasks.seen_mut()[0].polls;
        // They replace other polls that are as rare.
        for poll in &other.tasks.seen()[0].polls {
            let next = of_line.partition_point(|known| known.start_ns() < poll.start_ns());
            let room = of_line.get(next).map_or(RUN_NS, Poll::start_ns);
            let free = next == 0 || of_line[next - 1].end_ns() <= Some(poll.start_ns());
            if free && poll.end_ns().is_some_and(|end_ns| end_ns < room) {
                of_line.insert(next, *poll);
            }
        }
        timeline
    };
    for seed in 1..=10 {
        let comparison = compare_two(&mixed(70 * seed, 1.0), &mixed(70 * seed + 35, 2.0));
        let first = comparison.longer().next().expect("it is found");
        assert_eq!(first.line.place.location.map(|of| of.line), Some(10), "{comparison}");
        let percent = first.polls.factor().map(|factor| factor.percent);
        assert!(percent > Some(50), "{percent:?}");
    }
}

/// A line takes twice as long, but only because of what the machine took.
#[test]
fn what_the_machine_took_does_not_count() {
    let line = Planned { usual_ns: 4e6, polls: 500, varies: 0.1, ..program()[0] };
    let before = run(&[line], 1, 1.0);
    let mut after = run(&[Planned { slower: 2.0, ..line }], 2, 1.0);
    assert_eq!(compare_two(&before, &after).longer().count(), 1);
    let polls = after.tasks.seen()[0].polls.clone();
    let cause = |poll: &Poll| {
        let half_ns = poll.length_ns(0) / 2;
        let on_cpu_ns = poll.length_ns(0) - half_ns;
        (poll.key(), PollCause { on_cpu_ns, stolen_ns: half_ns, ..PollCause::default() })
    };
    after.long_polls.causes = polls.iter().map(cause).collect();
    after.machine.stolen_ns =
        after.long_polls.causes.iter().map(|(_, cause)| cause.stolen_ns).sum();
    let comparison = compare_two(&before, &after);
    assert!(!comparison.has_changes(), "{comparison}");
}

/// The time that the machine took isn't known for polls shorter than a long one. The slowest polls say nothing if it
/// may have been in all of them.
#[test]
fn the_slowest_polls_say_nothing_where_the_machine_may_be_to_blame() {
    let before = run(&program(), 1, 1.0);
    let mut after = run(&program(), 2, 1.0);
    assert_eq!(compare_two(&before, &after).quantiles, [50, 75, 90, 99]);
    let held_ns: u64 =
        after.tasks.seen().iter().flat_map(|t| &t.polls).map(|p| p.length_ns(0)).sum();
    after.machine.run_delay_ns = held_ns / 100;
    assert_eq!(compare_two(&before, &after).quantiles, [50, 75, 90]);
    after.machine.run_delay_ns = held_ns / 10;
    let comparison = compare_two(&before, &after);
    assert_eq!(comparison.quantiles, [50]);
    assert!(comparison.lines.iter().all(|line| line.ready == Change::Unknown));
    after.long_polls.sampling.state = SamplingState::NotBuilt;
    assert_eq!(compare_two(&before, &after).quantiles, [50, 75]);
}

#[test]
fn what_all_lines_do_is_the_machines() {
    let comparison = compare_two(&run(&program(), 1, 1.0), &run(&program(), 2, 2.5));
    assert!(!comparison.has_changes(), "{comparison}");
    let factor = comparison.common_factor.expect("there are enough lines");
    assert!((2.2..2.8).contains(&factor), "{factor}");
    assert!(comparison.to_string().contains("All lines took "), "{comparison}");
}

#[test]
fn several_runs_tell_a_smaller_difference() {
    let runs = |seed: u64, slower| -> Vec<Timeline> {
        let line = Planned { slower, ..program()[0] };
        (0..4).map(|n| run(&[line], seed + n, 1.0)).collect()
    };
    let (before, after) = (runs(1, 1.0), runs(11, 1.35));
    let one = compare(&[&before[0]], &[&after[0]]);
    assert!(!one.has_changes(), "{one}");
    let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    let several = compare(&before, &after);
    assert_eq!((several.longer().count(), several.before.runs), (1, 4), "{several}");
}

/// A function that is in no poll of the run before.
#[test]
fn new_long_polls_are_found_by_their_function() {
    let before = run(&program(), 1, 1.0);
    let mut after = run(&program(), 2, 1.0);
    let plant = |timeline: &mut Timeline, every: usize| {
        let mut samples = Vec::new();
        for poll in timeline.tasks.seen_mut()[5].polls.iter_mut().step_by(every) {
            *poll = poll.ended(poll.start_ns() + 9 * MS);
            samples.push(PollSample {
                thread: poll.thread(),
                poll_start_ns: poll.start_ns(),
                at_ns: poll.start_ns() + 5 * MS,
                blocked_in: Some("clock_nanosleep".to_owned()),
                frames: vec![StackFrame {
                    function: "shop::wait".into(),
                    file: Some("src/wait.rs".into()),
                    line: Some(3),
                    origin: FrameOrigin::Program,
                }],
                is_complete: true,
            });
        }
        samples.sort_by_key(PollSample::order);
        timeline.long_polls.samples = samples;
    };
    plant(&mut after, 5);
    let comparison = compare_two(&before, &after);
    let new: Vec<_> = comparison.new_long_polls().collect();
    assert_eq!(new.len(), 1, "{comparison}");
    assert_eq!(&*new[0].frame.function, "shop::wait");
    assert!(comparison.verdict().contains("shop::wait at src/wait.rs:3"), "{comparison}");
    // Two polls may be chance.
    let mut after = run(&program(), 2, 1.0);
    plant(&mut after, 60);
    let comparison = compare_two(&before, &after);
    assert_eq!(comparison.new_long_polls().count(), 0, "{comparison}");
    assert!(!comparison.long_polls.is_empty());
}

#[test]
fn nothing_is_said_of_nothing() {
    let few: Vec<Planned> = program().iter().map(|line| Planned { polls: 4, ..*line }).collect();
    let comparison = compare_two(&run(&few, 1, 1.0), &run(&few, 2, 1.0));
    assert!(comparison.lines.iter().all(|line| line.polls == Change::TooFew));
    assert!(comparison.verdict().contains("too few polls"), "{comparison}");
    let mut without = run(&program(), 1, 1.0);
    without.lacking.tasks = true;
    without.tasks = Vec::new().into();
    let comparison = compare_two(&without, &run(&program(), 2, 1.0));
    assert!(comparison.verdict().starts_with("Nothing can be compared"), "{comparison}");
}
