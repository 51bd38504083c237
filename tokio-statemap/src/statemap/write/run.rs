//! Writes the parts of a run's description.

use crate::util::map::Map;
use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};

use super::stream::Text;
use crate::recorder::id_map::IdMap;
use crate::statemap::run::{LARGEST_NUMBER, MOST_APART, TAG};
use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{Poll, StackFrame, TaskKey, Timeline};
use crate::util::json;

/// The number of bytes from which a part is written.
const PART_BYTES: usize = 1 << 17;

/// The functions that were written, with their indices.
pub(super) type Indices<'a> = Map<&'a StackFrame, usize>;

pub(super) fn number(n: u64) -> String {
    if n > LARGEST_NUMBER { format!("\"{n}\"") } else { n.to_string() }
}

/// Formats a task: its id, or the name of a root future.
pub(super) fn key(task: Option<TaskKey>) -> String {
    match task {
        None => "null".to_owned(),
        Some(TaskKey::Spawned(id)) => number(id),
        Some(root) => format!("\"{root}\""),
    }
}

pub(super) fn or_null(value: Option<impl Display>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

/// Formats a location: `[file, line, column]`, or `null`.
pub(super) fn place(location: Option<SpawnLocation>) -> String {
    or_null(location.map(|at| format!("[{},{},{}]", json::string(at.file), at.line, at.column)))
}

macro_rules! lists {
    ($($list:ident: $name:literal)*) => {
        /// The lists of a part, in their order there.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum List {
            $($list),*
        }

        const NAMES: &[&str] = &[$($name),*];
    };
}
lists! {
    Gaps: "gaps"
    Handovers: "handovers"
    BlockingThreads: "blockingThreads"
    Parks: "parks"
    Apart: "apart"
    RanOn: "ranOn"
    Polls: "polls"
    Cut: "cut"
    Parents: "parents"
    Causes: "causes"
    Functions: "functions"
    Samples: "samples"
    Profile: "profile"
    Waits: "waits"
    Chains: "chains"
    Unnamed: "unnamed"
    Names: "names"
    Carried: "carried"
    LocalTasks: "localTasks"
    Calls: "calls"
    RunLocations: "runLocations"
    RunLongest: "runLongest"
    RunStretches: "runStretches"
    RunWorkers: "runWorkers"
    RunStopped: "runStopped"
}

/// The next part.
#[derive(Default)]
pub(super) struct Parts {
    /// The value of the state that the definitions are of.
    state: u8,
    written: u64,
    /// `true` if the names of tasks are left out.
    pub(super) are_names_elsewhere: bool,
    data: u64,
    polls: u64,
    /// The entries of each list, as JSON.
    lists: [String; NAMES.len()],
    bytes: usize,
    /// The index of each thread and worker that polled, and the last one used.
    ran_on: IdMap<u64>,
    last_ran_on: Option<(u64, u64)>,
    poll_run: RunLength<u64>,
    parent_run: RunLength<Option<TaskKey>>,
}

impl Parts {
    pub(super) fn new(state: u8) -> Self {
        Self { state, ..Self::default() }
    }

    /// Adds the lists that aren't about single data.
    pub(super) fn lists(
        &mut self,
        timeline: &Timeline,
        is_tasks: bool,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for &(from_ns, to_ns) in &timeline.gaps {
            self.entry(text, List::Gaps, format_args!("[{},{}]", number(from_ns), number(to_ns)))?;
        }
        for handover in timeline.handovers.iter().filter(|_| is_tasks) {
            let (thread, time_ns) = (handover.thread, number(handover.time_ns));
            self.entry(
                text,
                List::Handovers,
                format_args!("[{thread},{time_ns},{}]", handover.worker),
            )?;
        }
        for pooled in timeline.pool.threads.iter().filter(|_| !is_tasks) {
            let (thread, started_ns) = (pooled.thread, number(pooled.started_ns));
            let stopped_ns = or_null(pooled.stopped_ns.map(number));
            self.entry(
                text,
                List::BlockingThreads,
                format_args!("[{thread},{started_ns},{stopped_ns}]"),
            )?;
        }
        for worker in timeline.workers.iter().filter(|_| !is_tasks) {
            self.entry(text, List::Parks, number(worker.parks))?;
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

    /// Records that a task was spawned by `parent`.
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
            let worker = or_null(worker);
            self.add(List::RanOn, format_args!("[{thread},{worker}]"));
        }
        self.last_ran_on = Some((key, index));
        index
    }

    fn add_parents(&mut self, parent: Option<TaskKey>, count: u64) {
        let parent = key(parent);
        self.add(List::Parents, format_args!("[{parent},{count}]"));
    }

    /// Adds an entry, and writes a part if it is large.
    pub(super) fn entry(
        &mut self,
        text: &mut Text<'_>,
        list: List,
        entry: impl Display,
    ) -> io::Result<()> {
        self.add(list, entry);
        self.write_if_full(text)
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

    /// Writes a part if it is large.
    #[inline]
    pub(super) fn write_if_full(&mut self, text: &mut Text<'_>) -> io::Result<()> {
        if self.bytes < PART_BYTES { Ok(()) } else { self.write(text) }
    }

    /// Writes a part unless it is empty.
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

/// A run of equal values.
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
