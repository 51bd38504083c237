//! Writes what a run's data says beyond its rows.

use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};

use super::long_polls::Indices;
use super::stream::Text;
use crate::recorder::id_map::IdMap;
use crate::statemap::run::{LARGEST_NUMBER, MOST_APART, TAG};
use crate::trace::timeline::{Poll, TaskKey, Timeline};

/// From how many bytes on a part is written.
const PART_BYTES: usize = 1 << 17;

pub(super) fn number(n: u64) -> String {
    if n > LARGEST_NUMBER { format!("\"{n}\"") } else { n.to_string() }
}

/// A task: its id, or the name of a root future.
pub(super) fn key(task: Option<TaskKey>) -> String {
    match task {
        None => "null".to_owned(),
        Some(TaskKey::Spawned(id)) => number(id),
        Some(root) => format!("\"{root}\""),
    }
}

/// The lists of parts, in the order in which they stand there.
#[derive(Clone, Copy, Debug)]
pub(super) enum List {
    Gaps,
    Handovers,
    BlockingThreads,
    Parks,
    Apart,
    RanOn,
    Polls,
    Cut,
    Parents,
    Causes,
    Functions,
    Samples,
    Profile,
    Waits,
    Chains,
    Unnamed,
    Names,
    Carried,
    LocalTasks,
    Calls,
    RunLocations,
    RunLongest,
    RunStretches,
    RunWorkers,
    RunStopped,
}

const NAMES: [&str; 25] = [
    "gaps",
    "handovers",
    "blockingThreads",
    "parks",
    "apart",
    "ranOn",
    "polls",
    "cut",
    "parents",
    "causes",
    "functions",
    "samples",
    "profile",
    "waits",
    "chains",
    "unnamed",
    "names",
    "carried",
    "localTasks",
    "calls",
    "runLocations",
    "runLongest",
    "runStretches",
    "runWorkers",
    "runStopped",
];

/// What the next part says.
#[derive(Default)]
pub(super) struct Parts {
    /// The value of the state that the definitions are of.
    state: u8,
    written: u64,
    /// Whether the names of tasks are not written.
    pub(super) are_names_elsewhere: bool,
    data: u64,
    polls: u64,
    /// The entries of each list, as JSON.
    lists: [String; NAMES.len()],
    bytes: usize,
    /// Of each thread and worker that polled the index; and the last of them.
    ran_on: IdMap<u64>,
    last_ran_on: Option<(u64, u64)>,
    poll_run: RunLength<u64>,
    parent_run: RunLength<Option<TaskKey>>,
}

impl Parts {
    pub(super) fn of(state: u8) -> Self {
        Self { state, ..Self::default() }
    }

    /// Writes what says nothing of single data.
    pub(super) fn lists(
        &mut self,
        timeline: &Timeline,
        is_tasks: bool,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for &(from_ns, to_ns) in &timeline.gaps {
            self.add(List::Gaps, format_args!("[{},{}]", number(from_ns), number(to_ns)));
            self.write_if_full(text)?;
        }
        for handover in timeline.handovers.iter().filter(|_| is_tasks) {
            let (thread, time_ns) = (handover.thread, number(handover.time_ns));
            self.add(List::Handovers, format_args!("[{thread},{time_ns},{}]", handover.worker));
            self.write_if_full(text)?;
        }
        for pooled in timeline.blocking_threads.iter().filter(|_| !is_tasks) {
            let (thread, started_ns) = (pooled.thread, number(pooled.started_ns));
            let stopped_ns = pooled.stopped_ns.map_or_else(|| "null".to_owned(), number);
            self.add(List::BlockingThreads, format_args!("[{thread},{started_ns},{stopped_ns}]"));
            self.write_if_full(text)?;
        }
        for worker in timeline.workers.iter().filter(|_| !is_tasks) {
            self.add(List::Parks, number(worker.parks));
            self.write_if_full(text)?;
        }
        if is_tasks {
            self.causes(timeline, text)?;
            let mut indices = Indices::default();
            self.samples(timeline, &mut indices, text)?;
            self.profile(timeline, text)?;
            self.waits(timeline, &mut indices, text)?;
            self.unnamed(timeline, &mut indices, text)?;
            self.tasks(timeline, text)?;
        }
        self.sums(timeline, is_tasks, text)
    }

