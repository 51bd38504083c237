//! Writes the facts about the whole run.

use std::io::{self, Write as _};

use super::profile;
use super::run::{number, place};
use super::stream::Text;
use super::summary;
use crate::statemap::Labels;
use crate::statemap::run::{FORMAT, TAG, sampling_name, trace_target_name};
use crate::trace::timeline::{CpuLimit, ExhaustedPool, SamplingState, Timeline};
use crate::util::json;

/// Writes the definition with the facts about the whole run.
///
/// `state` is the value of the last state, which has no tags in data: renderers list a definition with the
/// tags of its state.
pub(super) fn header(
    timeline: &Timeline,
    labels: &Labels,
    state: u8,
    text: &mut Text<'_>,
) -> io::Result<()> {
    let long_poll_ns = u64::try_from(timeline.settings.long_poll.as_nanos()).unwrap_or(u64::MAX);
    let lost = timeline.lost;
    let program = json::string(&labels.title);
    write!(
        text,
        "{{\"tag\":\"{TAG}\",\"state\":{state},\"format\":{FORMAT},\"program\":{program}"
    )?;
    if let Some(runtime) = &timeline.runtime {
        write!(text, ",\"runtime\":{}", json::string(runtime))?;
    }
    if let Some(version) = &timeline.version {
        write!(text, ",\"version\":{}", json::string(version))?;
    }
    for (name, ns) in [
        ("beginNs", timeline.begin_ns),
        ("endNs", timeline.end_ns),
        ("longPollNs", long_poll_ns),
        ("events", timeline.events),
        ("refusedEvents", lost.refused_events),
        ("droppedEvents", lost.dropped_events),
        ("reentrantEvents", lost.reentrant_events),
    ] {
        write!(text, ",\"{name}\":{}", number(ns))?;
    }
    write!(
        text,
        ",\"traceTarget\":\"{}\",\"taskHooks\":{},\"scheduleLatency\":{}",
        trace_target_name(timeline.settings.trace_target),
        timeline.settings.task_hooks,
        timeline.settings.schedule_latency
    )?;
    long_polls(timeline, text)?;
    if let Some(pool) = &timeline.pool.exhausted {
        exhausted_pool(pool, text)?;
    }
    if !timeline.pool.queue.is_empty() {
        let changes =
            timeline.pool.queue.iter().map(|&(ns, n)| format!("[{},{}]", number(ns), number(n)));
        write!(text, ",\"poolQueue\":[{}]", changes.collect::<Vec<_>>().join(","))?;
    }
    if timeline.recent_ns > timeline.begin_ns {
        write!(text, ",\"recentNs\":{}", number(timeline.recent_ns))?;
    }
    if timeline.places.not_kept > 0 {
        write!(text, ",\"waitsNotKept\":{}", number(timeline.places.not_kept))?;
    }
    if let Some(numbers) = profile::facts(&timeline.profile) {
        write!(text, ",\"profile\":[{numbers}]")?;
    }
    if let Some(numbers) = summary::facts(timeline) {
        write!(text, ",\"wholeRun\":[{numbers}]")?;
    }
    text.write_all(b"}\n")
}

fn exhausted_pool(pool: &ExhaustedPool, text: &mut Text<'_>) -> io::Result<()> {
    let numbers = [
        pool.threads,
        pool.most_waiting,
        pool.waited_ns,
        pool.longest_ns,
        pool.tasks,
        pool.ran_ns,
        pool.other_locations,
    ];
    let location = place(pool.location);
    write!(text, ",\"exhaustedPool\":[{},{location}]", numbers.map(number).join(","))
}

/// Writes the facts about long polls, if there are any.
fn long_polls(timeline: &Timeline, text: &mut Text<'_>) -> io::Result<()> {
    let (machine, sampling) = (timeline.machine, timeline.long_polls.sampling);
    if let Some(CpuLimit { millis, stops, stopped_ns }) = machine.limit {
        let [millis, stops, stopped_ns] = [millis, stops, stopped_ns].map(number);
        write!(text, ",\"cpuLimit\":[{millis},{stops},{stopped_ns}]")?;
    }
    let clock = machine.clock;
    if clock.are_any() {
        let [jumps, jumped_ns] = [clock.jumps, clock.jumped_ns].map(number);
        let (back, lost) = (clock.went_back, clock.lost_source);
        write!(text, ",\"clock\":[{jumps},{jumped_ns},{back},{lost}]")?;
    }
    if sampling.state != SamplingState::default() {
        write!(text, ",\"stacks\":\"{}\"", sampling_name(sampling.state))?;
    }
    let numbers = [
        ("runDelayNs", machine.run_delay_ns),
        ("stolenNs", machine.stolen_ns),
        ("droppedSamples", sampling.dropped),
    ];
    for (name, n) in numbers.into_iter().filter(|&(_, n)| n > 0) {
        write!(text, ",\"{name}\":{}", number(n))?;
    }
    let no_stacks =
        sampling.no_stacks.all().map(|(why, n)| format!("\"{}\":{}", why.name(), number(n)));
    match &no_stacks.collect::<Vec<_>>()[..] {
        [] => Ok(()),
        reasons => write!(text, ",\"noStacks\":{{{}}}", reasons.join(",")),
    }
}
