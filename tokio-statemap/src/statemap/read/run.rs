//! What a run's data says beyond its rows.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value;

use super::facts::{Facts, Number};
use super::field::{Object, shorten};
use super::long_polls::{CauseEntry, FunctionEntry, LongPolls, SampleEntry};
use super::profile::{self, ProfileEntry};
use super::summary::{
    LocationEntry, PollEntry, StoppedEntry, StretchEntry, Sums, SumsPart, WorkerEntry,
};
use super::unnamed::{ChainEntry, UnnamedEntry};
use super::waits::{CallsEntry, CarriedEntry, LocalEntry, NameEntry, WaitEntry, WaitParts, Waits};
use super::{Entity, Statemap};
use crate::statemap::format::{Datum, Mark, Native};
use crate::statemap::run::TAG;
use crate::trace::profile::FunctionProfile;
use crate::trace::state::TaskState;
use crate::trace::timeline::{BlockingThread, Handover, TaskKey};

/// What a run's data says beyond its rows, but for what is said of single data and entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) facts: Facts,
    /// By time.
    pub(crate) gaps: Vec<(u64, u64)>,
    /// By thread and time.
    pub(crate) handovers: Vec<Handover>,
    pub(crate) blocking_threads: Vec<BlockingThread>,
    /// How often each worker parked.
    pub(crate) parks: Vec<u64>,
    /// The threads and workers that polls ran on.
    pub(crate) ran_on: Vec<(u32, Option<u16>)>,
    pub(crate) long_polls: LongPolls,
    /// What calls of async functions took.
    pub(crate) profile: Vec<FunctionProfile>,
    pub(crate) waits: Waits,
    /// The lists of the sums of the whole run.
    pub(crate) sums: Sums,
    /// How long was recorded in all, in ns, if this is a part of it.
    pub(crate) whole_ns: Option<u64>,
}

/// A part of what is said in lists.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Part {
    gaps: Vec<(Number, Number)>,
    handovers: Vec<(u32, Number, u32)>,
    blocking_threads: Vec<(u32, Number, Option<Number>)>,
    parks: Vec<Number>,
    ran_on: Vec<(u32, Option<u16>)>,
    data: u64,
    apart: Vec<(u64, u8)>,
    polls: Vec<u32>,
    cut: Vec<(u64, u8)>,
    parents: Vec<(Option<Parent>, u64)>,
    causes: Vec<CauseEntry>,
    functions: Vec<FunctionEntry>,
    samples: Vec<SampleEntry>,
    profile: Vec<ProfileEntry>,
    waits: Vec<WaitEntry>,
    chains: Vec<ChainEntry>,
    unnamed: Vec<UnnamedEntry>,
    names: Vec<NameEntry>,
    carried: Vec<CarriedEntry>,
    local_tasks: Vec<LocalEntry>,
    calls: Vec<CallsEntry>,
    run_locations: Vec<LocationEntry>,
    run_longest: Vec<PollEntry>,
    run_stretches: Vec<StretchEntry>,
    run_workers: Vec<WorkerEntry>,
    run_stopped: Vec<StoppedEntry>,
}

/// A task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent(pub(super) TaskKey);

/// Reads all of it.
#[derive(Debug)]
pub(super) struct RunReader {
    native: Native,
    run: Option<Run>,
    parts: u64,
    /// The next datum that a part tells of: its entity, and which of that one's data it is.
    next: (usize, usize),
    /// How many data and entities parts have told of.
    data: u64,
    entities: usize,
}

/// Whether a tag is one of those that say what there is beyond the rows.
pub(in crate::statemap) fn is_of_run(tag: &str) -> bool {
    // A source file may have a name that begins so.
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    tag.strip_prefix(TAG)
        .is_some_and(|rest| rest.is_empty() || rest.strip_prefix(' ').is_some_and(is_number))
}

impl RunReader {
    pub(super) fn new(native: Native) -> Self {
        Self { native, run: None, parts: 0, next: (0, 0), data: 0, entities: 0 }
    }

