//! The clock tells the time that a naive clock tells, whatever the anchors are.

pub(crate) mod fake;
mod real;

use std::sync::OnceLock;
use std::time::Duration;

use super::pieces::{MAX, Pieces, RECENT};
use super::rate::{Rate, Span};
use super::*;
use crate::recorder::clock::tests::fake::Fake;

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }
}

/// Moments of a clock: in ticks, and when they were in ns, without jumps.
#[derive(Default)]
struct Moments(Vec<(u64, u64)>);

impl Moments {
    fn note(&mut self, fake: &Fake) {
        self.0.push((fake.ticks(), fake.at_ns()));
    }

    /// The greatest error of lengths between neighbours, and of the times since the first.
    fn errors(&self, clock: &Clock) -> (u64, u64) {
        let scale = clock.scale();
        let length = |(from, from_ns): (u64, u64), (to, to_ns): (u64, u64)| {
            clock.length_ns(from, to).abs_diff(to_ns - from_ns)
        };
        let neighbours = self.0.windows(2).map(|two| length(two[0], two[1]));
        let (first, first_ns) = self.0[0];
        let since =
            |&(ticks, ns): &(u64, u64)| (scale.ns(ticks) - scale.ns(first)).abs_diff(ns - first_ns);
        let all = self.0.iter().map(since).max();
        (neighbours.max().expect("two"), all.expect("one"))
    }
}

/// Lets time pass, and takes an anchor if one is due, after each step.
fn run(fake: &Fake, clock: &Clock, time: Duration, step: Duration) -> Vec<Found> {
    let mut found = Vec::new();
    let mut left = time;
    while left > Duration::ZERO {
        fake.run(step.min(left));
        left = left.saturating_sub(step);
        if clock.is_due() {
            found.extend(clock.take_anchor());
        }
    }
    found
}

#[test]
fn a_sleep_is_a_jump_of_which_lengths_know_nothing() {
    let fake = Fake::new();
    let clock = fake.clock();
    let mut found = run(&fake, &clock, 3 * S, 5 * MS);
    let (before, before_ns) = (fake.ticks(), fake.at_ns());
    // The clock is asked neither where an anchor was, nor where the next one is.
    found.extend(run(&fake, &clock, 30 * MS, 5 * MS));
    assert_eq!(found, []);
    let slept_from = fake.ticks();
    fake.sleep(50 * S);
    let slept_to = fake.ticks();
    found.extend(run(&fake, &clock, 70 * MS, 5 * MS));
    let (after, after_ns) = (fake.ticks(), fake.at_ns());
    found.extend(run(&fake, &clock, 3 * S, 5 * MS));

    // A poll of 100 ms is one of 100 ms, as it was before, and is after.
    assert_eq!(after_ns - before_ns, 100_000_000);
    let is_near = |ns: u64, of: u64| ns.abs_diff(of) <= 200;
    let length_ns = clock.length_ns(before, after);
    assert!(length_ns.abs_diff(100_000_000) < 1000, "{length_ns}");
    let scale = clock.scale();
    assert!(is_near(scale.ns(before + 300_000_000) - scale.ns(before), 100_000_000));
    assert!(is_near(scale.ns(after + 300_000_000) - scale.ns(after), 100_000_000));
    // On the scale the sleep is there.
    let all_ns = scale.ns(after) - scale.ns(before);
    assert!(is_near(all_ns, 50_100_000_000), "{all_ns}");
    // The jump is found where it was, to the time between two anchors.
    let [Found::Jump(jump)] = found[..] else { panic!("{found:?}") };
    assert!(slept_from <= jump.from && jump.from <= slept_from + 300_000_000, "{jump:?}");
    assert!(slept_to - 300_000_000 <= jump.to && jump.to <= slept_to, "{jump:?}");
    assert!(jump.length_ns.abs_diff(50_000_000_000) < 10_000, "{jump:?}");
    let account = clock.account();
    assert_eq!((account.jumps, account.jumped_ns, account.went_back), (1, jump.length_ns, false));
    // The jump doesn't change the length of a tick, either.
    assert!(scale.length_ns(3_000_000_000).abs_diff(1_000_000_000) < 100);
}

#[test]
fn sums_do_not_go_back_if_the_rate_is_kept() {
    let scale_of = |ticks| {
        let rate = Rate::from_span(Span { ticks, ns: 1_000_000_000 }).unwrap();
        TickScale { rate, ..TickScale::of_ns(0) }
    };
    let (slow, fast) = (scale_of(3_000_000_000), scale_of(3_000_000_300));
    let (hour, kept) = (3600 * 3_000_000_000, OnceLock::new());
    assert!(fast.length_ns(hour) < slow.length_ns(hour));
    let [first, later] = [slow, fast].map(|mut scale| {
        scale.keep_rate(&kept);
        scale.length_ns(hour)
    });
    assert_eq!(first, later);
}