    /// A task is spawned by `parent`.
    pub(super) fn parent(&mut self, parent: Option<TaskKey>) {
        if let Some((parent, count)) = self.parent_run.push(parent) {
            self.add_parents(parent, count);
        }
    }

    /// A datum was written. Where it was written as 1 ns after the one before, that was `apart_ns`
    /// before.
    #[inline]
    pub(super) fn datum(&mut self, apart_ns: u64) {
        if apart_ns > 0 {
            let (datum, apart_ns) = (self.data, apart_ns.min(MOST_APART));
            self.add(List::Apart, format_args!("[{datum},{apart_ns}]"));
        }
        self.data += 1;
    }

    /// The datum was the start of this poll.
    #[inline]
    pub(super) fn poll(&mut self, poll: &Poll) {
        let index = self.ran_on(poll.thread(), poll.worker());
        if let Some((index, count)) = self.poll_run.push(index) {
            self.add(List::Polls, format_args!("{index},{count}"));
        }
        if poll.cuts() > 0 {
            let (poll, cuts) = (self.polls, poll.cuts());
            self.add(List::Cut, format_args!("[{poll},{cuts}]"));
        }
        self.polls += 1;
    }

    #[inline]
    fn ran_on(&mut self, thread: u32, worker: Option<u32>) -> u64 {
        let key = u64::from(thread) << 32 | worker.map_or(0, |worker| u64::from(worker) + 1);
        if let Some((_, index)) = self.last_ran_on.filter(|&(last, _)| last == key) {
            return index;
        }
        let next = self.ran_on.len() as u64;
        let index = *self.ran_on.entry(key).or_insert(next);
        if index == next {
            let worker = worker.map_or_else(|| "null".to_owned(), |worker| worker.to_string());
            self.add(List::RanOn, format_args!("[{thread},{worker}]"));
        }
        self.last_ran_on = Some((key, index));
        index
    }

    fn add_parents(&mut self, parent: Option<TaskKey>, count: u64) {
        let parent = key(parent);
        self.add(List::Parents, format_args!("[{parent},{count}]"));
    }

    pub(super) fn add(&mut self, list: List, entry: impl Display) {
        let list = &mut self.lists[list as usize];
        let before = list.len();
        if before > 0 {
            list.push(',');
        }
        // Writing to a string does not fail.
        let _ = write!(list, "{entry}");
        self.bytes += list.len() - before;
    }

    /// Writes a part if there is much to say.
    #[inline]
    pub(super) fn write_if_full(&mut self, text: &mut Text<'_>) -> io::Result<()> {
        if self.bytes < PART_BYTES { Ok(()) } else { self.write(text) }
    }

    /// Writes a part if there is anything to say.
    pub(super) fn write(&mut self, text: &mut Text<'_>) -> io::Result<()> {
        if let Some((index, count)) = self.poll_run.end() {
            self.add(List::Polls, format_args!("{index},{count}"));
        }
        if let Some((parent, count)) = self.parent_run.end() {
            self.add_parents(parent, count);
        }
        if self.data == 0 && self.bytes == 0 {
            return Ok(());
        }
        self.written += 1;
        write!(text, "{{\"tag\":\"{TAG} {}\",\"state\":{}", self.written, self.state)?;
        if self.data > 0 {
            write!(text, ",\"data\":{}", self.data)?;
        }
        for (name, list) in NAMES.iter().zip(&mut self.lists).filter(|(_, list)| !list.is_empty()) {
            write!(text, ",\"{name}\":[{list}]")?;
            list.clear();
        }
        (self.data, self.polls, self.bytes) = (0, 0, 0);
        text.write_all(b"}\n")
    }
}

/// How often in a row there was the same.
struct RunLength<T>(Option<(T, u64)>);

impl<T> Default for RunLength<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: PartialEq + Copy> RunLength<T> {
    /// There is a next one. Gives what there was before, and how often, if it is another.
    #[inline]
    fn push(&mut self, value: T) -> Option<(T, u64)> {
        match &mut self.0 {
            Some((last, count)) if *last == value => {
                *count += 1;
                None
            }
            run => run.replace((value, 1)),
        }
    }

    fn end(&mut self) -> Option<(T, u64)> {
        self.0.take()
    }
}
