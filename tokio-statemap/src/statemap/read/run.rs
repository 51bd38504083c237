//! What a run's data says beyond its rows.

use serde_json::Value;

use super::field::{Object, optional_string, required, short, shorten, string};
use super::{Entity, Statemap};
use crate::config::TraceTarget;
use crate::recorder::lost::Lost;
use crate::statemap::format::{Mark, Ours};
use crate::statemap::run::{FORMAT, LARGEST_NUMBER, MOST_APART, TAG, trace_target_name};
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
    pub(crate) ran_on: Vec<(u32, Option<u32>)>,
}

/// What is the same for all files of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) program: String,
    pub(crate) runtime: Option<String>,
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) long_poll_ns: u64,
    pub(crate) events: u64,
    pub(crate) lost: Lost,
    pub(crate) trace_target: TraceTarget,
    pub(crate) task_hooks: bool,
    pub(crate) schedule_latency: bool,
}

/// Reads it.
#[derive(Debug)]
pub(super) struct RunReader {
    ours: Ours,
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
    tag.strip_prefix(TAG).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

impl RunReader {
    pub(super) fn new(ours: Ours) -> Self {
        Self { ours, run: None, parts: 0, next: (0, 0), data: 0, entities: 0 }
    }

    /// Reads a definition; what it says of data and entities goes there.
    pub(super) fn definition(
        &mut self,
        tag: &str,
        mut object: Object,
        statemap: &mut Statemap,
    ) -> Result<(), String> {
        let Some(run) = &mut self.run else {
            if tag != TAG {
                return Err(format!("tag `{}` comes before `{TAG}`", shorten(tag)));
            }
            if !statemap.entities.is_empty() {
                return Err(format!("`{TAG}` must come before all data"));
            }
            let facts = facts(&mut object)?;
            nothing_more(&object)?;
            let Ours::Tasks { is_ready_known } = self.ours else {
                self.run = Some(Run::new(facts));
                return Ok(());
            };
            if is_ready_known != facts.schedule_latency {
                return Err("`scheduleLatency` isn't what the states say".to_owned());
            }
            self.run = Some(Run::new(facts));
            return Ok(());
        };
        self.parts += 1;
        if tag != format!("{TAG} {}", self.parts) {
            let due = self.parts;
            return Err(format!("tag `{}` must be `{TAG} {due}`", shorten(tag)));
        }
        run.lists(&mut object)?;
        self.of_data(&mut object, statemap)?;
        self.of_entities(&mut object, statemap)?;
        nothing_more(&object)
    }

    /// What the next data are said to be besides.
    fn of_data(&mut self, object: &mut Object, statemap: &mut Statemap) -> Result<(), String> {
        let count = object.remove("data").map_or(Ok(0), |data| number(&data, "data"))?;
        let is_tasks = self.ours != Ours::Workers;
        let ran_on = self.run.as_ref().map_or(0, |run| run.ran_on.len()) as u64;
        let mut apart = pairs(object, "apart")?.into_iter().peekable();
        let mut polls = pairs(object, "polls")?.into_iter();
        let mut cut = pairs(object, "cut")?.into_iter().peekable();
        let (mut polled, mut same) = (0, (0, 0));
        for n in 0..count {
            let datum = self.next_datum(&mut statemap.entities);
            let datum = datum.ok_or("`data` is more than there are")?;
            let mut mark = Mark::default();
            if let Some((_, apart_ns)) = apart.next_if(|&(datum, _)| datum == n) {
                if !(1..=MOST_APART).contains(&apart_ns) {
                    return Err(format!("`apart` says {apart_ns}; it must be 1 to {MOST_APART}"));
                }
                mark = mark.with_apart(apart_ns);
            }
            if is_tasks && datum.state == u32::from(TaskState::Running.value()) {
                if same.1 == 0 {
                    same = polls.next().ok_or("`polls` are fewer than the data that run")?;
                    if same.0 >= ran_on.min(Mark::MOST_RAN_ON) || same.1 == 0 {
                        return Err(format!("`polls` says {},{}", same.0, same.1));
                    }
                }
                same.1 -= 1;
                mark = mark.with_ran_on(same.0);
                if let Some((_, cuts)) = cut.next_if(|&(poll, _)| poll == polled) {
                    if !(1..=3).contains(&cuts) {
                        return Err(format!("`cut` says {cuts}; it must be 1, 2 or 3"));
                    }
                    mark = mark.with_cuts(cuts as u16);
                }
                polled += 1;
            }
            datum.mark = mark;
        }
        self.data += count;
        match (apart.next(), cut.next(), same.1 + polls.next().map_or(0, |_| 1)) {
            (None, None, 0) => Ok(()),
            (Some(_), ..) => Err("`apart` tells of a datum that isn't there".to_owned()),
            (_, Some(_), _) => Err("`cut` tells of a poll that isn't there".to_owned()),
            _ => Err("`polls` are more than the data that run".to_owned()),
        }
    }

