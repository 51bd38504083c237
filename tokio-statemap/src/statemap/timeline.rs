//! The timeline that a run's data was written from.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::time::Duration;

use super::format::{Datum, Ours};
use super::intern::intern;
use super::labels::Labels;
use super::read::field::shorten;
use super::read::run::{Run, task_key};
use super::read::{Entity, Statemap};
use crate::trace::event::SpawnLocation;
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::{Lacking, Poll, Task, Timeline, Worker};

/// What files are of: a run of this crate's own, or anything else.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Recording<'a> {
    /// A run, read from the data of its tasks, of its workers, or both.
    #[non_exhaustive]
    Run {
        /// What happened. Where a file is missing, what it would say is empty.
        timeline: Box<Timeline>,
        /// What it is called, and where it was.
        labels: Labels,
        /// The files, as indices.
        files: Vec<usize>,
    },
    /// Other data, or a run's that was not left as it was written.
    #[non_exhaustive]
    Other {
        /// The data.
        data: &'a Statemap,
        /// The file, as an index.
        file: usize,
    },
}

/// Finds out what files are of: the tasks and the workers of one run belong together. They come in the
/// order of the files.
///
/// The names of the source files in spawn locations stay in memory until the program ends, each once;
/// with more than 16 MiB of them, data is taken for other data.
///
/// # Examples
///
/// ```
/// use tokio_statemap::Timeline;
/// use tokio_statemap::statemap::read::read;
/// use tokio_statemap::statemap::{Recording, recordings};
///
/// fn reports(timeline: &Timeline) -> Result<(), Box<dyn std::error::Error>> {
///     let data = timeline.to_data();
///     let files = [read(&data.tasks_to_bytes()?[..])?, read(&data.workers_to_bytes()?[..])?];
///     for recording in recordings(&files) {
///         if let Recording::Run { timeline, .. } = recording {
///             println!("{}", timeline.report());
///         }
///     }
///     Ok(())
/// }
/// ```
pub fn recordings(files: &[Statemap]) -> Vec<Recording<'_>> {
    let mut recordings = Vec::with_capacity(files.len());
    let mut is_taken = vec![false; files.len()];
    for (index, file) in files.iter().enumerate() {
        if std::mem::replace(&mut is_taken[index], true) {
            continue;
        }
        let other = (index + 1..files.len())
            .find(|&other| !is_taken[other] && file.is_of_the_same_run(&files[other]));
        let both = other.and_then(|other| {
            let timeline = timeline_of(&[file, &files[other]]).ok()?;
            is_taken[other] = true;
            Some((timeline, vec![index, other]))
        });
        let one = || Some((file.timeline().ok()?, vec![index]));
        recordings.push(match both.or_else(one) {
            Some((timeline, files)) => Recording::Run {
                timeline: Box::new(timeline),
                labels: Labels {
                    title: file.run.as_ref().map_or_else(String::new, |r| r.facts.program.clone()),
                    host: file.metadata.host.clone(),
                },
                files,
            },
            None => Recording::Other { data: file, file: index },
        });
    }
    recordings
}

impl Statemap {
    /// Whether these are the tasks and the workers of one run.
    fn is_of_the_same_run(&self, other: &Self) -> bool {
        let is_workers = |file: &Self| file.metadata.ours() == Some(Ours::Workers);
        let (Some(a), Some(b)) = (&self.run, &other.run) else { return false };
        is_workers(self) != is_workers(other)
            && (self.metadata.start, &self.metadata.host)
                == (other.metadata.start, &other.metadata.host)
            && (&a.facts, &a.gaps) == (&b.facts, &b.gaps)
    }

    /// The timeline that this was written from, as far as it is of tasks or workers; or else why it is
    /// none.
    pub(super) fn timeline(&self) -> Result<Timeline, String> {
        timeline_of(&[self])
    }

    /// The data of an entity, without the one that only marks the end of all.
    fn changes<'a>(&self, index: usize, entity: &'a Entity) -> &'a [Datum] {
        match entity.data.as_slice() {
            [data @ .., before, end]
                if index == 0
                    && end.time_ns == self.end_ns
                    && (end.state, end.tag) == (before.state, before.tag) =>
            {
                &entity.data[..=data.len()]
            }
            data => data,
        }
    }
}

