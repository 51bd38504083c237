//! The clocks of this machine.

use std::time::Instant;

use super::super::source::tsc_is_trusted;
use super::*;

/// Returns a clock of each source that can be trusted here.
fn clocks() -> Vec<Clock> {
    let tsc = tsc_is_trusted().then(|| Clock::with_source(Source::Tsc));
    [Clock::with_source(Source::Instant)].into_iter().chain(tsc).collect()
}

/// The rate is taken over some ms at least, between anchors that are good to a microsecond each.
const MARGIN: Duration = Duration::from_micros(30);

#[test]
fn both_sources_agree_with_instant() {
    // However long the system interrupts it, the ticks are read between the two instants.
    fn read(clock: &Clock) -> (Instant, u64, Instant) {
        (Instant::now(), clock.ticks(), Instant::now())
    }
    for clock in clocks() {
        let (before_from, from, after_from) = read(&clock);
        std::thread::sleep(30 * MS);
        clock.take_anchor();
        let (before_to, to, after_to) = read(&clock);
        let scale = clock.scale();
        let took = Duration::from_nanos(scale.ns(to) - scale.ns(from));
        let (shortest, longest) = (before_to - after_from, after_to - before_from);
        assert!(
            took + MARGIN >= shortest && took <= longest + MARGIN,
            "{clock:?}: {took:?}, not from {shortest:?} to {longest:?}"
        );
        let length = Duration::from_nanos(clock.length_ns(from, to));
        assert!(length.abs_diff(took) < MARGIN, "{length:?}, not {took:?}");
    }
}

#[test]
fn both_sources_agree_with_fastant() {
    type Fast = fastant::Instant;
    fn read(clock: &Clock) -> (Fast, u64, Fast) {
        (Fast::now(), clock.ticks(), Fast::now())
    }
    for clock in clocks() {
        let moments: Vec<_> = (0..20)
            .map(|_| {
                std::thread::sleep(2 * MS);
                clock.take_anchor();
                read(&clock)
            })
            .collect();
        let scale = clock.scale();
        for (n, from) in moments.iter().enumerate() {
            for to in &moments[n + 1..] {
                let took = Duration::from_nanos(scale.ns(to.1) - scale.ns(from.1));
                let (shortest, longest) = (to.0 - from.2, to.2 - from.0);
                assert!(
                    took + MARGIN >= shortest && took <= longest + MARGIN,
                    "{clock:?}: {took:?}, not from {shortest:?} to {longest:?}"
                );
            }
        }
    }
}

#[test]
fn a_short_stretch_has_a_sane_rate() {
    let clock = Clock::new();
    let before = Instant::now();
    let from = clock.ticks();
    let began = Instant::now();
    while began.elapsed() < Duration::from_micros(200) {}
    let (shortest, to, longest) = (began.elapsed(), clock.ticks(), before.elapsed());
    let scale = clock.scale();
    let ns = scale.ns(to) - scale.ns(from);
    // However long the system interrupts it, the ticks are read between the two instants of each end.
    let (least, most) = (shortest.as_nanos() as u64 * 9 / 10, longest.as_nanos() as u64 * 2);
    assert!((least..most).contains(&ns), "{ns}, not from {shortest:?} to {longest:?}");
    assert!(clock.length_ns(from, to).abs_diff(ns) < ns / 10);
}

#[test]
fn the_scale_never_goes_back() {
    let clock = Clock::new();
    let mut last = 0;
    for n in 0..1000 {
        if n % 10 == 0 && clock.is_due() {
            clock.take_anchor();
        }
        let ns = clock.scale().ns(clock.ticks());
        assert!(ns >= last);
        last = ns;
    }
    assert_eq!(clock.scale().ns(0), 0);
}
