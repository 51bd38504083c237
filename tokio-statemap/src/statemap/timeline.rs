//! The timeline that a run's data was written from.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use super::format::{Datum, Native, TagDefinition};
use super::intern::intern;
use super::labels::Labels;
use super::read::field::shorten;
use super::read::run::Run;
use super::read::value::task_key;
use super::read::{Entity, Statemap};
use crate::recorder::lost::Lost;
use crate::trace::event::SpawnLocation;
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::{
    CarriedWait, Lacking, Poll, PollCause, PollKey, PollSample, RecordSettings, Task, Tasks,
    Timeline, WaitId, Worker,
};
use crate::trace::woken_by::WokenBy;

/// A recording in one or two files: a run of this crate, or other data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Recording<'a> {
    /// A run, read from the data of its tasks, of its workers, or both.
    #[non_exhaustive]
    Run {
        /// The timeline. Parts of missing files are empty.
        timeline: Box<Timeline>,
        /// The program and the host.
        labels: Labels,
        /// The files, as indices.
        files: Vec<usize>,
    },
    /// Other data, or data of a run that was changed after it was written.
    #[non_exhaustive]
    Other {
        /// The data.
        data: &'a Statemap,
        /// The file, as an index.
        file: usize,
    },
}

/// Combines files into recordings: the tasks and the workers of one run belong together. The recordings are in the
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
    /// Returns `true` if these are the tasks and the workers of one run.
    fn is_of_the_same_run(&self, other: &Self) -> bool {
        let is_workers = |file: &Self| file.metadata.native() == Some(Native::Workers);
        let (Some(a), Some(b)) = (&self.run, &other.run) else { return false };
        is_workers(self) != is_workers(other)
            && (self.metadata.start, &self.metadata.host)
                == (other.metadata.start, &other.metadata.host)
            && (&a.facts, &a.gaps) == (&b.facts, &b.gaps)
    }

    /// Returns the timeline from which this was written, with its tasks or workers. The error is the reason why there
    /// is none.
    pub(super) fn timeline(&self) -> Result<Timeline, String> {
        timeline_of(&[self])
    }

    /// Returns the data of an entity, without the last datum if it only marks the end.
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

/// Returns the timeline of one or both files of a run.
fn timeline_of(files: &[&Statemap]) -> Result<Timeline, String> {
    let unknown = "the run isn't described";
    let first = files.first().ok_or(unknown)?;
    let Run { facts, gaps, .. } = &**first.run.as_ref().ok_or(unknown)?;
    let [seconds, ns] = first.metadata.start;
    let start = u32::try_from(ns).ok().filter(|&ns| ns < 1_000_000_000);
    let start = start.map(|ns| Duration::new(seconds, ns));
    let zero = start.and_then(|start| start.checked_sub(Duration::from_nanos(facts.begin_ns.0)));
    let mut timeline = Timeline {
        runtime: facts.runtime.clone(),
        version: facts.version.clone(),
        utc_at_zero: zero.ok_or("`start` is no time, or before time zero")?,
        begin_ns: facts.begin_ns.0,
        end_ns: facts.end_ns.0,
        recent_ns: facts.recent_ns().clamp(facts.begin_ns.0, facts.end_ns.0),
        gaps: gaps.clone(),
        events: facts.events.0,
        lost: Lost {
            refused_events: facts.refused_events.0,
            dropped_events: facts.dropped_events.0,
            reentrant_events: facts.reentrant_events.0,
        },
        settings: RecordSettings {
            trace_target: facts.trace_target,
            task_hooks: facts.task_hooks,
            schedule_latency: facts.schedule_latency,
            long_poll: Duration::from_nanos(facts.long_poll_ns.0),
        },
        machine: facts.machine(),
        profile: facts.profile(),
        requests: facts.requests(),
        lacking: Lacking {
            tasks: true,
            workers: true,
            time: first.is_part,
            whole_ns: first.run.as_ref().and_then(|run| run.whole_ns),
        },
        ..Timeline::empty()
    };
    (timeline.pool.ended, timeline.pool.ended_on) = facts.ended_in_pool();
    timeline.pool.exhausted = facts.exhausted_pool().ok_or("there are too many names of files")?;
    timeline.pool.queue = facts.pool_queue();
    timeline.long_polls.sampling = facts.sampling();
    timeline.places.not_kept = facts.waits_not_kept.0;
    // A part of a run has no sums.
    let mut whole_run = if first.is_part { None } else { facts.whole_run() };
    for file in files {
        let run = file.run.as_ref().ok_or(unknown)?;
        if !file.events.is_empty() || file.entities.iter().any(|e| e.description.is_some()) {
            return Err("there are events or descriptions".to_owned());
        }
        if file.metadata.native() == Some(Native::Workers) {
            timeline.workers = workers(file, run)?;
            timeline.pool.threads.clone_from(&run.blocking_threads);
            timeline.lacking.workers = false;
        } else {
            timeline.tasks = tasks(file, run)?.into();
            timeline.handovers.clone_from(&run.handovers);
            timeline.long_polls.causes = causes(&timeline.tasks, run, first.is_part)?;
            timeline.long_polls.samples =
                samples("samples", &timeline.tasks, &run.long_polls.samples)?;
            timeline.long_polls.beside =
                samples("beside", &timeline.tasks, &run.long_polls.beside)?;
            timeline.cpu.clone_from(&run.long_polls.cpu);
            timeline.profile.functions.clone_from(&run.profile);
            timeline.requests.rows.clone_from(&run.requests);
            timeline.places.waits.clone_from(&run.waits.waits);
            timeline.places.unnamed = run.waits.unnamed.clone().into();
            if !first.is_part {
                // Local tasks are those at the end of the run.
                timeline.local_tasks.clone_from(&run.waits.local_tasks);
                timeline.places.calls_at_end = run.waits.calls_at_end.clone().into();
            }
            timeline.lacking.tasks = false;
        }
        if let Some(summary) = &mut whole_run {
            run.sums.add_to(summary).ok_or("there are too many names of files")?;
        }
    }
    timeline.whole_run = whole_run.map(Arc::new);
    Ok(timeline)
}

