//! A part of a run's description, as it is in the data. The table in [`crate::statemap::run`] explains the lists.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value;

use super::field::shorten;
use super::value::{Number, Parent, Woke};
use crate::statemap::run::origin_name;
use crate::trace::timeline::FrameOrigin;

/// A part of the description, with lists.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Part {
    pub(super) gaps: Vec<(Number, Number)>,
    pub(super) handovers: Vec<(u32, Number, u32)>,
    pub(super) blocking_threads: Vec<(u32, Number, Option<Number>)>,
    pub(super) parks: Vec<Number>,
    pub(super) ran_on: Vec<(u32, Option<u16>)>,
    pub(super) data: u64,
    pub(super) apart: Vec<(u64, u8)>,
    pub(super) polls: Vec<u32>,
    pub(super) woken_by: Vec<(Option<Woke>, u64)>,
    pub(super) cut: Vec<(u64, u8)>,
    pub(super) parents: Vec<(Option<Parent>, u64)>,
    pub(super) causes: Vec<CauseEntry>,
    pub(super) functions: Vec<FunctionEntry>,
    pub(super) samples: Vec<SampleEntry>,
    pub(super) beside: Vec<SampleEntry>,
    pub(super) cpu: Vec<CpuEntry>,
    pub(super) profile: Vec<ProfileEntry>,
    pub(super) requests: Vec<RequestEntry>,
    pub(super) request_spans: Vec<RequestSpanEntry>,
    pub(super) waits: Vec<WaitEntry>,
    pub(super) chains: Vec<ChainEntry>,
    pub(super) unnamed: Vec<UnnamedEntry>,
    pub(super) names: Vec<NameEntry>,
    pub(super) carried: Vec<CarriedEntry>,
    pub(super) local_tasks: Vec<LocalEntry>,
    pub(super) calls: Vec<CallsEntry>,
    pub(super) run_locations: Vec<LocationEntry>,
    pub(super) run_longest: Vec<PollEntry>,
    pub(super) run_stretches: Vec<StretchEntry>,
    pub(super) run_workers: Vec<WorkerEntry>,
    pub(super) run_stopped: Vec<StoppedEntry>,
}

/// `[thread, start, onCpu, blocked, runDelay, stolen, majorFaults, unknown]`. Earlier versions wrote no `unknown`.
pub(super) type CauseEntry = Vec<Number>;

/// `[function, file, line, origin]`
pub(super) type FunctionEntry = (String, Option<String>, Option<u32>, Origin);

/// `[thread, pollStart, at, blockedIn, isComplete, functions]`
pub(super) type SampleEntry = (u32, Number, Number, Option<String>, bool, Vec<u32>);