    /// Reads a definition; what it says of data and entities goes there.
    pub(super) fn definition(
        &mut self,
        tag: &str,
        members: Object,
        statemap: &mut Statemap,
    ) -> Result<(), String> {
        let members = Value::Object(members);
        if let Some(run) = &mut self.run {
            self.parts += 1;
            let due = format!("{TAG} {}", self.parts);
            if tag != due {
                return Err(format!("tag `{}` must be `{due}`", shorten(tag)));
            }
            let mut part = Part::of(members)?;
            run.add(&part)?;
            if self.native != Native::Workers {
                let edges = (run.facts.begin_ns.0, run.facts.end_ns.0);
                run.long_polls.add(edges, &part.causes, &mut part.functions, &mut part.samples)?;
                profile::add(&mut run.profile, &mut part.profile)?;
                let functions = run.long_polls.functions();
                run.waits.add(part.take_waits(), functions, edges.1)?;
                run.waits.add_unnamed(&mut part.chains, &mut part.unnamed, functions)?;
            } else if part.is_of_polls() {
                return Err(
                    "`causes`, `samples`, `profile` and `waits` are of tasks; workers have none"
                        .to_owned(),
                );
            }
            let sums = part.take_sums();
            if !sums.is_empty() && run.facts.whole_run().is_none() {
                return Err(
                    "`runLocations` and the like are of the `wholeRun`; the first definition must have it"
                        .to_owned(),
                );
            }
            let is_of_other = match self.native {
                Native::Workers => !sums.is_of_no_task(),
                Native::Tasks { .. } => !sums.workers.is_empty(),
            };
            if is_of_other {
                return Err(
                    "`runWorkers` must be in the workers' data, the other sums in the tasks'"
                        .to_owned(),
                );
            }
            run.sums.add(sums)?;
            self.data(&part, &mut statemap.entities)?;
            return self.parents(&part, &mut statemap.entities);
        }
        if tag != TAG || !statemap.entities.is_empty() {
            return Err(format!("`{TAG}` must be the first of its tags, and before all data"));
        }
        let facts: Facts = serde_json::from_value(members).map_err(|e| shorten(&e.to_string()))?;
        let is_ready_known = match self.native {
            Native::Tasks { is_ready_known } => is_ready_known,
            Native::Workers => facts.schedule_latency,
        };
        facts.check()?;
        if facts.schedule_latency != is_ready_known {
            return Err("`scheduleLatency` isn't what the states say".to_owned());
        }
        self.run = Some(Run {
            facts,
            gaps: Vec::new(),
            handovers: Vec::new(),
            blocking_threads: Vec::new(),
            parks: Vec::new(),
            ran_on: Vec::new(),
            long_polls: LongPolls::default(),
            profile: Vec::new(),
            waits: Waits::default(),
            sums: Sums::default(),
            whole_ns: None,
        });
        Ok(())
    }

    /// What the next data are said to be besides.
    fn data(&mut self, part: &Part, entities: &mut [Entity]) -> Result<(), String> {
        let ran_on = self.run.as_ref().map_or(0, |run| run.ran_on.len()).min(Mark::MOST_RAN_ON);
        let is_tasks = self.native != Native::Workers;
        let (mut apart, mut cut) = (part.apart.iter().peekable(), part.cut.iter().peekable());
        let runs = part.polls.chunks(2).flat_map(|run| {
            std::iter::repeat_n(run[0], run.get(1).map_or(0, |&count| count as usize))
        });
        let mut polls = (0..).zip(runs);
        for n in 0..part.data {
            let datum = self.next_datum(entities).ok_or("`data` is more than there are")?;
            let apart = apart.next_if(|apart| apart.0 == n).map_or(0, |apart| apart.1);
            datum.mark = Mark::new(apart, 0, 0);
            if is_tasks && datum.state == u32::from(TaskState::Running.value()) {
                let (poll, index) =
                    polls.next().ok_or("`polls` are fewer than those in the data")?;
                if index as usize >= ran_on {
                    return Err("`polls` has an index that `ranOn` doesn't have".to_owned());
                }
                let cut = cut.next_if(|cut| cut.0 == poll).map_or(0, |cut| cut.1);
                datum.mark = Mark::new(apart, cut, index);
            }
        }
        self.data += part.data;
        let is_left = apart.next().is_some() || cut.next().is_some() || polls.next().is_some();
        if is_left { Err("it tells of more than `data`".to_owned()) } else { Ok(()) }
    }

