//! Finds the critical path of a program, from its end back through each wait to the task that ended the wait.

use std::fmt;

use super::blame::Blame;
use super::place::{Place, bare_name};
use super::resumed::own_functions;
use super::spelling::Spelling;
use super::statement::{function_name, place_name, tasks_origin};
use super::waits::place_label;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Poll, Task, TaskKey, Timeline, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{human, percent, share};

/// The critical path of a task, such as `main`: the stretches of time on which its length depended.
///
/// It is a way back from the task's end. Where a task was polled, or was ready and waited for a worker, the way stays with it.
/// Where a task waited and another one woke it, the way goes on with that one, at the moment of the wake. Where the runtime, a
/// blocking task, or a thread woke it, the wait itself is a part of the way. So each moment is on the way once, and had a part
/// been shorter, the task would have ended sooner, unless another way had then been the longest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CriticalPath {
    /// The task that it leads to.
    pub task: TaskKey,
    /// The time at which that task ended, in ns.
    pub end_ns: u64,
    /// The length, in ns. It is the sum of the parts.
    pub length_ns: u64,
    /// The number of tasks on the way.
    pub tasks: u64,
    /// The parts, those with the most time first.
    pub parts: Vec<PathPart>,
}

/// The time on a critical path that was spent in one way at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathPart {
    /// The state of the tasks.
    pub state: PathState,
    /// For [`Running`](PathState::Running) the function that was sampled, or else the outermost one that the task was in. For
    /// [`Ready`](PathState::Ready) the innermost one that it waited in. For [`Waiting`](PathState::Waiting) the line at which the
    /// task waited. Where none is known, it is where the task was spawned.
    pub place: String,
    /// The place where the tasks were spawned, if no more is known.
    pub spawned: Option<Place>,
    /// The number of times that the path led through it.
    pub times: u64,
    /// The time, in ns.
    pub total_ns: u64,
    /// The longest stretch of it, in ns: its task, and its start.
    pub longest_ns: u64,
    /// The task of the longest stretch.
    pub longest_task: TaskKey,
    /// `true` if all of it was spent in that task.
    pub is_of_one_task: bool,
    /// The start of the longest stretch, in ns.
    pub longest_start_ns: u64,
}

/// The state of a task on a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PathState {
    /// It was polled.
    Running,
    /// It was ready, and no worker polled it yet.
    Ready,
    /// It waited, and the runtime, a blocking task, or a thread woke it, or it isn't known who did.
    Waiting,
    /// Its state isn't known. Older events were dropped, or recording was stopped. It may also not be known who spawned the task,
    /// or the path has more than 200 000 polls.
    Unknown,
}

impl PathState {
    /// Returns the name: `running`, `ready`, `waiting` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for PathState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PathPart {
    /// Says what the tasks did. `None` if it isn't known.
    fn said(&self) -> Option<String> {
        let task = match self.is_of_one_task {
            true => self.longest_task.to_string(),
            false => "tasks".to_owned(),
        };
        let (was, at) = match self.state {
            PathState::Running => ("ran", "in"),
            PathState::Ready if self.is_of_one_task => ("was ready to run", "in"),
            PathState::Ready => ("were ready to run", "in"),
            PathState::Waiting => ("waited", "at"),
            PathState::Unknown => return None,
        };
        Some(match self.spawned {
            None => format!("{task} {was} {at} {}", clean(&self.place)),
            Some(place) => match tasks_origin(place) {
                Some(origin) => format!("{task} {origin} {was}"),
                None => format!("{task} {was}"),
            },
        })
    }
}

/// The least share of the length that a part must have to be named.
const NAMED: f64 = 0.2;

/// A stretch of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    /// The task, as an index into those that were seen.
    task: usize,
    /// The poll that it is, or is before, or is after as the task waits; `None` if it waits before its first poll.
    poll: Option<usize>,
    state: PathState,
    start_ns: u64,
    end_ns: u64,
}