/// `[samples, cpu, functions]`
pub(super) type CpuEntry = (Number, Number, Option<Vec<u32>>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Origin(pub(super) FrameOrigin);

/// `[name, file, line, column, calls, completed, cancelled, polls, total, own, ended]`
pub(super) type ProfileEntry = (
    String,
    String,
    u32,
    u32,
    Number,
    Number,
    Number,
    Number,
    Number,
    Number,
    Option<[[Number; 5]; 3]>,
);

/// `[name, target, fields, count, times, total, running, own, parts, slowest]`
pub(super) type RequestEntry = (
    String,
    String,
    String,
    Number,
    [Number; 5],
    Number,
    Number,
    Number,
    SpanPartsEntry,
    SpanPartsEntry,
);

/// `[spans, length, running, ready, waiting, elsewhere, unknown, [[state, place, length], …]]`
pub(super) type SpanPartsEntry =
    (Number, Number, Number, Number, Number, Number, Number, Vec<(String, String, Number)>);

/// `[request, task, opened, parts]`
pub(super) type RequestSpanEntry = (usize, Option<Parent>, Number, SpanPartsEntry);

/// `[wait, [[function, parent, name, call], …]]`
pub(super) type WaitEntry = (u16, Vec<(u32, Option<u32>, Option<String>, Option<u16>)>);

/// `[task, name]`
pub(super) type NameEntry = (Parent, String);

/// `[task, since]`
pub(super) type CarriedEntry = (Parent, Number);

/// `[id, polledIn, [file, line, column], name, since, wait, wokenBy]`
pub(super) type LocalEntry =
    (Number, Parent, Option<PlaceEntry>, Option<String>, Number, Option<u16>, Option<Woke>);

/// `[task, [[entered, fields], …]]`
pub(super) type CallsEntry = (Parent, Vec<(Number, Option<String>)>);

/// `[[[address, function, …], …], [[name, file, line], …]]`
pub(super) type ChainEntry = (Vec<Vec<u32>>, Vec<(String, String, u32)>);

/// `[wait, [chain, …]]`
pub(super) type UnnamedEntry = (u16, Vec<u32>);

/// `[file, line, column]`
pub(super) type PlaceEntry = (String, u32, u32);

/// `[place, isRoot, tasks, workerPolls, held, offWorker, longPolls, longPollsHeld, readySum, polls, ready]`
pub(super) type LocationEntry = (
    Option<PlaceEntry>,
    bool,
    Number,
    Number,
    Number,
    Number,
    Number,
    Number,
    Number,
    Vec<Number>,
    Vec<Number>,
);

/// `[task, location, start, length, worker, isCut]`
pub(super) type PollEntry = (Parent, usize, Number, Number, Option<u32>, u8);

/// `[held, polls, longest, longestAt, spawned, terminated]`
pub(super) type StretchEntry = (Number, Number, Number, Option<usize>, Number, Number);

/// `[index, running, parked, parks, polls]`
pub(super) type WorkerEntry = (u32, Number, Number, Number, Number);

/// `[from, to]`, or `[from, to, recorded, periods]`
pub(super) type StoppedEntry = Vec<Number>;

impl Part {
    pub(super) fn parse(members: Value) -> Result<Self, String> {
        Self::deserialize(&members).map_err(|error| {
            // serde's error doesn't name the list.
            let lists = members.as_object().into_iter().flatten();
            let is_wrong = |(name, list): &(&String, &Value)| {
                let alone =
                    Value::Object([((*name).clone(), (*list).clone())].into_iter().collect());
                Self::deserialize(&alone).is_err()
            };
            let wrong = lists.into_iter().find(is_wrong).map(|(name, _)| name);
            let wrong = wrong.map_or_else(String::new, |name| format!("`{}`: ", shorten(name)));
            format!("{wrong}{}", shorten(&error.to_string()))
        })
    }

    /// Returns `true` if it has facts about polls and waits.
    pub(super) fn is_of_polls(&self) -> bool {
        let is_of_none = self.causes.is_empty() && self.functions.is_empty();
        let is_of_no_wait = self.waits.is_empty()
            && self.chains.is_empty()
            && self.unnamed.is_empty()
            && self.names.is_empty()
            && self.carried.is_empty()
            && self.local_tasks.is_empty()
            && self.calls.is_empty();
        let is_of_no_sample =
            self.samples.is_empty() && self.beside.is_empty() && self.cpu.is_empty();
        let is_of_no_call =
            self.profile.is_empty() && self.requests.is_empty() && self.request_spans.is_empty();
        !(is_of_none && is_of_no_wait && is_of_no_sample && is_of_no_call)
    }

    /// Returns `true` if it has sums of the whole run.
    pub(super) fn has_sums(&self) -> bool {
        self.has_task_sums() || !self.run_workers.is_empty() || !self.run_stopped.is_empty()
    }

    /// Returns `true` if it has sums of tasks.
    pub(super) fn has_task_sums(&self) -> bool {
        !(self.run_locations.is_empty()
            && self.run_longest.is_empty()
            && self.run_stretches.is_empty())
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use FrameOrigin::{Dependency, Program, Runtime, Std, System};
        let name = String::deserialize(from)?;
        let all = [Program, Dependency, Std, Runtime, System];
        let origin = all.into_iter().find(|&origin| origin_name(origin) == name);
        let no = || D::Error::custom(format!("there is no origin `{}`", shorten(&name)));
        origin.map(Self).ok_or_else(no)
    }
}
