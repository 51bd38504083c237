//! The facts about a whole run.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error as _};

use super::summary::{self, SumsEntry};
use super::value::Number;
use crate::config::TraceTarget;
use crate::statemap::intern::intern;
use crate::statemap::run::{FORMAT, sampling_name, trace_target_name};
use crate::trace::event::SpawnLocation;
use crate::trace::profile::Profile;
use crate::trace::requests::Requests;
use crate::trace::summary::Summary;
use crate::trace::timeline::{
    ClockChanges, CpuLimit, ExhaustedPool, MachineTime, NoStack, NoStacks, Sampling, SamplingState,
};

/// The facts that all files of a run share.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Facts {
    format: u64,
    pub(crate) program: String,
    pub(crate) runtime: Option<String>,
    pub(crate) begin_ns: Number,
    pub(crate) end_ns: Number,
    pub(crate) long_poll_ns: Number,
    pub(crate) events: Number,
    pub(crate) refused_events: Number,
    pub(crate) dropped_events: Number,
    pub(crate) reentrant_events: Number,
    #[serde(deserialize_with = "trace_target")]
    pub(crate) trace_target: TraceTarget,
    pub(crate) task_hooks: bool,
    pub(crate) schedule_latency: bool,
    // Earlier versions didn't write the following members.
    #[serde(default)]
    pub(in crate::statemap) version: Option<String>,
    #[serde(default)]
    run_delay_ns: Number,
    #[serde(default)]
    stolen_ns: Number,
    #[serde(default)]
    cpu_limit: Option<(Number, Number, Number)>,
    /// `[jumps, jumped, wentBack, lostSource]`
    #[serde(default)]
    clock: Option<(Number, Number, bool, bool)>,
    #[serde(default, deserialize_with = "sampling_state")]
    stacks: SamplingState,
    #[serde(default)]
    dropped_samples: Number,
    #[serde(default, deserialize_with = "no_stacks")]
    no_stacks: NoStacks,
    #[serde(default)]
    pub(in crate::statemap) waits_not_kept: Number,
    /// `[ended, endedOn, cpu, runDelay, runDelayOfWorkers]`
    #[serde(default)]
    pool_work: (Number, Number, Number, Number, Number),
    #[serde(default)]
    exhausted_pool: Option<PoolEntry>,
    #[serde(default)]
    pool_queue: Vec<(Number, Number)>,
    #[serde(default)]
    recent_ns: Option<Number>,
    /// `[recorded, workers, uncountedCalls]`
    #[serde(default)]
    profile: Option<(Number, Number, Number)>,
    /// `[open, cut, lost]`
    #[serde(default)]
    requests: Option<(Number, Number, Number)>,
    #[serde(default)]
    whole_run: Option<SumsEntry>,
}

/// `[threads, mostWaiting, waited, longest, tasks, ran, otherLocations, [file, line, column]]`
type PoolEntry =
    (Number, Number, Number, Number, Number, Number, Number, Option<(String, u32, u32)>);