/// The most polls in a row without any time. Clocks of threads differ a little, so tasks may seem to wake each other at one moment.
const MOST_AT_ONCE: usize = 16;

/// The most polls on the way. Before these it isn't followed.
const MOST_POLLS: usize = 200_000;

impl CriticalPath {
    /// Finds that of the root future that lived longest, if it has ended. `None` if its length depended on no other task, or
    /// if most of the way isn't known.
    pub(super) fn find(timeline: &Timeline, spelling: &Spelling) -> Option<Self> {
        let mut longest: Option<(u64, usize)> = None;
        for (index, task) in timeline.tasks.seen().iter().enumerate() {
            let end_ns = task.terminated_ns.unwrap_or(timeline.end_ns);
            let length_ns = end_ns.saturating_sub(task.first_ns);
            let is_root = matches!(task.key, TaskKey::Root(_));
            if is_root && longest.is_none_or(|(most_ns, _)| length_ns > most_ns) {
                longest = Some((length_ns, index));
            }
        }
        let (_, index) = longest?;
        timeline.tasks.seen()[index].terminated_ns?;
        let path = Self::of_task(timeline, spelling, index)?;
        let is_unknown = |part: &&PathPart| part.state == PathState::Unknown;
        let unknown_ns: u64 = path.parts.iter().filter(is_unknown).map(|part| part.total_ns).sum();
        (path.tasks > 1 && unknown_ns <= path.length_ns / 2).then_some(path)
    }

    /// Returns a sentence about the parts that took most, a fifth of the length or more each. `None` if there is no such part, if one of
    /// them isn't known, or if the longest is a wait of the task itself, such as for a signal.
    pub(super) fn sentence(&self) -> Option<String> {
        let mut said = String::new();
        for part in &self.parts {
            let part_share = share(part.total_ns, self.length_ns).unwrap_or_default();
            if part_share < NAMED {
                break;
            }
            said += if said.is_empty() { ": " } else { "; " };
            said += &format!("{} ({}) {}", human(part.total_ns), percent(part_share), part.said()?);
        }
        let first = self.parts.first().filter(|_| !said.is_empty())?;
        let is_own_wait = first.state == PathState::Waiting && first.is_of_one_task;
        (!is_own_wait || first.longest_task != self.task).then(|| {
            format!("The critical path of {}, {}{said}.", self.task, human(self.length_ns))
        })
    }

    /// Finds that of the task at this index.
    fn of_task(timeline: &Timeline, spelling: &Spelling, index: usize) -> Option<Self> {
        let task = &timeline.tasks.seen()[index];
        let mut sums = Sums::new(timeline, spelling);
        let end_ns = steps(timeline, index, &mut |step| sums.add(step))?;
        let (tasks, parts) = sums.into_parts();
        let length_ns = parts.iter().map(|part| part.total_ns).sum();
        Some(Self { task: task.key, end_ns, length_ns, tasks, parts })
    }
}

