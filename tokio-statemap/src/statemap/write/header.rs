//! Writes the facts about the whole run.

use std::io;

use super::profile;
use super::run::Number;
use super::stream::Text;
use super::summary;
use crate::statemap::Labels;
use crate::statemap::run::{FORMAT, TAG, sampling_name, trace_target_name};
use crate::trace::timeline::{CpuLimit, ExhaustedPool, SamplingState, Timeline};
use crate::util::json::{Object, Raw, array, list};

/// Writes the definition with the facts about the whole run.
///
/// `state` is the value of the last state, which has no tags in the data, as renderers list a definition with the tags
/// of its state.
pub(super) fn header(
    timeline: &Timeline,
    labels: &Labels,
    state: u8,
    text: &mut Text<'_>,
) -> io::Result<()> {
    let long_poll_ns = u64::try_from(timeline.settings.long_poll.as_nanos()).unwrap_or(u64::MAX);
    let lost = timeline.lost;
    let mut head = Object::default();
    head.add("tag", &TAG);
    head.add("state", &u32::from(state));
    head.add("format", &FORMAT);
    head.add("program", &labels.title);
    if let Some(runtime) = &timeline.runtime {
        head.add("runtime", runtime);
    }
    if let Some(version) = &timeline.version {
        head.add("version", version);
    }
    head.add("beginNs", &Number(timeline.begin_ns));
    head.add("endNs", &Number(timeline.end_ns));
    head.add("longPollNs", &Number(long_poll_ns));
    head.add("events", &Number(timeline.events));
    head.add("refusedEvents", &Number(lost.refused_events));
    head.add("droppedEvents", &Number(lost.dropped_events));
    head.add("reentrantEvents", &Number(lost.reentrant_events));
    head.add("traceTarget", &trace_target_name(timeline.settings.trace_target));
    head.add("taskHooks", &timeline.settings.task_hooks);
    head.add("scheduleLatency", &timeline.settings.schedule_latency);
    machine_and_samples(timeline, &mut head);
    let (machine, pool) = (&timeline.machine, &timeline.pool);
    let [cpu_ns, pool_ns, workers_ns] =
        [machine.pool_cpu_ns, machine.pool_delay_ns, machine.workers_delay_ns];
    let work = [pool.ended, pool.ended_on, cpu_ns, pool_ns, workers_ns];
    if work != [0; 5] {
        head.add("poolWork", &work.map(Number));
    }
    if let Some(pool) = &timeline.pool.exhausted {
        head.add("exhaustedPool", &exhausted_pool(pool));
    }
    if !timeline.pool.queue.is_empty() {
        let queue = array(&timeline.pool.queue, |&(ns, n)| [Number(ns), Number(n)]);
        head.add("poolQueue", &queue);
    }
    if timeline.recent_ns > timeline.begin_ns {
        head.add("recentNs", &Number(timeline.recent_ns));
    }
    if timeline.places.not_kept > 0 {
        head.add("waitsNotKept", &Number(timeline.places.not_kept));
    }
    if let Some(numbers) = profile::facts(&timeline.profile) {
        head.add("profile", &numbers);
    }
    #[cfg(has_requests)]
    if let Some(numbers) = super::requests::facts(&timeline.requests) {
        head.add("requests", &numbers);
    }
    if let Some(numbers) = summary::facts(timeline) {
        head.add("wholeRun", &numbers);
    }
    text.write(head.end().into_string().as_bytes())?;
    text.write(b"\n")
}

fn exhausted_pool(pool: &ExhaustedPool) -> Raw {
    list(&[
        &Number(pool.threads),
        &Number(pool.most_waiting),
        &Number(pool.waited_ns),
        &Number(pool.longest_ns),
        &Number(pool.tasks),
        &Number(pool.ran_ns),
        &Number(pool.other_locations),
        &pool.location,
    ])
}

/// Adds what the machine took and how sampling went, where there is something to tell.
fn machine_and_samples(timeline: &Timeline, head: &mut Object) {
    let (machine, sampling) = (timeline.machine, timeline.long_polls.sampling);
    if let Some(CpuLimit { millis, stops, stopped_ns }) = machine.limit {
        head.add("cpuLimit", &[Number(millis), Number(stops), Number(stopped_ns)]);
    }
    let clock = machine.clock;
    if clock.are_any() {
        let (jumps, jumped_ns) = (Number(clock.jumps), Number(clock.jumped_ns));
        head.add("clock", &(jumps, jumped_ns, clock.went_back, clock.lost_source));
    }
    if sampling.state != SamplingState::default() {
        head.add("stacks", &sampling_name(sampling.state));
    }
    for (name, n) in [
        ("runDelayNs", machine.run_delay_ns),
        ("stolenNs", machine.stolen_ns),
        ("droppedSamples", sampling.dropped),
    ] {
        if n > 0 {
            head.add(name, &Number(n));
        }
    }
    let mut no_stacks = Object::default();
    for (why, n) in sampling.no_stacks.all() {
        no_stacks.add(why.name(), &Number(n));
    }
    if !no_stacks.is_empty() {
        head.add("noStacks", &no_stacks.end());
    }
}