impl Facts {
    /// Checks the relations between the facts.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.format != FORMAT || self.begin_ns.0 > self.end_ns.0 {
            return Err(format!("`format` must be {FORMAT}, and `beginNs` no more than `endNs`"));
        }
        self.whole_run.as_ref().map_or(Ok(()), summary::check)?;
        if !self.pool_queue.is_sorted_by(|before, next| before.0.0 < next.0.0) {
            return Err("`poolQueue` must go by time".to_owned());
        }
        let (ended, ended_on, _, pool_ns, workers_ns) = &self.pool_work;
        let waits_ns = pool_ns.0.checked_add(workers_ns.0);
        if ended.0 < ended_on.0 || waits_ns.is_none_or(|ns| ns > self.run_delay_ns.0) {
            return Err("`poolWork` must have no more threads than tasks, and waits of no more than `runDelayNs`".to_owned());
        }
        match self.run_delay_ns.0.checked_add(self.stolen_ns.0) {
            Some(_) => Ok(()),
            None => Err("`runDelayNs` and `stolenNs` are over 2^64 in sum".to_owned()),
        }
    }

    /// Returns the time from which the last events are kept.
    pub(in crate::statemap) fn recent_ns(&self) -> u64 {
        self.recent_ns.unwrap_or(self.begin_ns).0
    }

    pub(in crate::statemap) fn machine(&self) -> MachineTime {
        MachineTime {
            run_delay_ns: self.run_delay_ns.0,
            pool_cpu_ns: self.pool_work.2.0,
            pool_delay_ns: self.pool_work.3.0,
            workers_delay_ns: self.pool_work.4.0,
            stolen_ns: self.stolen_ns.0,
            limit: self.cpu_limit.map(|(millis, stops, stopped_ns)| CpuLimit {
                millis: millis.0,
                stops: stops.0,
                stopped_ns: stopped_ns.0,
            }),
            clock: self.clock.map_or_else(ClockChanges::default, |(jumps, jumped, back, lost)| {
                ClockChanges {
                    jumps: jumps.0,
                    jumped_ns: jumped.0,
                    went_back: back,
                    lost_source: lost,
                }
            }),
        }
    }

    /// Returns the number of blocking tasks that ended, and of the threads on which they did.
    pub(in crate::statemap) fn ended_in_pool(&self) -> (u64, u64) {
        (self.pool_work.0.0, self.pool_work.1.0)
    }

    /// Returns the exhaustion of the blocking pool; `None` if there are too many names of files.
    pub(in crate::statemap) fn exhausted_pool(&self) -> Option<Option<ExhaustedPool>> {
        let Some((threads, most_waiting, waited, longest, tasks, ran, others, location)) =
            &self.exhausted_pool
        else {
            return Some(None);
        };
        let location = match location {
            Some((file, line, column)) => {
                Some(SpawnLocation { file: intern(file)?, line: *line, column: *column })
            }
            None => None,
        };
        Some(Some(ExhaustedPool {
            threads: threads.0,
            most_waiting: most_waiting.0,
            waited_ns: waited.0,
            longest_ns: longest.0,
            location,
            tasks: tasks.0,
            ran_ns: ran.0,
            other_locations: others.0,
        }))
    }

    /// Returns the number of tasks that waited for the blocking pool over time.
    pub(in crate::statemap) fn pool_queue(&self) -> Vec<(u64, u64)> {
        self.pool_queue.iter().map(|&(ns, waiting)| (ns.0, waiting.0)).collect()
    }

    /// Returns the sums of the whole run, without their lists.
    pub(in crate::statemap) fn whole_run(&self) -> Option<Summary> {
        self.whole_run.as_ref().map(summary::summary)
    }

    /// Returns the profile, without the functions.
    pub(in crate::statemap) fn profile(&self) -> Profile {
        self.profile.map_or_else(Profile::default, |(recorded, workers, uncounted)| Profile {
            functions: Vec::new(),
            recorded_ns: recorded.0,
            workers: workers.0,
            uncounted_calls: uncounted.0,
        })
    }

    /// Returns the table of requests, without the rows.
    pub(in crate::statemap) fn requests(&self) -> Requests {
        self.requests.map_or_else(Requests::default, |(open, cut, lost)| Requests {
            rows: Vec::new(),
            open: open.0,
            cut: cut.0,
            lost: lost.0,
        })
    }

    pub(in crate::statemap) fn sampling(&self) -> Sampling {
        Sampling { state: self.stacks, dropped: self.dropped_samples.0, no_stacks: self.no_stacks }
    }
}

fn trace_target<'de, D: Deserializer<'de>>(from: D) -> Result<TraceTarget, D::Error> {
    let name = String::deserialize(from)?;
    let all = [TraceTarget::Tasks, TraceTarget::Workers, TraceTarget::Both, TraceTarget::None];
    let target = all.into_iter().find(|&target| trace_target_name(target) == name);
    target.ok_or_else(|| D::Error::custom(format!("there is no target `{name}`")))
}

fn sampling_state<'de, D: Deserializer<'de>>(from: D) -> Result<SamplingState, D::Error> {
    use SamplingState::{NotBuilt, NotSupported, Off, On};
    let name = String::deserialize(from)?;
    let state = [On, Off, NotBuilt, NotSupported].into_iter().find(|&s| sampling_name(s) == name);
    state.ok_or_else(|| D::Error::custom(format!("there is no `stacks` of `{name}`")))
}

fn no_stacks<'de, D: Deserializer<'de>>(from: D) -> Result<NoStacks, D::Error> {
    let mut all = NoStacks::default();
    for (name, Number(times)) in BTreeMap::<String, Number>::deserialize(from)? {
        let why = NoStack::ALL.iter().find(|why| why.name() == name);
        let why =
            why.ok_or_else(|| D::Error::custom(format!("there is no `noStacks` of `{name}`")))?;
        all.add(*why, times);
    }
    Ok(all)
}
