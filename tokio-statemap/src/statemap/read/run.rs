//! Reads the description of a run.

use serde_json::Value;

use super::facts::Facts;
use super::field::{Object, shorten};
use super::long_polls::LongPolls;
use super::part::Part;
use super::profile;
use super::requests;
use super::summary::Sums;
use super::value::Number;
use super::waits::Waits;
use super::{Entity, Statemap};
use crate::statemap::format::{Datum, Mark, Native};
use crate::statemap::run::TAG;
use crate::trace::profile::FunctionProfile;
use crate::trace::requests::Request;
use crate::trace::state::TaskState;
use crate::trace::timeline::{BlockingThread, Handover};

/// The description of a run, without the facts about single data and entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) facts: Facts,
    /// The gaps, by time.
    pub(crate) gaps: Vec<(u64, u64)>,
    /// The handovers, by thread and time.
    pub(crate) handovers: Vec<Handover>,
    pub(crate) blocking_threads: Vec<BlockingThread>,
    /// The number of parks of each worker.
    pub(crate) parks: Vec<u64>,
    /// The threads and workers that polls ran on.
    pub(crate) ran_on: Vec<(u32, Option<u16>)>,
    pub(crate) long_polls: LongPolls,
    /// The profile of async functions.
    pub(crate) profile: Vec<FunctionProfile>,
    /// The times that spans of `tracing` took.
    pub(crate) requests: Vec<Request>,
    pub(crate) waits: Waits,
    /// The lists of the sums of the whole run.
    pub(crate) sums: Sums,
    /// The recorded time of the whole run, in ns, if this is a part of it.
    pub(crate) whole_ns: Option<u64>,
}

/// Reads the description.
#[derive(Debug)]
pub(super) struct RunReader {
    native: Native,
    run: Option<Run>,
    parts: u64,
    /// The next datum that a part describes: its entity, and its index there.
    next: (usize, usize),
    /// The numbers of data and entities that were described so far.
    data: u64,
    entities: usize,
}

/// Returns `true` for the tags that describe a run.
pub(in crate::statemap) fn is_of_run(tag: &str) -> bool {
    // A source file may have a name that begins like this.
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    tag.strip_prefix(TAG)
        .is_some_and(|rest| rest.is_empty() || rest.strip_prefix(' ').is_some_and(is_number))
}

impl RunReader {
    pub(super) fn new(native: Native) -> Self {
        Self { native, run: None, parts: 0, next: (0, 0), data: 0, entities: 0 }
    }

