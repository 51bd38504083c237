//! Writes the black boxes of recorders, a round every 100 ms.

use std::sync::Arc;
use std::time::Duration;

use crate::choices::BlackBox;
use crate::recorder::black_box::format::{ChainInBox, Cpu, Head, Place, Round};
use crate::recorder::black_box::journal::Journal;
use crate::recorder::black_box::sent::{added, change, place};
use crate::recorder::black_box::{Sent, modules};
use crate::recorder::chains::table::Places;
use crate::recorder::hot::Shared;
use crate::recorder::waits::names;
use crate::recorder::window::Windows;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The time between two rounds: what a SIGKILL loses.
const PERIOD: Duration = Duration::from_millis(100);

/// If nothing was recorded, a round only says that nothing was.
const QUIET_PERIOD: Duration = Duration::from_secs(1);

/// Makes the box of a recorder, if it is to have one and has none.
pub(crate) fn open(recorder: &Shared) {
    let config = &recorder.kept.config;
    let mut journal = lock(&recorder.black_box);
    if config.black_box == BlackBox::Off || journal.is_some() {
        return;
    }
    match Journal::create(config) {
        Ok(created) => {
            recorder.kept.take_tapped(true);
            *journal = Some(created);
        }
        Err(error) => warn(format_args!("there is no black box: {error}")),
    }
}

/// Writes the boxes that are due. Returns after which time one is due next.
pub(super) fn write_due(recorders: &[Arc<Shared>]) -> Option<Duration> {
    let mut next: Option<Duration> = None;
    for recorder in recorders {
        if let Some(due) = write(recorder, false) {
            next = Some(next.unwrap_or(due).min(due));
        }
    }
    next
}

/// Writes what was recorded since the last round, if a round is due or this `is_last`. Returns after which time the
/// next is due.
pub(crate) fn write(recorder: &Shared, is_last: bool) -> Option<Duration> {
    let mut journal = lock(&recorder.black_box);
    let journal = journal.as_mut()?;
    if journal.is_over() || !journal.is_of_this_process() {
        return None;
    }
    let kept = &recorder.kept;
    let now = kept.clock.ticks();
    let rate = kept.clock.rate();
    let since = Duration::from_nanos(rate.length_ns(now.saturating_sub(journal.written_at)));
    if since < PERIOD && !is_last && kept.tapped() < journal.most_waiting() {
        return Some(PERIOD - since);
    }
    kept.flush();
    if since < QUIET_PERIOD && !is_last && kept.tapped() == 0 {
        return Some(PERIOD);
    }
    let tapped = kept.take_tapped(true).unwrap_or_default();
    let mut round = round(recorder, now, &mut journal.sent);
    journal.write(&mut round, *tapped, rate.ticks(kept.config.long_poll), || head(recorder, now));
    if journal.is_over() {
        kept.take_tapped(false);
        return None;
    }
    Some(PERIOD)
}

/// Removes the box: the program's end is known, and so is what was recorded.
pub(crate) fn close(recorder: &Shared) {
    recorder.kept.take_tapped(false);
    drop(lock(&recorder.black_box).take());
}

fn head(recorder: &Shared, now: u64) -> Head {
    let kept = &recorder.kept;
    let program = std::env::current_exe().ok();
    Head {
        number: 0,
        events_before: 0,
        rounds_before: 0,
        windows: Windows::default(),
        pid: std::process::id(),
        program: program.map(|path| path.to_string_lossy().into_owned()),
        runtime: recorder.runtime.name(),
        version: recorder.version.get().cloned(),
        config: kept.config.clone(),
        zero: kept.first_window().unwrap_or(now),
        utc_at_zero: kept.utc_at_zero(),
        from: now,
    }
}

/// Returns a round with all but the records.
fn round(recorder: &Shared, now: u64, sent: &mut Sent) -> Round {
    let kept = &recorder.kept;
    kept.take_anchor();
    kept.clock.check_source();
    recorder.machine.note_steal(&kept.clock);
    let lost = kept.lost(0, u64::MAX);
    let (windows, is_full) = kept.all_windows();
    let roots: Vec<Option<Place>> =
        recorder.roots.locations().iter().map(|location| location.map(place)).collect();
    let locations = recorder.locations.to_vec();
    let new_locations = locations.get(sent.locations..).unwrap_or_default();
    let locations = added(&mut sent.locations, new_locations.iter().map(|at| place(at)).collect());
    let (samples, dropped_samples, no_stacks) = {
        let samples = lock(&recorder.samples);
        (change(&mut sent.samples, &samples.all), samples.dropped, samples.no_stacks)
    };
    let cpu = {
        let cpu = lock(&recorder.cpu);
        let of_stacks: u64 = cpu.stacks.iter().map(|(_, sampled)| sampled.samples).sum();
        let all = of_stacks + cpu.others.samples;
        (std::mem::replace(&mut sent.cpu_samples, all) != all).then(|| Cpu {
            stacks: cpu.stacks.iter().map(|(stack, sampled)| (stack.to_vec(), *sampled)).collect(),
            others: cpu.others,
        })
    };
    // Taken after the records, so that each place that they name is there.
    let places = Places::after(sent.chains, sent.waits);
    let chains = places.chains.iter().map(|chain| ChainInBox {
        addresses: chain.returns().collect(),
        calls: chain.calls().iter().map(|f| (f.name().into(), f.file().into(), f.line())).collect(),
    });
    let chains = added(&mut sent.chains, chains.collect());
    let waits = added(&mut sent.waits, places.waits.iter().map(|wait| wait.to_vec()).collect());
    let names = names::all();
    let new_names = names.get(sent.names..).unwrap_or_default();
    let names = added(&mut sent.names, new_names.iter().map(|name| (**name).into()).collect());
    // Taken after everything that has a time.
    let scale = kept.clock.scale();
    Round {
        now,
        refused: lost.refused_events,
        reentrant: lost.reentrant_events,
        windows: change(&mut sent.windows, &windows),
        is_full,
        pieces: change(&mut sent.pieces, scale.pieces()),
        rate: Some(scale.run_rate()),
        account: kept.clock.account(),
        steal: change(&mut sent.steal, &recorder.machine.steal_counts()),
        cpu_limit: recorder.machine.cpu_limit(),
        sees_wakers: recorder.wakers.are_seen(),
        misses_ready_times: recorder.wakers.miss_ready_times(),
        locations,
        roots: change(&mut sent.roots, &roots),
        names,
        chains,
        waits,
        not_kept: places.not_kept,
        samples,
        dropped_samples,
        no_stacks,
        cpu,
        modules: modules(&mut sent.modules),
        ..Round::default()
    }
}
