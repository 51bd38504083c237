//! A blocking pool without a free thread, on which tasks waited.

use std::cmp::Reverse;

use super::Facts;
use super::evidence::{Evidence, Explanation, Finding};
use super::meanwhile::Meanwhile;
use crate::analysis::blame::blamed_for_blocking;
use crate::analysis::blocking_cause::BlockingCause;
use crate::analysis::place::Place;
use crate::analysis::statement::{Statement, function_name, tasks_origin};
use crate::analysis::waits::place_label;
use crate::trace::timeline::{AwaitFrame, ExhaustedPool, StackFrame, Timeline, Wait};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{count, human};

/// Tasks that waited for a thread of the blocking pool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PoolShortage {
    /// The waits, and the tasks that occupied the pool.
    pub pool: ExhaustedPool,
    /// The place where most of the tasks that occupied the threads were spawned.
    pub place: Place,
    /// The line at which tasks waited longest for its threads in sum: `src/shop.rs:17, lookup_host`; `None` if that
    /// isn't known.
    pub at: Option<String>,
    /// The functions in which threads of the pool were blocked at the end.
    blocked: BlockedThreads,
    meanwhile: Meanwhile,
}

/// The functions that threads of the pool were blocked in at the end, as far as these were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct BlockedThreads {
    /// The number of threads that were looked at.
    of: u64,
    /// The functions in which most of them were, what each did, and the number of threads.
    functions: Vec<(StackFrame, BlockingCause, u64)>,
}

/// The most functions that are named. A thread that holds the lock for which the others wait is in the second.
const MOST_FUNCTIONS: usize = 2;

impl BlockedThreads {
    /// Looks at the samples that were taken at the end, of threads that are no workers and polled nothing.
    fn find(timeline: &Timeline) -> Self {
        let mut seen: Map<(StackFrame, BlockingCause), u64> = Map::default();
        let (mut found, mut blocked) = (Self::default(), 0);
        for sample in &timeline.long_polls.beside {
            if [sample.at_ns, sample.poll_start_ns] != [timeline.end_ns; 2] {
                continue;
            }
            found.of += 1;
            let blames = sample.blocked_in.as_ref().and_then(|_| blamed_for_blocking(sample));
            if let Some((function, cause)) = blames {
                *seen.get_or_default((function.clone(), cause)) += 1;
                blocked += 1;
            }
        }
        // If most of them run, those that are blocked aren't the reason.
        if blocked <= found.of / 2 {
            return Self::default();
        }
        for ((function, cause), threads) in seen {
            found.functions.push((function, cause, threads));
        }
        crate::util::sort::by_key(&mut found.functions, |(.., threads)| Reverse(*threads));
        found.functions.truncate(MOST_FUNCTIONS);
        found
    }

    fn sentence(&self) -> Option<String> {
        let in_function = |(function, cause, threads): &(StackFrame, BlockingCause, u64)| {
            let were = if *threads == 1 { "was" } else { "were" };
            format!("{threads} {were} in {} and {cause}", function_name(function))
        };
        let all: Vec<_> = self.functions.iter().map(in_function).collect();
        let of = self.of;
        (!all.is_empty()).then(|| match of {
            1 => format!("At the end, of its threads {}.", all.join(", and ")),
            _ => format!("At the end, of {of} of its threads, {}.", all.join(", and ")),
        })
    }
}

pub(super) fn find(
    timeline: &Timeline,
    facts: &Facts<'_>,
    has_long_polls: bool,
) -> Option<PoolShortage> {
    // The times when the pool was exhausted are not known, so nothing can be said about a part of a recording.
    if facts.recording.lacking.time {
        return None;
    }
    let pool = timeline.pool.exhausted?;
    Some(PoolShortage {
        pool,
        place: facts.spelling.spell(Place::new(pool.location, false)),
        at: waits_for_blocking_tasks(timeline),
        blocked: BlockedThreads::find(timeline),
        meanwhile: Meanwhile::new(facts, has_long_polls),
    })
}