/// Returns the real times of an entity's data, in ns of the file: undoes the writer's spacing, which puts changes at
/// the same time 1 ns apart.
pub(super) fn real_times(data: &[Datum]) -> impl Iterator<Item = u64> + use<'_> {
    let mut last: Option<(u64, u64)> = None;
    data.iter().map(move |datum| {
        let real_ns = match last {
            Some((written_ns, real_ns)) if datum.time_ns.checked_sub(written_ns) == Some(1) => {
                real_ns.saturating_add(datum.mark.apart_ns()).min(datum.time_ns)
            }
            _ => datum.time_ns,
        };
        last = Some((datum.time_ns, real_ns));
        real_ns
    })
}

/// Calls `each` with the entities that have data: their index, their name without the runtime's, and their changes with
/// real times in ns of the run.
fn for_each_row(
    file: &Statemap,
    run: &Run,
    mut each: impl FnMut(usize, &str, &[Datum], &mut dyn Iterator<Item = u64>) -> Option<()>,
) -> Result<(), String> {
    let prefix = run.facts.runtime.as_ref().map_or_else(String::new, |name| format!("{name}/"));
    let begin_ns = run.facts.begin_ns.0;
    if begin_ns.checked_add(file.end_ns).is_none() {
        return Err("it ends too late".to_owned());
    }
    for (index, entity) in file.entities.iter().enumerate().filter(|(_, e)| !e.data.is_empty()) {
        let data = file.changes(index, entity);
        let mut times = real_times(data).map(|real_ns| begin_ns.saturating_add(real_ns));
        let name = entity.name.strip_prefix(&prefix);
        let is_known = name.and_then(|name| each(index, name, data, &mut times));
        if is_known.is_none() {
            let name = shorten(&entity.name);
            return Err(format!("`{name}` has an invalid name, or changes in an impossible order"));
        }
    }
    Ok(())
}

fn workers(file: &Statemap, run: &Run) -> Result<Vec<Worker>, String> {
    let mut workers = Vec::with_capacity(file.entities.len());
    for_each_row(file, run, |index, name, data, times| {
        let number: u32 = name.strip_prefix("worker-")?.parse().ok()?;
        let states = data.iter().map(|datum| WorkerState::ALL.get(datum.state as usize).copied());
        let transitions = times.zip(states).map(|(at, state)| Some((at, state?)));
        let (transitions, parks) = (transitions.collect::<Option<_>>()?, *run.parks.get(index)?);
        workers.push(Worker { index: number, transitions, parks });
        (name == format!("worker-{number}")).then_some(())
    })?;
    workers.sort_by_key(|worker| worker.index);
    Ok(workers)
}