/// The timeline of one or both files of a run.
fn timeline_of(files: &[&Statemap]) -> Result<Timeline, String> {
    let first = files.first().ok_or("there is no file")?;
    let run = first.run.as_ref().ok_or("it isn't said what the run was")?;
    let facts = &run.facts;
    let [seconds, ns] = first.metadata.start;
    let begin = Duration::from_nanos(facts.begin_ns);
    let start = u32::try_from(ns).ok().filter(|&ns| ns < 1_000_000_000);
    let start = start.map(|ns| Duration::new(seconds, ns));
    let utc_at_zero = start.and_then(|start| start.checked_sub(begin));
    let mut timeline = Timeline {
        runtime: facts.runtime.clone(),
        utc_at_zero: utc_at_zero.ok_or("`start` is before time zero")?,
        begin_ns: facts.begin_ns,
        end_ns: facts.end_ns,
        gaps: run.gaps.clone(),
        tasks: Vec::new().into(),
        workers: Vec::new(),
        blocking_threads: Vec::new(),
        handovers: Vec::new(),
        events: facts.events,
        lost: facts.lost,
        trace_target: facts.trace_target,
        task_hooks: facts.task_hooks,
        schedule_latency: facts.schedule_latency,
        long_poll: Duration::from_nanos(facts.long_poll_ns),
        lacking: Lacking { tasks: true, workers: true, time: first.is_part },
    };
    for file in files {
        let run = file.run.as_ref().ok_or("it isn't said what the run was")?;
        if !file.events.is_empty() || file.entities.iter().any(|e| e.description.is_some()) {
            return Err("there are events or descriptions".to_owned());
        }
        match file.metadata.ours() {
            Some(Ours::Tasks { .. }) => {
                timeline.tasks = tasks(file, run)?.into();
                timeline.handovers.clone_from(&run.handovers);
                timeline.lacking.tasks = false;
            }
            Some(Ours::Workers) => {
                timeline.workers = workers(file, run)?;
                timeline.blocking_threads.clone_from(&run.blocking_threads);
                timeline.lacking.workers = false;
            }
            None => return Err("it is neither of tasks nor of workers".to_owned()),
        }
    }
    Ok(timeline)
}

/// The entities that have data, with what is in their names behind that of the runtime.
fn rows<'a>(
    file: &'a Statemap,
    run: &'a Run,
) -> impl Iterator<Item = Result<(usize, &'a Entity, &'a str), String>> {
    let entities = file.entities.iter().enumerate().filter(|(_, entity)| !entity.data.is_empty());
    entities.map(|(index, entity)| {
        let name = match &run.facts.runtime {
            None => Some(&*entity.name),
            Some(runtime) => {
                entity.name.strip_prefix(&**runtime).and_then(|name| name.strip_prefix('/'))
            }
        };
        Ok((index, entity, name.ok_or_else(|| unknown_name(entity))?))
    })
}

fn unknown_name(entity: &Entity) -> String {
    format!("`{}` isn't how an entity of this run is named", shorten(&entity.name))
}

/// When data really were, in ns of the run: what was at one time is written 1 ns apart.
fn real_times(
    data: &[Datum],
    begin_ns: u64,
) -> impl Iterator<Item = Result<(u64, &Datum), String>> {
    let mut last: Option<(u64, u64)> = None;
    data.iter().map(move |datum| {
        let real_ns = match last {
            Some((written_ns, real_ns)) if datum.time_ns - written_ns == 1 => {
                (real_ns + datum.mark.apart_ns()).min(datum.time_ns)
            }
            _ => datum.time_ns,
        };
        last = Some((datum.time_ns, real_ns));
        let time_ns = begin_ns.checked_add(real_ns).ok_or("a time is too late")?;
        Ok((time_ns, datum))
    })
}

fn workers(file: &Statemap, run: &Run) -> Result<Vec<Worker>, String> {
    let mut workers = Vec::new();
    for row in rows(file, run) {
        let (index, entity, name) = row?;
        let number = name.strip_prefix("worker-").and_then(|number| number.parse().ok());
        let number: u32 = number.ok_or_else(|| unknown_name(entity))?;
        if name != format!("worker-{number}") {
            return Err(unknown_name(entity));
        }
        let data = file.changes(index, entity);
        let mut transitions: Vec<(u64, WorkerState)> = Vec::with_capacity(data.len());
        for change in real_times(data, run.facts.begin_ns) {
            let (time_ns, datum) = change?;
            let state =
                *WorkerState::ALL.get(datum.state as usize).ok_or("there is no such state")?;
            transitions.push((time_ns, state));
        }
        let parks = run.parks.get(index).copied().unwrap_or_default();
        workers.push(Worker { index: number, transitions, parks });
    }
    workers.sort_by_key(|worker| worker.index);
    Ok(workers)
}