    fn next_datum<'a>(&mut self, entities: &'a mut [Entity]) -> Option<&'a mut Datum> {
        let (entity, datum) = &mut self.next;
        while *datum >= entities.get(*entity)?.data.len() {
            (*entity, *datum) = (*entity + 1, 0);
        }
        *datum += 1;
        entities[*entity].data.get_mut(*datum - 1)
    }

    /// Who the parents of the next entities are.
    fn parents(&mut self, part: &Part, entities: &mut [Entity]) -> Result<(), String> {
        for &(parent, count) in &part.parents {
            for _ in 0..count {
                let entity = entities.get_mut(self.entities);
                entity.ok_or("`parents` are more than there are tasks")?.parent =
                    parent.map(|parent| parent.0);
                self.entities += 1;
            }
        }
        Ok(())
    }

    /// The run, once it is known.
    #[cfg(feature = "html")]
    pub(super) fn run(&mut self) -> Option<&mut Run> {
        self.run.as_mut()
    }

    /// What parts tell of single data and entities came with these.
    #[cfg(feature = "html")]
    pub(super) fn told_of(&mut self, entities: &[Entity]) {
        let data: usize = entities.iter().map(|entity| entity.data.len()).sum();
        self.data = data.saturating_sub(1) as u64;
        self.entities = entities.len();
    }

    /// All of it, if there is any; an error if it isn't told of all data.
    pub(super) fn finish(self, statemap: &Statemap) -> Result<Option<Run>, String> {
        let Some(run) = self.run else { return Ok(None) };
        let (told, all) = match self.native {
            Native::Tasks { .. } => (self.entities, statemap.entities.len()),
            Native::Workers => (run.parks.len(), statemap.entities.len()),
        };
        let data: usize = statemap.entities.iter().map(|entity| entity.data.len()).sum();
        // All but the one that marks the end.
        match self.data == data.saturating_sub(1) as u64 && told == all {
            true => Ok(Some(run)),
            false => Err(format!(
                "the definitions `{TAG} …` tell of {} data and {told} entities; there are {} and \
                 {all}, but for the last datum",
                self.data,
                data.saturating_sub(1),
            )),
        }
    }
}

impl Part {
    fn of(members: Value) -> Result<Self, String> {
        Self::deserialize(&members).map_err(|error| {
            // serde doesn't say which of the lists it is.
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

    /// Whether it says why polls took long.
    fn is_of_polls(&self) -> bool {
        let is_of_none = self.causes.is_empty() && self.functions.is_empty();
        let is_of_no_wait = self.waits.is_empty()
            && self.chains.is_empty()
            && self.unnamed.is_empty()
            && self.names.is_empty()
            && self.carried.is_empty()
            && self.local_tasks.is_empty()
            && self.calls.is_empty();
        !(is_of_none && is_of_no_wait && self.samples.is_empty() && self.profile.is_empty())
    }

    fn take_sums(&mut self) -> SumsPart {
        SumsPart {
            locations: std::mem::take(&mut self.run_locations),
            longest: std::mem::take(&mut self.run_longest),
            stretches: std::mem::take(&mut self.run_stretches),
            workers: std::mem::take(&mut self.run_workers),
            stopped: std::mem::take(&mut self.run_stopped),
        }
    }

    fn take_waits(&mut self) -> WaitParts {
        WaitParts {
            waits: std::mem::take(&mut self.waits),
            names: std::mem::take(&mut self.names),
            carried: std::mem::take(&mut self.carried),
            local_tasks: std::mem::take(&mut self.local_tasks),
            calls: std::mem::take(&mut self.calls),
        }
    }
}

impl Run {
    /// Adds the lists that say nothing of single data.
    fn add(&mut self, part: &Part) -> Result<(), String> {
        for &(Number(from), Number(to)) in &part.gaps {
            let after = self.gaps.last().map_or(self.facts.begin_ns.0, |gap| gap.1);
            if from < after || to <= from || to > self.facts.end_ns.0 {
                return Err(format!("`gaps` has [{from},{to}]; they must be in order, and within"));
            }
            self.gaps.push((from, to));
        }
        let handovers = part.handovers.iter().map(|&(thread, time, worker)| Handover {
            thread,
            time_ns: time.0,
            worker,
        });
        let before = self.handovers.len().saturating_sub(1);
        self.handovers.extend(handovers);
        // Not all of them for each part.
        if !self.handovers[before..].is_sorted() {
            return Err("`handovers` must be by thread and time".to_owned());
        }
        self.blocking_threads.extend(part.blocking_threads.iter().map(
            |&(thread, started, stopped)| BlockingThread {
                thread,
                started_ns: started.0,
                stopped_ns: stopped.map(|stopped| stopped.0),
            },
        ));
        self.parks.extend(part.parks.iter().map(|parks| parks.0));
        self.ran_on.extend(&part.ran_on);
        Ok(())
    }
}

/// The task that is named so, without the name of its runtime.
pub(in crate::statemap) fn task_key(name: &str) -> Option<TaskKey> {
    let key = match (name.strip_prefix("task-"), name.strip_prefix("main-")) {
        (Some(id), _) => TaskKey::Spawned(id.parse().ok()?),
        (_, Some(n)) => TaskKey::Root(u32::try_from(n.parse::<u64>().ok()?.checked_sub(1)?).ok()?),
        _ => TaskKey::Root(0),
    };
    // Written in no other way.
    (key.to_string() == name).then_some(key)
}

impl<'de> Deserialize<'de> for Parent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        if let Some(root @ TaskKey::Root(_)) = value.as_str().and_then(task_key) {
            return Ok(Self(root));
        }
        let id = Number::deserialize(value).map_err(D::Error::custom)?;
        Ok(Self(TaskKey::Spawned(id.0)))
    }
}