fn tasks(file: &Statemap, run: &Run) -> Result<Vec<Task>, String> {
    use TaskState::{Completed, Ready, Running, Spawned, Waiting};
    let meanings: Vec<_> = file.tags.iter().map(meaning).collect();
    let mut tasks = Vec::with_capacity(file.entities.len());
    for_each_row(file, run, |index, name, data, times| {
        // A tag that is no location isn't this crate's.
        let meaning_of = |datum: &Datum| match datum.tag {
            Some(tag) => meanings.get(tag).copied().flatten(),
            None => Some(Meaning::default()),
        };
        let mut rows = data.iter().zip(times);
        let (first, first_ns) = rows.next()?;
        let mut state = *TaskState::ALL.get(first.state as usize)?;
        let is_spawned = state == Spawned && first_ns > run.facts.begin_ns.0;
        let polls = data.iter().filter(|datum| datum.state == RUNNING).count();
        let key = task_key(name)?;
        let of_first = meaning_of(first)?;
        let carried_wait = (state == Waiting).then(|| {
            let since_ns = run.waits.carried.get(&key).copied();
            let wait = of_first.wait;
            (since_ns, wait)
        });
        let mut task = Task {
            name: run.waits.names.get(&key).cloned(),
            carried_wait: None,
            waits_since_ns: None,
            key,
            location: of_first.location,
            parent: file.entities[index].parent,
            spawned_ns: is_spawned.then_some(first_ns),
            first_ns,
            first_state: state,
            terminated_ns: None,
            polls: Vec::with_capacity(polls),
            ready_ns: None,
        };
        let mut ready_ns = (state == Ready).then_some(first_ns);
        if state == Running {
            task.polls.push(poll(first, first_ns, run)?);
        }
        for (datum, time_ns) in rows {
            let before = state;
            state = *TaskState::ALL.get(datum.state as usize)?;
            let meaning = meaning_of(datum)?;
            if state != Completed && meaning.location != task.location
                || meaning.wait.is_some() && state != Waiting
            {
                return None;
            }
            match (before, state) {
                (Spawned | Waiting | Ready, Running) => {
                    let poll = poll(datum, time_ns, run)?;
                    task.polls.push(poll.ready(ready_ns.take()));
                }
                (Running, Waiting | Completed) => {
                    let poll = task.polls.last_mut()?;
                    let cuts = poll.cuts();
                    *poll = poll.ended(time_ns).with_cuts(cuts).waits_at(meaning.wait);
                }
                (Waiting, Ready) => ready_ns = Some(time_ns),
                (Spawned | Waiting | Ready, Completed) => {}
                _ => return None,
            }
            task.terminated_ns = (state == Completed).then_some(time_ns);
        }
        if let (Running, Some(poll)) = (state, task.polls.last_mut()) {
            if poll.is_cut_right() {
                // The poll ended in the file, after this part of it.
                *poll = poll.cut_right(run.facts.end_ns.0);
            }
        }
        if let (Some((since_ns, wait)), true) = (carried_wait, task.polls.is_empty()) {
            // In a part of a run, the poll before may be missing.
            if since_ns.is_some() || wait.is_some() {
                let since_ns = since_ns.unwrap_or(first_ns);
                task.carried_wait = Some(CarriedWait { since_ns, wait });
            }
        }
        if let Some(last_ns) = task.polls.last().and_then(Poll::end_ns) {
            let right_ns = task.terminated_ns.unwrap_or(run.facts.end_ns.0);
            let since_ns = run.waits.carried.get(&key).copied();
            let since_ns = since_ns.filter(|&ns| last_ns < ns && ns <= right_ns);
            task.waits_since_ns = since_ns.and_then(NonZeroU64::new);
        }
        // The first state has its own time.
        task.ready_ns = ready_ns.filter(|&ns| ns > first_ns).and_then(NonZeroU64::new);
        tasks.push(task);
        (tasks.last()?.first_state != Completed).then_some(())
    })?;
    tasks.sort_by_key(|task| task.key);
    Ok(tasks)
}