    fn next_datum<'a>(
        &mut self,
        entities: &'a mut [Entity],
    ) -> Option<&'a mut crate::statemap::Datum> {
        let (entity, datum) = &mut self.next;
        while *datum >= entities.get(*entity)?.data.len() {
            (*entity, *datum) = (*entity + 1, 0);
        }
        let found = entities.get_mut(*entity)?.data.get_mut(*datum);
        *datum += 1;
        found
    }

    /// Who the parents of the next entities are.
    fn of_entities(&mut self, object: &mut Object, statemap: &mut Statemap) -> Result<(), String> {
        let mut values = list(object, "parents")?.into_iter();
        while let Some(parent) = values.next() {
            let parent = match &parent {
                Value::Null => None,
                Value::String(name) => Some(match task_key(name) {
                    Some(root @ TaskKey::Root(_)) => root,
                    _ => TaskKey::Spawned(number(&parent, "parents")?),
                }),
                id => Some(TaskKey::Spawned(number(id, "parents")?)),
            };
            let count = values.next().ok_or("`parents` isn't a list of pairs")?;
            for _ in 0..number(&count, "parents")? {
                let entity = statemap.entities.get_mut(self.entities);
                entity.ok_or("`parents` are more than there are tasks")?.parent = parent;
                self.entities += 1;
            }
        }
        Ok(())
    }

    /// All of it, if there is any; an error if it isn't told of all data.
    pub(super) fn finish(self, statemap: &Statemap) -> Result<Option<Run>, String> {
        let Some(run) = self.run else { return Ok(None) };
        let data: u64 = statemap.entities.iter().map(|entity| entity.data.len() as u64).sum();
        // All but the one that marks the end.
        if self.data != data.saturating_sub(1) {
            return Err(format!(
                "the definitions `{TAG} …` tell of {} data; it must be all but the last, {}",
                self.data,
                data.saturating_sub(1)
            ));
        }
        let (told, are) = match self.ours {
            Ours::Tasks { .. } => ("parents", self.entities),
            Ours::Workers => ("parks", run.parks.len()),
        };
        if are != statemap.entities.len() {
            return Err(format!("`{told}` are {are}; it must be {}", statemap.entities.len()));
        }
        Ok(Some(run))
    }
}

impl Run {
    fn new(facts: Facts) -> Self {
        Self {
            facts,
            gaps: Vec::new(),
            handovers: Vec::new(),
            blocking_threads: Vec::new(),
            parks: Vec::new(),
            ran_on: Vec::new(),
        }
    }

    /// The lists that say nothing of single data.
    fn lists(&mut self, object: &mut Object) -> Result<(), String> {
        for gap in list(object, "gaps")? {
            let [from, to] = numbers(&gap, "gaps")?;
            let after = self.gaps.last().map_or(self.facts.begin_ns, |gap| gap.1);
            if from < after || to <= from || to > self.facts.end_ns {
                return Err(format!(
                    "`gaps` has {}; they must be in order, and between `beginNs` and `endNs`",
                    short(&gap)
                ));
            }
            self.gaps.push((from, to));
        }
        for handover in list(object, "handovers")? {
            let [thread, time_ns, worker] = numbers(&handover, "handovers")?;
            let [thread, worker] = small([thread, worker], "handovers")?;
            let handover = Handover { thread, time_ns, worker };
            if self.handovers.last().is_some_and(|last| *last > handover) {
                return Err("`handovers` must be by thread and time".to_owned());
            }
            self.handovers.push(handover);
        }
        for blocking in list(object, "blockingThreads")? {
            let (thread, started_ns, stopped_ns) = match blocking.as_array().map(Vec::len) {
                Some(2) => {
                    let [thread, started_ns] = numbers(&blocking, "blockingThreads")?;
                    (thread, started_ns, None)
                }
                _ => {
                    let [thread, started_ns, stopped_ns] = numbers(&blocking, "blockingThreads")?;
                    (thread, started_ns, Some(stopped_ns))
                }
            };
            let [thread] = small([thread], "blockingThreads")?;
            self.blocking_threads.push(BlockingThread { thread, started_ns, stopped_ns });
        }
        for parks in list(object, "parks")? {
            self.parks.push(number(&parks, "parks")?);
        }
        for ran_on in list(object, "ranOn")? {
            let (thread, worker) = match ran_on.as_array().map(Vec::len) {
                Some(1) => (numbers::<1>(&ran_on, "ranOn")?[0], None),
                _ => {
                    let [thread, worker] = numbers(&ran_on, "ranOn")?;
                    (thread, Some(worker))
                }
            };
            let [thread] = small([thread], "ranOn")?;
            let worker = worker.map(|worker| small([worker], "ranOn")).transpose()?;
            // A poll has no room for more workers.
            if worker.is_some_and(|[worker]| worker >= u32::from(u16::MAX)) {
                return Err(format!("`ranOn` has {}; there is no such worker", short(&ran_on)));
            }
            self.ran_on.push((thread, worker.map(|[worker]| worker)));
        }
        Ok(())
    }
}