/// Calls `each` with the steps of the way to the end of a task, the last one first. Returns the time of that end, in ns; `None` if
/// the task wasn't polled.
fn steps(timeline: &Timeline, index: usize, each: &mut dyn FnMut(Step)) -> Option<u64> {
    let tasks = timeline.tasks.seen();
    let (mut task, mut poll) = (index, tasks[index].polls.len().checked_sub(1)?);
    let last_end_ns = tasks[task].polls[poll].end_ns().unwrap_or(timeline.end_ns);
    let begin_ns = tasks[task].first_ns;
    let mut now_ns = last_end_ns;
    let mut at_once = 0;
    // Times never go forward, whatever the clocks say.
    let mut go_back = |task, poll, state, to_ns: u64, now_ns: &mut u64| {
        let start_ns = to_ns.max(begin_ns).min(*now_ns);
        let went = start_ns < *now_ns;
        if went {
            each(Step { task, poll, state, start_ns, end_ns: *now_ns });
        }
        *now_ns = start_ns;
        went
    };
    for _ in 0..MOST_POLLS {
        if now_ns <= begin_ns {
            break;
        }
        let of_task = &tasks[task];
        let this = &of_task.polls[poll];
        let mut went = go_back(task, Some(poll), PathState::Running, this.start_ns(), &mut now_ns);
        let woken = Woken::find(timeline, of_task, poll);
        let ready_ns = woken.at_ns.unwrap_or(this.start_ns());
        went |= go_back(task, Some(poll), PathState::Ready, ready_ns, &mut now_ns);
        at_once = if went { 0 } else { at_once + 1 };
        let before = poll.checked_sub(1);
        let since_ns = match before {
            Some(before) => of_task.polls[before].end_ns().unwrap_or(now_ns),
            None => of_task.first_ns,
        };
        let is_in_gap = timeline.gap_between(since_ns, now_ns).is_some();
        // A task that woke itself did so in the poll before. By the clocks it may be this one.
        let is_by_itself = woken.by == Some(of_task.key);
        let waker = match before {
            Some(before) if is_by_itself => (!is_in_gap).then_some((task, before)),
            _ => woken.poll(tasks, this).filter(|_| at_once < MOST_AT_ONCE),
        };
        if let Some((by, at)) = waker {
            (task, poll) = (by, at);
            continue;
        }
        if before.is_none() && of_task.first_state != TaskState::Waiting {
            // Its beginning isn't known, or who spawned it.
            break;
        }
        let state = if is_in_gap { PathState::Unknown } else { PathState::Waiting };
        go_back(task, before, state, since_ns, &mut now_ns);
        let Some(before) = before else { break };
        poll = before;
    }
    go_back(task, Some(poll), PathState::Unknown, begin_ns, &mut now_ns);
    Some(last_end_ns)
}

/// The time at which a task became ready for a poll, and the task that woke or spawned it, as far as they are known.
struct Woken {
    at_ns: Option<u64>,
    by: Option<TaskKey>,
}

impl Woken {
    fn find(timeline: &Timeline, task: &Task, nth: usize) -> Self {
        let poll = &task.polls[nth];
        // A task that was spawned is ready for its first poll, and data doesn't say so once more. Where records were dropped, this may
        // be a later poll.
        let is_first = nth == 0 && task.first_state == TaskState::Spawned;
        if is_first && timeline.gap_between(task.first_ns, poll.start_ns()).is_none() {
            let by = task.parent.filter(|_| task.spawned_ns.is_some());
            return Self { at_ns: Some(task.first_ns), by };
        }
        let by = match poll.woken_by() {
            Some(WokenBy::Task(by)) => Some(by),
            _ => None,
        };
        Self { at_ns: poll.ready_ns(), by }
    }

    /// Returns that task, and the poll in which it woke the one of `poll`, as indices.
    fn poll(&self, tasks: &[Task], poll: &Poll) -> Option<(usize, usize)> {
        let by = self.by?;
        let task = tasks.binary_search_by_key(&by, |task| task.key).ok()?;
        Some((task, poll.ready(self.at_ns).woken_in(&tasks[task].polls)?))
    }
}

/// The words for a wait.
#[derive(Clone)]
struct OfWait {
    lines: String,
    /// The program's functions that wait there, if there are any: the innermost, and the outermost.
    functions: Option<[String; 2]>,
}

/// The place of a step. If no more is known than where the task was spawned, that is there, too.
type Spot = (String, Option<Place>);

/// The parts of a way while they are summed up.
struct Sums<'t> {
    timeline: &'t Timeline,
    spelling: &'t Spelling,
    on_way: Vec<bool>,
    /// By the index of a wait, as soon as it was asked for.
    of_waits: Vec<Option<OfWait>>,
    parts: Map<(PathState, Spot), PathPart>,
}

impl<'t> Sums<'t> {
    fn new(timeline: &'t Timeline, spelling: &'t Spelling) -> Self {
        Self {
            timeline,
            spelling,
            on_way: vec![false; timeline.tasks.seen().len()],
            of_waits: vec![None; timeline.places.waits.len()],
            parts: Map::default(),
        }
    }