/// Returns the causes of long polls. Each must be as long as a whole poll; the causes of polls that a window
/// cut are left out.
fn causes(tasks: &Tasks, run: &Run, is_part: bool) -> Result<Vec<(PollKey, PollCause)>, String> {
    let causes = &run.long_polls.causes;
    if causes.is_empty() {
        return Ok(Vec::new());
    }
    // A hostile file may contain any number of causes with one key.
    let of = |(key, cause): &(PollKey, PollCause)| (*key, cause.parts_ns());
    let mut wanted: Vec<_> = causes.iter().map(of).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut are_there = vec![false; wanted.len()];
    for poll in tasks.iter().flat_map(|task| &task.polls).filter(|poll| poll.cuts() == 0) {
        let length_ns = poll.end_ns().and_then(|end_ns| end_ns.checked_sub(poll.start_ns()));
        if let Ok(place) = wanted.binary_search(&(poll.key(), length_ns)) {
            are_there[place] = true;
        }
    }
    if !is_part && are_there.contains(&false) {
        return Err("`causes` must be of polls that are there, and as long as these".to_owned());
    }
    let is_there =
        |cause: &&_| wanted.binary_search(&of(cause)).is_ok_and(|place| are_there[place]);
    Ok(causes.iter().filter(is_there).copied().collect())
}

/// The most samples, and functions in them, if samples that polls share count for each poll. A program has at most a
/// quarter of this number, and polls share samples only if one starts just within another.
const MOST_OF_POLLS: usize = 1 << 23;

/// Returns the samples of polls, up to a limit: a hostile file may have any number of polls of one thread that start at
/// the same time.
fn samples(list: &str, tasks: &Tasks, samples: &[PollSample]) -> Result<Vec<PollSample>, String> {
    if samples.is_empty() {
        return Ok(Vec::new());
    }
    let sizes = samples.chunk_by(|a, b| a.poll_key() == b.poll_key()).map(|of_poll| {
        let size: usize = of_poll.iter().map(|sample| 1 + sample.frames.len()).sum();
        (of_poll[0].poll_key(), size)
    });
    let sizes: Vec<_> = sizes.collect();
    let mut all = 0;
    for poll in tasks.iter().flat_map(|task| &task.polls) {
        if let Ok(place) = sizes.binary_search_by_key(&poll.key(), |&(key, _)| key) {
            all += sizes[place].1;
        }
        if all > MOST_OF_POLLS {
            let (thread, start_ns) = poll.key();
            return Err(format!(
                "`{list}` are of too many polls, such as that of thread {thread} at {start_ns}: \
                 a thread starts one at a time"
            ));
        }
    }
    Ok(samples.to_vec())
}

const RUNNING: u32 = TaskState::Running as u32;

/// Returns the poll that a datum begins.
fn poll(datum: &Datum, time_ns: u64, run: &Run) -> Option<Poll> {
    let &(thread, worker) = run.ran_on.get(datum.mark.ran_on())?;
    let poll = Poll::open(time_ns, thread, worker.map(u32::from)).with_cuts(datum.mark.cuts());
    Some(poll.by(WokenBy::unpack(datum.woken_by)))
}

/// The meaning of a tag.
#[derive(Clone, Copy, Debug, Default)]
struct Meaning {
    location: Option<SpawnLocation>,
    wait: Option<WaitId>,
}

/// Returns the meaning of a tag of this crate.
fn meaning(tag: &TagDefinition) -> Option<Meaning> {
    let field = |name: &str| {
        let (_, json) = tag.fields.iter().find(|(key, _)| key == name)?;
        Some(json)
    };
    let member = |name: &str| -> Option<String> { serde_json::from_str(field(name)?).ok() };
    let wait = match field("wait") {
        Some(json) => Some(WaitId::new(serde_json::from_str(json).ok()?)?),
        None => None,
    };
    let Some(file) = member("file").filter(|_| field("location").is_some()) else {
        return wait.map(|wait| Meaning { location: None, wait: Some(wait) });
    };
    let place = member("location")?;
    let (line, column) = place.split_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    let rest = tag.tag.strip_prefix(&*format!("{file}:{line}:{column}"))?;
    if rest.is_empty() != wait.is_none() {
        return None;
    }
    Some(Meaning { location: Some(SpawnLocation { file: intern(&file)?, line, column }), wait })
}