#[test]
fn what_a_hook_finds_is_there_for_the_next() {
    let fake = Fake::new();
    let clock = fake.clock();
    assert_eq!(run(&fake, &clock, S, 5 * MS), []);
    fake.sleep(50 * S);
    fake.run(MS);
    clock.add_anchor();
    assert!(clock.is_due());
    assert!(matches!(clock.take_anchor(), Some(Found::Jump(_))));
    assert!(!clock.is_due());
    assert_eq!(clock.take_anchor(), None);
}

#[test]
fn all_that_hooks_find_is_there_for_the_next() {
    let fake = Fake::new();
    let clock = fake.clock();
    assert_eq!(run(&fake, &clock, S, 5 * MS), []);
    for _ in 0..2 {
        fake.sleep(50 * S);
        fake.run(MS);
        clock.add_anchor();
        fake.run(200 * MS);
        clock.add_anchor();
    }
    let found: Vec<_> = std::iter::from_fn(|| clock.take_anchor()).collect();
    let [Found::Jump(first), Found::Jump(second)] = found[..] else { panic!("{found:?}") };
    assert!(first.to <= second.from, "{found:?}");
}

#[test]
fn where_it_jumped_is_not_made_up() {
    // The program, which reads the clock, did nothing for longer than the machine slept.
    let fake = Fake::new();
    let clock = fake.clock();
    assert_eq!(run(&fake, &clock, S, MS), []);
    fake.run(100 * S);
    fake.sleep(50 * S);
    fake.run(100 * S);
    assert_eq!(clock.take_anchor(), Some(Found::JumpSomewhere));
    assert_eq!(clock.account().jumps, 1);
    // A length that the jump may be before or after doesn't include it.
    let now = fake.ticks();
    let length_ns = clock.length_ns(now - 3_000_000_000, now);
    assert!(length_ns.abs_diff(1_000_000_000) < 1000, "{length_ns}");
}

#[test]
fn a_clock_that_loses_ticks_jumps() {
    let fake = Fake::new();
    let clock = fake.clock();
    assert_eq!(run(&fake, &clock, 2 * S, 5 * MS), []);
    let before = fake.ticks();
    fake.run(50 * MS);
    // This is as if the counter had stood still for 30 ms.
    fake.set_ticks(fake.ticks() - 90_000_000);
    let found = run(&fake, &clock, 51 * MS, MS);
    let [Found::Jump(jump)] = found[..] else { panic!("{found:?}") };
    assert!(jump.length_ns.abs_diff(30_000_000) < 1000, "{jump:?}");
    assert_eq!(jump.from, jump.to);
    let length_ns = clock.length_ns(before, before + 30_000_000);
    assert!(length_ns.abs_diff(10_000_000) < 100, "{length_ns}");
    assert_eq!(run(&fake, &clock, 2 * S, 5 * MS), []);
}

#[test]
fn a_counter_that_goes_back_goes_on_as_instant() {
    let fake = Fake::new();
    let (clock, other) = (fake.clock(), fake.clock());
    for clock in [&clock, &other] {
        assert_eq!(run(&fake, clock, 2 * S, 5 * MS), []);
    }
    let (before, before_ns) = (fake.ticks(), fake.at_ns());
    fake.set_ticks(1000);
    fake.run(30 * MS);
    assert!(clock.is_due() && other.is_due());
    let found = [clock.take_anchor(), other.take_anchor()];
    let [Some(Found::WentBack(at)), Some(Found::WentBack(same))] = found else {
        panic!("{found:?}")
    };
    assert_eq!(at, same);
    assert!(before < at && at <= fake.ticks());
    assert_eq!(run(&fake, &clock, 2 * S, 5 * MS), []);
    for clock in [clock, other] {
        let length_ns = clock.length_ns(before, fake.ticks());
        assert!(length_ns.abs_diff(fake.at_ns() - before_ns) < 1000, "{length_ns}");
        assert!(clock.account().went_back && clock.account().jumps == 0);
    }
}

#[test]
fn a_rate_that_changes_is_not_a_jump_again_and_again() {
    let fake = Fake::new();
    let clock = fake.clock();
    assert_eq!(run(&fake, &clock, 5 * S, 5 * MS), []);
    // The kernel may correct its clock by as much as that.
    fake.drift(80_000);
    let found = run(&fake, &clock, 5 * S, 5 * MS);
    assert!((1..=2).contains(&found.len()), "{found:?}");
    let from = (fake.ticks(), fake.at_ns());
    fake.run(20 * MS);
    let length_ns = clock.length_ns(from.0, fake.ticks());
    assert!(length_ns.abs_diff(fake.at_ns() - from.1) < 1000, "{length_ns}");
}

