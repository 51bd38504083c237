//! Writes the parts of a run's description.

use std::fmt::Write as _;
use std::io;

use super::stream::Text;
use crate::recorder::id_map::IdMap;
use crate::statemap::run::{BLOCKING, LARGEST_NUMBER, MOST_APART, RUNTIME, TAG, THREAD};
use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{Poll, StackFrame, TaskKey, Timeline};
use crate::trace::woken_by::WokenBy;
use crate::util::json::Json;
use crate::util::map::Map;

/// The least number of bytes with which a part is written.
const PART_BYTES: usize = 1 << 17;

/// The functions that were written, with their indices.
pub(super) type Indices<'a> = Map<&'a StackFrame, usize>;

/// A number of any size.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) u64);

impl Json for Number {
    fn write(&self, to: &mut String) {
        match self.0 > LARGEST_NUMBER {
            true => self.0.to_string().write(to),
            false => self.0.write(to),
        }
    }
}

/// A task is its id, or the name of a root future.
impl Json for TaskKey {
    fn write(&self, to: &mut String) {
        match self {
            Self::Spawned(id) => Number(*id).write(to),
            root => root.to_string().write(to),
        }
    }
}

/// A task is written as above, and the others as words.
impl Json for WokenBy {
    fn write(&self, to: &mut String) {
        match self {
            Self::Task(task) => task.write(to),
            Self::Runtime => RUNTIME.write(to),
            Self::BlockingTask => BLOCKING.write(to),
            Self::Thread => THREAD.write(to),
        }
    }
}

/// A location is `[file, line, column]`.
impl Json for SpawnLocation {
    fn write(&self, to: &mut String) {
        (self.file, self.line, self.column).write(to);
    }
}