/// Returns where tasks waited longest in sum for blocking tasks.
pub(super) fn waits_for_blocking_tasks(timeline: &Timeline) -> Option<String> {
    let mut by_wait = vec![0_u128; timeline.places.waits.len()];
    for task in timeline.tasks.seen() {
        for pair in task.polls.windows(2) {
            let [before, after] = pair else { continue };
            let (Some(wait), Some(WokenBy::BlockingTask)) = (before.wait(), after.woken_by())
            else {
                continue;
            };
            let (from_ns, to_ns) = (before.end_ns().unwrap_or(u64::MAX), after.ready_ns());
            let waited_ns = to_ns.unwrap_or_default().saturating_sub(from_ns);
            if let Some(sum_ns) = by_wait.get_mut(wait.index()) {
                *sum_ns += u128::from(waited_ns);
            }
        }
    }
    let mut longest: Option<(&Wait, u128)> = None;
    for (id, wait) in timeline.all_waits() {
        let waited_ns = by_wait[id.index()];
        // A blocking task may send something as well.
        if waited_ns > longest.map_or(0, |(_, most_ns)| most_ns) && is_for_a_thread(wait) {
            longest = Some((wait, waited_ns));
        }
    }
    longest.map(|(wait, _)| place_label(wait))
}

/// Returns whether a wait is for the end of a blocking task.
fn is_for_a_thread(wait: &Wait) -> bool {
    const NAMES: [&str; 3] = ["tokio::runtime::task::join::", "tokio::fs::", "tokio::net::"];
    let is_one =
        |frame: &AwaitFrame| NAMES.iter().any(|name| frame.function.function.contains(name));
    let mut at = wait.frames.first();
    while let Some(frame) = at {
        if is_one(frame) {
            return true;
        }
        at = frame.awaits.first();
    }
    false
}

impl Finding for PoolShortage {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "blocking pool",
            noun: "task",
            meaning: "All threads of the blocking pool were in use, and tasks waited.",
            advice: "Raise max_blocking_threads, or limit what is spawned there; run computations on a pool of their own.",
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            place: (self.pool.tasks > 0).then_some(self.place),
            number: self.pool.most_waiting,
            total_ns: self.pool.waited_ns,
            ..Evidence::default()
        }
    }

    fn statement(&self) -> Statement {
        let mut said = pool_statement(&self.pool, self.place);
        if let Some(at) = &self.at {
            said.add(format!("Tasks waited for it longest at {}.", clean(at)));
        }
        said.add(self.blocked.sentence().unwrap_or_default());
        said.add(self.meanwhile.to_string());
        said
    }
}

/// Returns how tasks waited for the blocking pool, and which tasks occupied it.
pub(in crate::analysis) fn pool_statement(pool: &ExhaustedPool, place: Place) -> Statement {
    let threads = match pool.threads {
        1 => "its only thread".to_owned(),
        n => format!("its {n} threads"),
    };
    let mut said = Statement::new(format!(
        "The blocking pool was exhausted: up to {} at once waited for {threads}, for {} in sum, and each for up to {}.",
        count(pool.most_waiting, "blocking task"),
        human(pool.waited_ns),
        human(pool.longest_ns),
    ));
    if pool.tasks == 0 {
        said.add("No task occupying a pool thread finished during the recording.");
        return said;
    }
    let mut tasks = count(pool.tasks, "task");
    if let Some(origin) = tasks_origin(place) {
        tasks = format!("{tasks} {origin}");
    }
    let each = match (human(pool.ran_ns / pool.tasks), pool.tasks) {
        (time, 1) => time,
        (time, _) => format!("{time} each on average"),
    };
    said.add(match pool.other_locations {
        0 => format!("Meanwhile the pool ran {tasks}, for {each}."),
        _ => format!("Meanwhile {tasks} occupied its threads longest, for {each}."),
    });
    said
}
