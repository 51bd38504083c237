//! Writes the black boxes of recorders, a round every 100 ms.

use std::sync::Arc;
use std::time::Duration;

use crate::choices::BlackBox;
use crate::recorder::black_box::format::{ChainInBox, Change, Cpu, Origin, Place, Round};
use crate::recorder::black_box::journal::Journal;
use crate::recorder::black_box::sent::{added, change, place};
use crate::recorder::black_box::{Left, Sent, modules};
use crate::recorder::chains::table::Places;
use crate::recorder::hot::Shared;
use crate::recorder::locks::{lock, lock_unless, try_lock};
use crate::recorder::process;
use crate::recorder::store::tap::Tapped;
use crate::recorder::waits::names;
use crate::sys::signal::without_fatal_signals;
use crate::util::clean::clean;
use crate::util::message::warn;

/// The time between two rounds: what a SIGKILL loses.
const PERIOD: Duration = Duration::from_millis(100);

/// If nothing was recorded, a round only says that nothing was.
const QUIET_PERIOD: Duration = Duration::from_secs(1);

/// The number of new samples of long polls after which the samples may be written anew, once there is no room for more.
const SOME: u64 = 16;

/// The number of new samples of what polls compute after which all of them are written anew.
const MANY: u64 = 400;

/// Makes the box of a recorder, if it is to have one and has none.
pub(crate) fn open(recorder: &Shared) {
    let config = &recorder.kept.config;
    if config.black_box == BlackBox::Off {
        return;
    }
    let Some(mut journal) = lock_unless(&recorder.black_box.journal, process::is_forked) else {
        return;
    };
    if journal.as_ref().is_some_and(Journal::is_of_this_process) {
        return;
    }
    // The parent's is left alone.
    std::mem::forget(journal.take());
    match Journal::create(config) {
        Ok((created, left)) => {
            recorder.kept.take_tapped(Some(Box::default()));
            *journal = Some(created);
            drop(journal);
            for left in left {
                name(recorder, &left);
            }
        }
        Err(error) => warn(format_args!("there is no black box: {error}")),
    }
}

/// Says that an earlier process of this program has left a box, and tells who wants to know.
fn name(recorder: &Shared, left: &Left) {
    let Left { program, pid, path } = left;
    let path = path.display().to_string();
    let path = clean(&path);
    warn(format_args!(
        "{program} (process {pid}) did not end in order: `tokio-statemap recover {path}` shows what it did"
    ));
    recorder.black_box.tell_of(left);
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
    let mut locked = if is_last {
        recorder.black_box.lock_soon()?
    } else {
        try_lock(&recorder.black_box.journal)?
    };
    let journal = locked.as_mut()?;
    let kept = &recorder.kept;
    if journal.is_over() || !journal.is_of_this_process() {
        kept.take_tapped(None);
        return None;
    }
    let mut now = kept.clock.ticks();
    let rate = kept.clock.rate();
    let since = Duration::from_nanos(rate.length_ns(now.saturating_sub(journal.written_at)));
    if since < PERIOD && !is_last && kept.tapped() < journal.most_waiting() {
        return Some(PERIOD - since);
    }
    kept.flush();
    let waiting = kept.tapped();
    let has_nothing = waiting == 0 && !journal.has_later();
    if has_nothing && !is_last && (since < QUIET_PERIOD || kept.is_full()) {
        return Some(PERIOD);
    }
    // Allocated here, and not by a hook that fills it.
    let next = Box::new(Tapped::with_capacity(waiting));
    let tapped = kept.take_tapped(Some(next)).unwrap_or_default();
    if tapped.missed > 0 {
        // Nothing is known of the time up to here.
        now = kept.clock.ticks();
    }
    let round = round(recorder, now, &mut journal.sent);
    let limits = kept.limits(journal.most_staged());
    let limits = (rate.ticks(kept.config.long_poll), limits);
    without_fatal_signals(|| journal.write(round, *tapped, limits, || origin(recorder)));
    if journal.is_over() {
        kept.take_tapped(None);
        return None;
    }
    Some(PERIOD)
}

/// Removes the box, as the outputs were written; or keeps it, if they couldn't be.
pub(crate) fn close(recorder: &Shared, are_written: bool) {
    // If a file system doesn't answer, the box stays.
    let Some(mut locked) = recorder.black_box.lock_soon() else { return };
    if let Some(mut journal) = locked.take() {
        recorder.kept.take_tapped(None);
        journal.keep(!are_written);
    }
}

fn origin(recorder: &Shared) -> Origin {
    let kept = &recorder.kept;
    let program = std::env::current_exe().ok();
    Origin {
        pid: std::process::id(),
        program: program.map(|path| path.to_string_lossy().into_owned()),
        runtime: recorder.runtime.name(),
        version: recorder.runtime.version.get().cloned(),
        config: kept.config.clone(),
        zero: kept.first_window().unwrap_or_default(),
        utc_at_zero: kept.utc_at_zero(),
    }
}

/// Returns a round with all but the records.
fn round(recorder: &Shared, now: u64, sent: &mut Sent) -> Round {
    let kept = &recorder.kept;
    kept.take_anchor();
    kept.clock.check_source();
    recorder.machine.note_steal(&kept.clock);
    let lost = kept.lost(0, u64::MAX);
    let (windows, is_full) = (kept.all_windows(), kept.is_full());
    let roots: Vec<Option<Place>> =
        recorder.runtime.roots.locations().iter().map(|location| location.map(place)).collect();
    let locations = recorder.locations.to_vec();
    let new_locations = locations.get(sent.locations..).unwrap_or_default();
    let locations = added(&mut sent.locations, new_locations.iter().map(|at| place(at)).collect());
    let (samples, beside, dropped_samples, no_stacks) = {
        let samples = lock(&recorder.watch.samples);
        let count = samples.all.len() as u64 + samples.dropped;
        // Once there is no room for more, others may be replaced by each new one.
        let is_due = sent.samples.len() < samples.all.len() || count >= sent.sampled + SOME;
        let change = match is_due && count != sent.sampled {
            true => {
                sent.sampled = count;
                change(&mut sent.samples, &samples.all)
            }
            false => Change { keep: sent.samples.len(), then: Vec::new() },
        };
        let beside = self::change(&mut sent.beside, &samples.beside);
        (change, beside, samples.dropped, samples.no_stacks)
    };
    let cpu = {
        let cpu = lock(&recorder.watch.cpu);
        let of_stacks: u64 = cpu.stacks.iter().map(|(_, sampled)| sampled.samples).sum();
        let all = of_stacks + cpu.others.samples;
        // All of them are written each time.
        let is_due = sent.cpu_samples == 0 && all > 0 || all >= sent.cpu_samples + MANY;
        is_due.then(|| {
            sent.cpu_samples = all;
            let stacks = cpu.stacks.iter();
            let stacks = stacks.map(|(stack, sampled)| (stack.to_vec(), *sampled)).collect();
            Cpu { stacks, others: cpu.others }
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
        refused: lost.refused_events.saturating_sub(kept.lost_so_far.refused_at_drain()),
        reentrant: lost.reentrant_events,
        windows: change(&mut sent.windows, &windows).then,
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
        beside,
        dropped_samples,
        no_stacks,
        cpu,
        modules: modules(&mut sent.modules),
        ..Round::default()
    }
}