#[test]
fn drift_is_followed_to_a_microsecond() {
    let fake = Fake::new();
    let clock = fake.clock();
    let mut moments = Moments::default();
    // From 100 ppm to -100 ppm and back, each minute. A poll of 100 ms would be 10 µs off.
    for step in 0..20 * 200_i64 {
        fake.drift((step % 400 - 200).abs() - 100);
        for _ in 0..3 {
            moments.note(&fake);
            assert_eq!(run(&fake, &clock, 100 * MS, 7 * MS), []);
        }
    }
    let (lengths, times) = moments.errors(&clock);
    assert!(lengths <= 1000 && times <= 1000, "{lengths} ns, {times} ns");
}

#[test]
fn a_day_is_told_to_a_microsecond() {
    let fake = Fake::new();
    let clock = fake.clock();
    let (mut moments, mut random) = (Moments::default(), Random(7));
    moments.note(&fake);
    for minute in 0..24 * 60_u32 {
        // The rate wanders by up to 1 ppm a minute, and the kernel corrects it now and then.
        fake.drift(random.below(3) as i64 - 1 + if minute % 100 < 5 { 20 } else { 0 });
        assert_eq!(run(&fake, &clock, 60 * S, 105 * MS), []);
        if minute % 10 == 0 {
            moments.note(&fake);
        }
    }
    let (_, times) = moments.errors(&clock);
    assert!(times <= 1000, "{times} ns");
    assert!(clock.scale().pieces.len() <= MAX);
}

#[test]
fn an_hour_of_polls_is_told_to_a_microsecond() {
    let fake = Fake::new();
    let clock = fake.clock();
    let mut random = Random(3);
    let (start, start_ns) = (fake.ticks(), fake.at_ns());
    let mut last = 0;
    let mut polls = Vec::new();
    for ms in 0..3_600_000_u64 {
        if ms % 30_000 == 0 {
            fake.drift(random.below(20) as i64 - 10);
        }
        let (from, from_ns) = (fake.ticks(), fake.at_ns());
        let length = Duration::from_nanos(1000 + random.below(900_000));
        fake.run(length);
        let to = fake.ticks();
        fake.run(MS - length);
        if clock.is_due() {
            assert_eq!(clock.take_anchor(), None);
        }
        // To keep all of them would take 100 MB.
        if random.below(50) == 0 {
            polls.push((from, to, from_ns, length));
        }
    }
    let scale = clock.scale();
    assert!(polls.len() > 60_000);
    for (from, to, from_ns, length) in polls {
        let (at, end) = (scale.ns(from) - scale.ns(start), scale.ns(to) - scale.ns(start));
        assert!(at >= last && end >= at);
        last = at;
        assert!(at.abs_diff(from_ns - start_ns) <= 1000, "{at} at {from_ns}");
        assert!((end - at).abs_diff(length.as_nanos() as u64) <= 1000);
        assert!(clock.length_ns(from, to).abs_diff(end - at) <= 1, "lengths are of the scale");
    }
}

#[test]
fn later_answers_agree_with_earlier_ones() {
    let fake = Fake::new();
    let clock = fake.clock();
    let mut random = Random(11);
    let mut answers: Vec<(u64, u64)> = Vec::new();
    for _ in 0..400 {
        fake.drift(random.below(200) as i64 - 100);
        for _ in 0..random.below(30) {
            fake.run(Duration::from_micros(random.below(20_000)));
            if random.below(2) == 0 && clock.is_due() {
                clock.take_anchor();
            }
            if random.below(200) == 0 {
                fake.sleep(Duration::from_millis(random.below(10_000)));
            }
        }
        // A snapshot does this, too, with or without a new anchor.
        let scale = clock.scale();
        let now = fake.ticks();
        for _ in 0..5 {
            let ticks = now - random.below(100_000_000).min(now - (1 << 40));
            answers.push((ticks, scale.ns(ticks)));
        }
        for &(ticks, ns) in &answers {
            assert_eq!(scale.ns(ticks), ns, "{ticks}");
        }
    }
    assert!(answers.len() == 2000);
}