    fn add(&mut self, step: Step) {
        self.on_way[step.task] = true;
        let (state, place) = (step.state, self.place(step));
        let task = self.timeline.tasks.seen()[step.task].key;
        let part = self.parts.get_or_insert_with((state, place), || PathPart {
            state,
            place: String::new(),
            spawned: None,
            times: 0,
            total_ns: 0,
            longest_ns: 0,
            longest_task: task,
            is_of_one_task: true,
            longest_start_ns: 0,
        });
        part.is_of_one_task &= part.longest_task == task;
        let length_ns = step.end_ns - step.start_ns;
        part.times += 1;
        part.total_ns += length_ns;
        if length_ns > part.longest_ns {
            part.longest_ns = length_ns;
            (part.longest_task, part.longest_start_ns) = (task, step.start_ns);
        }
    }

    /// Returns the place of a step.
    fn place(&mut self, step: Step) -> Spot {
        let timeline = self.timeline;
        let task = &timeline.tasks.seen()[step.task];
        let wait_after = |poll: Option<usize>| match poll {
            Some(poll) => task.polls[poll].wait(),
            None => task.carried_wait.and_then(|carried| carried.wait),
        };
        match (step.state, step.poll) {
            (PathState::Unknown, _) => return (String::new(), None),
            (PathState::Waiting, after) => {
                if let Some(of_wait) = self.of_wait(wait_after(after)) {
                    return (of_wait.lines.clone(), None);
                }
            }
            (state, Some(nth)) => {
                let poll = &task.polls[nth];
                if state == PathState::Running && !timeline.samples(poll).is_empty() {
                    let blame = Blame::from_samples(timeline, poll);
                    if let Some(frame) = blame.and_then(Blame::place) {
                        return (function_name(&frame), None);
                    }
                }
                // It is in the function that it waited in before, or waits in afterwards. While it runs, that is known of the
                // outermost alone: the inner ones may have returned.
                for wait in [wait_after(nth.checked_sub(1)), poll.wait()] {
                    let of_wait = self.of_wait(wait);
                    if let Some(functions) = of_wait.and_then(|of_wait| of_wait.functions.as_ref())
                    {
                        let [innermost, outermost] = functions;
                        let is_running = state == PathState::Running;
                        return (if is_running { outermost } else { innermost }.clone(), None);
                    }
                }
            }
            (_, None) => {}
        }
        let spawned = self.spelling.place(task);
        (place_name(spawned), Some(spawned))
    }

    /// Returns the words for a wait, if its place is known.
    fn of_wait(&mut self, wait: Option<WaitId>) -> Option<&OfWait> {
        let (id, timeline) = (wait?, self.timeline);
        let wait = timeline.wait(id)?;
        let of_wait = self.of_waits.get_mut(id.index())?;
        Some(of_wait.get_or_insert_with(|| {
            let functions = match own_functions(wait)[..] {
                [] => None,
                [only] => Some([only, only]),
                [outermost, .., innermost] => Some([innermost, outermost]),
            };
            OfWait {
                lines: place_label(wait),
                functions: functions.map(|both| both.map(bare_name)),
            }
        }))
    }

    /// Returns the number of tasks on the way, and the parts.
    fn into_parts(self) -> (u64, Vec<PathPart>) {
        let mut parts = Vec::new();
        for ((_, (place, spawned)), part) in self.parts {
            parts.push(PathPart { place, spawned, ..part });
        }
        crate::util::sort::by(&mut parts, |a, b| {
            (b.total_ns.cmp(&a.total_ns))
                .then_with(|| (a.state, &a.place).cmp(&(b.state, &b.place)))
        });
        (self.on_way.iter().map(|&on_way| u64::from(on_way)).sum(), parts)
    }
}

#[cfg(test)]
mod tests;