    /// Reads a definition, and stores the facts about data and entities in these.
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
            let mut part = Part::parse(members)?;
            run.add(&part)?;
            if self.native != Native::Workers {
                let edges = (run.facts.begin_ns.0, run.facts.end_ns.0);
                run.long_polls.add(edges, &mut part)?;
                profile::add(&mut run.profile, &mut part)?;
                requests::add(&mut run.requests, &mut part)?;
                let functions = run.long_polls.functions();
                run.waits.add(&mut part, functions, edges.1)?;
                run.waits.add_unnamed(&mut part, functions)?;
            } else if part.is_of_polls() {
                return Err(
                    "`causes`, `samples`, `profile`, `requests` and `waits` are of tasks; workers have none"
                        .to_owned(),
                );
            }
            if part.has_sums() && run.facts.whole_run().is_none() {
                return Err(
                    "`runLocations` and the like are of the `wholeRun`; the first definition must have it"
                        .to_owned(),
                );
            }
            let is_of_other = match self.native {
                Native::Workers => part.has_task_sums(),
                Native::Tasks { .. } => !part.run_workers.is_empty(),
            };
            if is_of_other {
                return Err(
                    "`runWorkers` must be in the workers' data, the other sums in the tasks'"
                        .to_owned(),
                );
            }
            run.sums.add(&mut part)?;
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
            return Err("`scheduleLatency` doesn't agree with the states".to_owned());
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
            requests: Vec::new(),
            waits: Waits::default(),
            sums: Sums::default(),
            whole_ns: None,
        });
        Ok(())
    }

    /// Reads the facts about the next data.
    fn data(&mut self, part: &Part, entities: &mut [Entity]) -> Result<(), String> {
        let ran_on = self.run.as_ref().map_or(0, |run| run.ran_on.len()).min(Mark::MOST_RAN_ON);
        let is_tasks = self.native != Native::Workers;
        let (mut apart, mut cut) = (part.apart.iter().peekable(), part.cut.iter().peekable());
        let runs = part.polls.chunks(2).flat_map(|run| {
            std::iter::repeat_n(run[0], run.get(1).map_or(0, |&count| count as usize))
        });
        let mut polls = (0..).zip(runs);
        let is_known = !part.woken_by.is_empty();
        let mut woken = part.woken_by.iter().flat_map(|(by, count)| {
            let by = by.map_or(0, |by| by.0.pack());
            std::iter::repeat_n(by, usize::try_from(*count).unwrap_or(usize::MAX))
        });
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
                if is_known {
                    let by = woken.next();
                    datum.woken_by = by.ok_or("`wokenBy` are fewer than the polls in the data")?;
                }
            }
        }
        self.data += part.data;
        let is_left = apart.next().is_some() || cut.next().is_some() || polls.next().is_some();
        let is_left = is_left || woken.next().is_some();
        if is_left { Err("it describes more than `data`".to_owned()) } else { Ok(()) }
    }

    fn next_datum<'a>(&mut self, entities: &'a mut [Entity]) -> Option<&'a mut Datum> {
        let (entity, datum) = &mut self.next;
        while *datum >= entities.get(*entity)?.data.len() {
            (*entity, *datum) = (*entity + 1, 0);
        }
        *datum += 1;
        entities[*entity].data.get_mut(*datum - 1)
    }

    /// Reads the parents of the next entities.
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

    /// Returns the run, if it is known by now.
    #[cfg(feature = "html")]
    pub(super) fn run(&mut self) -> Option<&mut Run> {
        self.run.as_mut()
    }

    /// Counts all data and entities as described, because they came with their facts.
    #[cfg(feature = "html")]
    pub(super) fn told_of(&mut self, entities: &[Entity]) {
        let data: usize = entities.iter().map(|entity| entity.data.len()).sum();
        self.data = data.saturating_sub(1) as u64;
        self.entities = entities.len();
    }

    /// Returns the description, if there is one, or an error if it doesn't cover all data.
    pub(super) fn finish(self, statemap: &Statemap) -> Result<Option<Run>, String> {
        let Some(run) = self.run else { return Ok(None) };
        let (told, all) = match self.native {
            Native::Tasks { .. } => (self.entities, statemap.entities.len()),
            Native::Workers => (run.parks.len(), statemap.entities.len()),
        };
        let data: usize = statemap.entities.iter().map(|entity| entity.data.len()).sum();
        // The datum that marks the end isn't described.
        match self.data == data.saturating_sub(1) as u64 && told == all {
            true => Ok(Some(run)),
            false => Err(format!(
                "the definitions `{TAG} …` describe {} data and {told} entities; there are {} and \
                 {all}, without the last datum",
                self.data,
                data.saturating_sub(1),
            )),
        }
    }
}

impl Run {
    /// Adds the lists that aren't about single data.
    fn add(&mut self, part: &Part) -> Result<(), String> {
        for &(Number(from), Number(to)) in &part.gaps {
            let after = self.gaps.last().map_or(self.facts.begin_ns.0, |gap| gap.1);
            if from < after || to <= from || to > self.facts.end_ns.0 {
                return Err(format!(
                    "`gaps` has [{from},{to}]; they must be in order, and within the run"
                ));
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
        // Only the new handovers need to be checked.
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