fn facts(object: &mut Object) -> Result<Facts, String> {
    let format = required(object, "format")?;
    if format.as_u64() != Some(FORMAT) {
        return Err(format!("`format` is {}; only {FORMAT} is known here", short(&format)));
    }
    let mut ns = |key| number(&required(object, key)?, key);
    let mut facts = Facts {
        begin_ns: ns("beginNs")?,
        end_ns: ns("endNs")?,
        long_poll_ns: ns("longPollNs")?,
        events: ns("events")?,
        lost: Lost {
            refused_events: ns("refusedEvents")?,
            dropped_events: ns("droppedEvents")?,
            reentrant_events: ns("reentrantEvents")?,
        },
        program: String::new(),
        runtime: None,
        trace_target: TraceTarget::None,
        task_hooks: is(object, "taskHooks")?,
        schedule_latency: is(object, "scheduleLatency")?,
    };
    facts.program = string(object, "program")?;
    facts.runtime = optional_string(object, "runtime")?;
    let name = string(object, "traceTarget")?;
    let targets = [TraceTarget::Tasks, TraceTarget::Workers, TraceTarget::Both, TraceTarget::None];
    let target = targets.into_iter().find(|&target| trace_target_name(target) == name);
    facts.trace_target = target.ok_or_else(|| {
        format!(
            "`traceTarget` is {}; it must be `tasks`, `workers`, `both` or `none`",
            shorten(&name)
        )
    })?;
    match facts.begin_ns <= facts.end_ns {
        true => Ok(facts),
        false => Err("`endNs` is before `beginNs`".to_owned()),
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

fn is(object: &mut Object, key: &str) -> Result<bool, String> {
    let value = required(object, key)?;
    value.as_bool().ok_or_else(|| format!("`{key}` is {}; it must be true or false", short(&value)))
}

/// A whole number: over 2^53 as a string.
fn number(value: &Value, key: &str) -> Result<u64, String> {
    let number = match value {
        Value::String(digits) => {
            digits.parse().ok().filter(|n: &u64| *n > LARGEST_NUMBER && n.to_string() == *digits)
        }
        value => value.as_u64().filter(|&n| n <= LARGEST_NUMBER),
    };
    number.ok_or_else(|| {
        format!("`{key}` has {}; it must be a whole number, over 2^53 a string", short(value))
    })
}

fn list(object: &mut Object, key: &str) -> Result<Vec<Value>, String> {
    match object.remove(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list),
        Some(value) => Err(format!("`{key}` is {}; it must be a list", short(&value))),
    }
}

fn pairs(object: &mut Object, key: &str) -> Result<Vec<(u64, u64)>, String> {
    let list = list(object, key)?;
    if list.len() % 2 > 0 {
        return Err(format!("`{key}` isn't a list of pairs"));
    }
    list.chunks_exact(2).map(|pair| Ok((number(&pair[0], key)?, number(&pair[1], key)?))).collect()
}

fn numbers<const N: usize>(value: &Value, key: &str) -> Result<[u64; N], String> {
    let values = value.as_array().and_then(|values| <&[Value; N]>::try_from(&values[..]).ok());
    let values =
        values.ok_or_else(|| format!("`{key}` has {}; it must be {N} numbers", short(value)))?;
    let mut numbers = [0; N];
    for (to, value) in numbers.iter_mut().zip(values) {
        *to = number(value, key)?;
    }
    Ok(numbers)
}

fn small<const N: usize>(numbers: [u64; N], key: &str) -> Result<[u32; N], String> {
    let mut small = [0; N];
    for (to, number) in small.iter_mut().zip(numbers) {
        *to = u32::try_from(number)
            .map_err(|_| format!("`{key}` has {number}; there is no such thread or worker"))?;
    }
    Ok(small)
}

fn nothing_more(object: &Object) -> Result<(), String> {
    super::field::nothing_else(object, "it is none of those that say what a run was")
}