#[test]
fn it_never_goes_back_whatever_the_anchors_are() {
    for seed in 0..200 {
        let fake = Fake::new();
        let clock = fake.clock();
        let mut random = Random(seed);
        let mut seen = Vec::new();
        for _ in 0..200 {
            let most = 1 << random.below(30);
            fake.run(Duration::from_micros(random.below(most)));
            match random.below(20) {
                0 => fake.sleep(Duration::from_micros(random.below(1 << 30))),
                1 => fake.set_ticks(fake.ticks().saturating_sub(random.below(1 << 28))),
                2 => fake.set_ticks(random.below(1 << 40)),
                3 => fake.set_ticks(u64::MAX / 2 + random.below(1 << 60)),
                4 => fake.drift(random.below(900_000) as i64 - 450_000),
                _ => {}
            }
            seen.push(fake.ticks());
            match random.below(3) {
                0 => drop(clock.take_anchor()),
                1 => drop(clock.scale()),
                _ => {}
            }
        }
        let scale = clock.scale();
        seen.extend(
            scale.pieces.iter().flat_map(|piece| [piece.from, piece.from.saturating_sub(1)]),
        );
        seen.extend([0, u64::MAX]);
        seen.sort_unstable();
        let mut near = random.below(9) as usize;
        let times: Vec<_> = seen.iter().map(|&ticks| scale.ns_near(ticks, &mut near)).collect();
        assert!(times.is_sorted(), "seed {seed}");
        let one_by_one: Vec<_> = seen.iter().map(|&ticks| scale.ns(ticks)).collect();
        assert_eq!(times, one_by_one);
    }
}

#[test]
fn thinning_keeps_the_error_bounded() {
    let mut random = Random(5);
    let mut pieces = Pieces::new(0, Rate::ONE);
    let (mut ticks, mut ns) = (0, 0);
    let mut anchors = vec![(0, 0)];
    for n in 0..100_000_u64 {
        // 100 ms at 3 GHz, read to 30 ns, of a rate that changes for good each 1000.
        ticks += 300_000_000;
        ns += 100_000_000 + (n / 1000 % 7) * 100;
        let read = ns + random.below(60) - 30;
        pieces.reach(ticks, read, Rate::ONE);
        anchors.push((ticks, read));
        assert!(pieces.all().len() <= MAX);
    }
    let all = pieces.all();
    let worst = anchors.iter().map(|&(ticks, ns)| {
        let piece = all.partition_point(|piece| piece.from <= ticks) - 1;
        all[piece].ns(ticks).abs_diff(ns)
    });
    let worst = worst.max().expect("some");
    assert!((1..=512).contains(&worst), "{worst}");
    // Recent times are as they were read.
    assert!(all.len() > RECENT, "{}", all.len());
    for &(ticks, ns) in &anchors[anchors.len() - RECENT..] {
        let piece = all.partition_point(|piece| piece.from <= ticks) - 1;
        assert_eq!(all[piece].ns(ticks), ns);
    }
}

#[test]
fn a_clock_that_is_none_takes_no_more_memory() {
    let mut pieces = Pieces::new(0, Rate::ONE);
    for n in 1..10_000_u64 {
        pieces.jump(Rate::ONE, n * 1000, Some(n * 2000));
        assert!(pieces.all().len() <= MAX + 1);
    }
}

#[test]
fn a_rate_is_good_for_years() {
    // 3 GHz is no round number of ns.
    let second = Span { ticks: 2_999_999_993, ns: 1_000_000_000 };
    let rate = Rate::from_span(second).expect("a rate");
    for (days, most) in [(1_u64, 1), (365, 400), (365 * 50, 20_000)] {
        let ns = rate.length_ns(second.ticks * 86_400 * days);
        let off = ns.abs_diff(86_400_000_000_000 * days);
        assert!(off <= most, "{days} days: {off}");
    }
    assert_eq!(rate.length_ns(u64::MAX).abs_diff(6_148_914_705_523_104_800) >> 50, 0);
    // Neither way does it overflow.
    assert_eq!(
        Rate::from_span(Span { ticks: 1, ns: u64::MAX }).unwrap().length_ns(u64::MAX),
        u64::MAX
    );
    assert_eq!(rate.ticks(Duration::MAX), u64::MAX);
    assert_eq!(Rate::ONE.ticks(Duration::MAX), u64::MAX);
    assert!(rate.ticks(S).abs_diff(second.ticks) <= 1);
    assert_eq!(Rate::from_span(Span::default()), None);
}

#[test]
fn a_source_that_is_lost_is_said() {
    let fake = Fake::new();
    let clock = fake.clock();
    clock.check_source();
    assert!(!clock.account().lost_source);
    fake.is_lost.store(true, Ordering::Relaxed);
    clock.check_source();
    assert!(clock.account().lost_source);
    // The source may come back. The time in between isn't trusted.
    fake.is_lost.store(false, Ordering::Relaxed);
    clock.check_source();
    assert!(clock.account().lost_source);
}