fn tasks(file: &Statemap, run: &Run) -> Result<Vec<Task>, String> {
    let locations = Locations::of(file);
    let mut tasks = Vec::with_capacity(file.entities.len());
    for row in rows(file, run) {
        let (index, entity, name) = row?;
        let key = task_key(name).ok_or_else(|| unknown_name(entity))?;
        let data = file.changes(index, entity);
        let polls = data.iter().filter(|datum| datum.state == RUNNING).count();
        let mut life = Life::new(polls);
        for change in real_times(data, run.facts.begin_ns) {
            let (time_ns, datum) = change?;
            life.change(time_ns, datum, run, &locations).map_err(|problem| {
                format!("`{}` at {}: {problem}", shorten(&entity.name), datum.time_ns)
            })?;
        }
        let Some((first_ns, first_state)) = life.first else { continue };
        let is_spawned = first_state == TaskState::Spawned && first_ns > run.facts.begin_ns;
        tasks.push(Task {
            key,
            location: life.location.flatten().map(|number| locations.all[number]),
            parent: entity.parent,
            spawned_ns: is_spawned.then_some(first_ns),
            first_ns,
            first_state,
            terminated_ns: life.terminated_ns,
            polls: life.polls,
            // What it begins with says so by itself.
            ready_ns: life.ready_ns.filter(|&ns| ns > first_ns).and_then(NonZeroU64::new),
        });
    }
    tasks.sort_by_key(|task| task.key);
    Ok(tasks)
}

const RUNNING: u32 = TaskState::Running as u32;

/// A task, as far as its data was read.
struct Life {
    first: Option<(u64, TaskState)>,
    state: Option<TaskState>,
    polls: Vec<Poll>,
    /// Since when it is ready for its next poll.
    ready_ns: Option<u64>,
    terminated_ns: Option<u64>,
    /// Where it was spawned, once it is told: as a number, if it is known.
    location: Option<Option<usize>>,
}

impl Life {
    fn new(polls: usize) -> Self {
        Self {
            first: None,
            state: None,
            polls: Vec::with_capacity(polls),
            ready_ns: None,
            terminated_ns: None,
            location: None,
        }
    }

    fn change(
        &mut self,
        time_ns: u64,
        datum: &Datum,
        run: &Run,
        locations: &Locations,
    ) -> Result<(), &'static str> {
        use TaskState::{Completed, Ready, Running, Spawned, Waiting};
        let state = *TaskState::ALL.get(datum.state as usize).ok_or("there is no such state")?;
        match (self.state.replace(state), state) {
            (None, Completed) => return Err("it begins with its end"),
            (None, _) => self.first = Some((time_ns, state)),
            (Some(Spawned | Waiting | Ready), Running | Completed)
            | (Some(Running), Waiting | Completed)
            | (Some(Waiting), Ready) => {}
            _ => return Err("no task does that"),
        }
        if state != Completed {
            let location = datum.tag.map(|tag| locations.of_tags[tag].ok_or("its tag is no place"));
            let location = location.transpose()?;
            if *self.location.get_or_insert(location) != location {
                return Err("its tag isn't that of the states before");
            }
        }
        match state {
            Running => {
                let ran_on = run.ran_on.get(datum.mark.ran_on());
                let &(thread, worker) = ran_on.ok_or("it isn't said what ran it")?;
                let poll = Poll::open(time_ns, thread, worker).ready(self.ready_ns.take());
                self.polls.push(poll.with_cuts(datum.mark.cuts()));
            }
            Ready => self.ready_ns = Some(time_ns),
            Waiting | Completed => {
                let open = self.polls.last_mut().filter(|poll| poll.end_ns().is_none());
                if let Some(poll) = open {
                    *poll = poll.ended(time_ns).with_cuts(poll.cuts());
                }
            }
            Spawned => {}
        }
        if state == Completed {
            self.terminated_ns = Some(time_ns);
        }
        Ok(())
    }
}

/// The spawn locations of a file, by their numbers.
struct Locations {
    all: Vec<SpawnLocation>,
    /// Of each tag, if it is one.
    of_tags: Vec<Option<usize>>,
}

impl Locations {
    fn of(file: &Statemap) -> Self {
        let (mut all, mut numbers) = (Vec::new(), HashMap::new());
        let mut of_tags = Vec::with_capacity(file.tags.len());
        for tag in &file.tags {
            let member = |name: &str| -> Option<String> {
                let (_, json) = tag.fields.iter().find(|(key, _)| key == name)?;
                serde_json::from_str(json).ok()
            };
            let location = || {
                let (file, place) = (member("file")?, member("location")?);
                let (line, column) = place.split_once(':')?;
                let (line, column) = (line.parse().ok()?, column.parse().ok()?);
                let is_right = tag.tag == format!("{file}:{line}:{column}");
                Some(SpawnLocation { file: intern(&file).filter(|_| is_right)?, line, column })
            };
            of_tags.push(location().map(|location| {
                *numbers.entry(location).or_insert_with(|| {
                    all.push(location);
                    all.len() - 1
                })
            }));
        }
        Self { all, of_tags }
    }
}