macro_rules! lists {
    ($($(#[$attribute:meta])* $list:ident: $name:literal)*) => {
        /// The lists of a part, in their order in it.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum List {
            $($(#[$attribute])* $list),*
        }

        const NAMES: &[&str] = &[$($(#[$attribute])* $name),*];
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
    WokenBy: "wokenBy"
    Cut: "cut"
    Parents: "parents"
    Causes: "causes"
    Functions: "functions"
    Samples: "samples"
    Beside: "beside"
    Cpu: "cpu"
    Profile: "profile"
    #[cfg(has_requests)]
    Requests: "requests"
    #[cfg(has_requests)]
    RequestSpans: "requestSpans"
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
pub(super) struct Parts {
    /// The value of the state to which the definitions belong.
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
    woken_run: RunLength<Option<WokenBy>>,
    parent_run: RunLength<Option<TaskKey>>,
}

impl Parts {
    pub(super) fn new(state: u8) -> Self {
        Self {
            state,
            written: 0,
            are_names_elsewhere: false,
            data: 0,
            polls: 0,
            lists: [const { String::new() }; NAMES.len()],
            bytes: 0,
            ran_on: IdMap::default(),
            last_ran_on: None,
            poll_run: RunLength(None),
            woken_run: RunLength(None),
            parent_run: RunLength(None),
        }
    }

    /// Adds the lists that aren't about single data.
    pub(super) fn lists(
        &mut self,
        timeline: &Timeline,
        is_tasks: bool,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for &(from_ns, to_ns) in &timeline.gaps {
            self.entry(text, List::Gaps, &[&Number(from_ns), &Number(to_ns)])?;
        }
        if is_tasks {
            for of in &timeline.handovers {
                let time_ns = Number(of.time_ns);
                self.entry(text, List::Handovers, &[&of.thread, &time_ns, &of.worker])?;
            }
            self.causes(timeline, text)?;
            let mut indices = Indices::default();
            let long_polls = &timeline.long_polls;
            self.samples(List::Samples, &long_polls.samples, &mut indices, text)?;
            self.samples(List::Beside, &long_polls.beside, &mut indices, text)?;
            self.cpu(timeline, &mut indices, text)?;
            self.profile(timeline, text)?;
            #[cfg(has_requests)]
            self.requests(&timeline.requests, text)?;
            self.waits(timeline, &mut indices, text)?;
            self.unnamed(timeline, &mut indices, text)?;
            self.tasks(timeline, text)?;
        } else {
            for of in &timeline.pool.threads {
                let (started_ns, stopped_ns) = (Number(of.started_ns), of.stopped_ns.map(Number));
                self.entry(text, List::BlockingThreads, &[&of.thread, &started_ns, &stopped_ns])?;
            }
            for worker in &timeline.workers {
                self.push(List::Parks, &Number(worker.parks));
                self.write_if_full(text)?;
            }
        }
        self.sums(timeline, is_tasks, text)
    }

    /// Records that a task was spawned by `parent`.
    pub(super) fn parent(&mut self, parent: Option<TaskKey>) {
        if let Some((parent, count)) = self.parent_run.push(parent) {
            self.add(List::Parents, &[&parent, &count]);
        }
    }

    /// Records that a datum was written. If it was written 1 ns after the previous one, `apart_ns` is the real
    /// distance.
    #[inline]
    pub(super) fn datum(&mut self, apart_ns: u64) {
        if apart_ns > 0 {
            let (datum, apart_ns) = (self.data, apart_ns.min(MOST_APART));
            self.add(List::Apart, &[&datum, &apart_ns]);
        }
        self.data += 1;
    }

    /// Records that the datum was the start of this poll.
    #[inline]
    pub(super) fn poll(&mut self, poll: &Poll) {
        let index = self.ran_on(poll.thread(), poll.worker());
        if let Some((index, count)) = self.poll_run.push(index) {
            self.push(List::Polls, &index);
            self.push(List::Polls, &count);
        }
        if let Some((by, count)) = self.woken_run.push(poll.woken_by()) {
            self.add(List::WokenBy, &[&by, &count]);
        }
        if poll.cuts() > 0 {
            let (nth, cuts) = (self.polls, u32::from(poll.cuts()));
            self.add(List::Cut, &[&nth, &cuts]);
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
            self.add(List::RanOn, &[&thread, &worker]);
        }
        self.last_ran_on = Some((key, index));
        index
    }

    /// Adds an entry, and writes a part if it is large.
    #[inline(never)]
    pub(super) fn entry(
        &mut self,
        text: &mut Text<'_>,
        list: List,
        entry: &[&dyn Json],
    ) -> io::Result<()> {
        self.add(list, entry);
        self.write_if_full(text)
    }

    /// Adds an entry that is an array.
    #[inline(never)]
    pub(super) fn add(&mut self, list: List, entry: &[&dyn Json]) {
        self.push(list, &entry);
    }

    #[inline(never)]
    fn push(&mut self, list: List, entry: &dyn Json) {
        let list = &mut self.lists[list as usize];
        let before = list.len();
        if before > 0 {
            list.push(',');
        }
        entry.write(list);
        self.bytes += list.len() - before;
    }

    fn is_empty(&self, list: List) -> bool {
        self.lists[list as usize].is_empty()
    }

    /// Writes a part if it is large.
    #[inline]
    pub(super) fn write_if_full(&mut self, text: &mut Text<'_>) -> io::Result<()> {
        if self.bytes < PART_BYTES { Ok(()) } else { self.write(text) }
    }

    /// Writes a part unless it is empty.
    pub(super) fn write(&mut self, text: &mut Text<'_>) -> io::Result<()> {
        if let Some((index, count)) = self.poll_run.end() {
            self.push(List::Polls, &index);
            self.push(List::Polls, &count);
        }
        // If it isn't known for any poll, there is no list.
        let woken = self.woken_run.end();
        if let Some((by, count)) =
            woken.filter(|(by, _)| by.is_some() || !self.is_empty(List::WokenBy))
        {
            self.add(List::WokenBy, &[&by, &count]);
        }
        if let Some((parent, count)) = self.parent_run.end() {
            self.add(List::Parents, &[&parent, &count]);
        }
        if self.data == 0 && self.bytes == 0 {
            return Ok(());
        }
        self.written += 1;
        let mut part = format!("{{\"tag\":\"{TAG} {}\",\"state\":{}", self.written, self.state);
        // Writing to a string does not fail.
        if self.data > 0 {
            let _ = write!(part, ",\"data\":{}", self.data);
        }
        for (list, name) in NAMES.iter().enumerate() {
            let list = &mut self.lists[list];
            if !list.is_empty() {
                let _ = write!(part, ",\"{name}\":[{list}]");
                list.clear();
            }
        }
        (self.data, self.polls, self.bytes) = (0, 0, 0);
        part.push_str("}\n");
        text.write(part.as_bytes())
    }
}

/// A run of equal values.
struct RunLength<T>(Option<(T, u64)>);

impl<T: PartialEq + Copy> RunLength<T> {
    /// Adds the next value. If it differs from the previous ones, returns these and their number.
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
