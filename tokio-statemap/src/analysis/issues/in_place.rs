//! Polls that went on in `block_in_place`. The worker was handed over, but everything else that the same task awaits
//! was delayed.

use std::fmt;

use super::evidence::{Evidence, Explanation, Finding};
use crate::analysis::blame::{Blame, Callers, Function, Weights, dominant_callers};
use crate::analysis::blocking_cause::BlockingCause;
use crate::analysis::lengths::Lengths;
use crate::analysis::place::Place;
use crate::analysis::spelling::Spelling;
use crate::analysis::spots::{Spot, Spots};
use crate::analysis::statement::{Statement, called_from, function_name, place_name};
use crate::analysis::waits::{label, line_of};
use crate::trace::timeline::{FrameOrigin, StackFrame, Task, Timeline, Wait};
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{count, human};

/// A function that `block_in_place` called, in polls of tasks that awaited several things at once.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InPlace {
    /// The function: the program's own innermost one.
    pub frame: StackFrame,
    /// The words for what it did: see [`Culprit::blocking_cause`](crate::report::Culprit::blocking_cause).
    pub blocking_cause: String,
    /// The place where most of the tasks were spawned, by the time that their polls went on.
    pub place: Place,
    /// The number of polls.
    pub polls: u64,
    /// The time that they went on after the worker was handed over, in ns.
    pub total_ns: u64,
    /// The longest such time, in ns.
    pub longest_ns: u64,
    /// The task also awaits this.
    pub besides: Besides,
    /// The lengths of these times.
    pub lengths: Lengths,
    callers: Vec<StackFrame>,
    are_all_callers: bool,
    spots: Vec<Spot>,
}

impl Finding for InPlace {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "block_in_place",
            noun: "poll",
            meaning: "A task that awaits several things at once stood still in block_in_place.",
            advice: "Use spawn_blocking, or spawn a task for what must go on meanwhile.",
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            frame: Some(&self.frame),
            place: Some(self.place),
            number: self.polls,
            total_ns: self.total_ns,
            lengths: Some(&self.lengths),
            spots: &self.spots,
            ..Evidence::default()
        }
    }

    fn statement(&self) -> Statement {
        let most = match self.polls {
            1 => String::new(),
            _ => format!(", {} at most", human(self.longest_ns)),
        };
        let mut said = Statement::new(format!(
            "{} held its own task up: it {} in block_in_place, for {} in {}{most}.",
            function_name(&self.frame),
            self.blocking_cause,
            human(self.total_ns),
            count(self.polls, "poll"),
        ));
        said.add(called_from(&self.callers, self.are_all_callers));
        said.add(format!("Other tasks went on, but {} meanwhile.", self.besides));
        if self.place.location.is_some() {
            said.add(format!("The task was spawned at {}.", place_name(self.place)));
        }
        said
    }
}

/// The part of a task that stands still beside the poll.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Besides {
    /// It also waits at this line: `src/shop.rs:17, Sleep`.
    Line(String),
    /// The poll is in a branch of the `select!` in this function of the program.
    Branches(StackFrame),
}

impl Besides {
    /// Returns whether it is known what the task awaits.
    pub(super) fn is_line(&self) -> bool {
        matches!(self, Self::Line(_))
    }
}

impl fmt::Display for Besides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => {
                write!(f, "what the task also awaits, at {}, was not polled", clean(line))
            }
            Self::Branches(of) => {
                write!(
                    f,
                    "the other branches of the select! in {} were not polled",
                    function_name(of)
                )
            }
        }
    }
}

/// The polls of a function.
#[derive(Default)]
struct Group {
    frames: Weights<StackFrame>,
    causes: Weights<BlockingCause>,
    callers: Callers,
    places: Weights<Place>,
    lengths_ns: Vec<u64>,
    spots: Spots,
    /// The length of a poll, and what its task also awaited: of the longest poll, where those with a known line come first.
    besides: Option<(u64, Besides)>,
}

/// The least time in `block_in_place` that counts, in times of `long_poll`: as for a single poll that is harm by
/// itself.
const LONG_POLLS: u128 = 100;

/// Finds the function that polls spent most time in after the worker was handed over.
pub(super) fn find(timeline: &Timeline, spelling: &Spelling) -> Option<InPlace> {
    let least_ns = timeline.settings.long_poll.as_nanos().saturating_mul(LONG_POLLS);
    let mut groups: Map<Function, Group> = Map::default();
    if timeline.handovers.is_empty() {
        return None;
    }
    for task in timeline.tasks.seen() {
        for (index, poll) in task.polls.iter().enumerate() {
            let Some(from_ns) = timeline.handover_of(poll) else { continue };
            let length_ns = poll.end_ns().unwrap_or(timeline.end_ns).saturating_sub(from_ns);
            if u128::from(length_ns) < least_ns {
                continue;
            }
            let Some(blame) = Blame::from_samples(timeline, poll) else { continue };
            let line = || besides(timeline, task, index).map(Besides::Line);
            let branches = || {
                let last = timeline.samples(poll).last()?;
                select_around(&last.frames).cloned().map(Besides::Branches)
            };
            let Some(besides) = line().or_else(branches) else { continue };
            let group = groups.get_or_default(blame.function);
            group.frames.add_all(blame.frames);
            group.causes.add_all(blame.causes);
            for (of_group, of_poll) in group.callers.iter_mut().zip(blame.callers) {
                of_group.add_all(of_poll);
            }
            group.places.add(spelling.place(task), length_ns);
            let rank = |(length_ns, besides): &(u64, Besides)| (besides.is_line(), *length_ns);
            let found = (length_ns, besides);
            if group.besides.as_ref().map(rank) < Some(rank(&found)) {
                group.besides = Some(found);
            }
            group.lengths_ns.push(length_ns);
            group.spots.add(Spot { task: task.key, start_ns: from_ns, length_ns });
        }
    }
    let mut worst: Option<InPlace> = None;
    for (_, group) in groups {
        let Some(found) = group.finish() else { continue };
        if worst.as_ref().is_none_or(|worst| found.total_ns > worst.total_ns) {
            worst = Some(found);
        }
    }
    worst
}

impl Group {
    fn finish(self) -> Option<InPlace> {
        let (callers, are_all_callers) = dominant_callers(&self.callers, self.frames.sum());
        let mut total_ns: u64 = 0;
        for ns in &self.lengths_ns {
            total_ns = total_ns.saturating_add(*ns);
        }
        Some(InPlace {
            frame: self.frames.heaviest()?.clone(),
            blocking_cause: self.causes.heaviest()?.to_string(),
            place: *self.places.heaviest()?,
            polls: self.spots.n,
            total_ns,
            longest_ns: self.spots.longest_ns,
            besides: self.besides?.1,
            lengths: Lengths::from_ns(self.lengths_ns),
            callers,
            are_all_callers,
            spots: self.spots.longest,
        })
    }
}

/// The most lines of a wait that is looked at.
const MOST_LINES: usize = 64;

/// Names in the paths of functions that poll several futures by turns.
const POLL_SEVERAL: [&str; 8] = [
    "PollFn",
    "poll_fn",
    "FuturesUnordered",
    "FuturesOrdered",
    "JoinAll",
    "join::Join",
    "select::Select",
    "Buffer",
];

/// Returns the program's function that has a `select!`, if one of its branches called `block_in_place`. A `select!` in another crate
/// doesn't count: that of a web server for each connection awaits nothing that the program would miss.
fn select_around(stack: &[StackFrame]) -> Option<&StackFrame> {
    let called = stack.iter().rposition(|frame| {
        frame.origin == FrameOrigin::Runtime && frame.function.contains("block_in_place")
    })?;
    let is_select = |frame: &StackFrame| {
        let file = frame.file.as_deref().unwrap_or_default();
        frame.origin == FrameOrigin::Runtime && file.ends_with("/src/macros/select.rs")
    };
    let select = called + stack[called..].iter().position(is_select)?;
    let of = |frame: &&StackFrame| {
        matches!(frame.origin, FrameOrigin::Program | FrameOrigin::Dependency)
    };
    stack[select..].iter().find(of).filter(|frame| frame.origin == FrameOrigin::Program)
}

/// Returns a line at which the task waited both before and after this poll, besides the one that the poll worked on.
/// `None` if that isn't known.
fn besides(timeline: &Timeline, task: &Task, index: usize) -> Option<String> {
    let poll = task.polls[index];
    let before = timeline.wait_after(task.polls.get(index.checked_sub(1)?)?)?;
    let after = timeline.wait_after(&poll)?;
    let stack = &timeline.samples(&poll).last()?.frames;
    let (before, after) = (others(before, stack), others(after, stack));
    after.into_iter().find(|place| before.contains(place))
}

/// Returns the other lines at which the task also waits, beside the branch that the stack is in. Empty unless functions
/// between the two poll several futures.
fn others(wait: &Wait, stack: &[StackFrame]) -> Vec<String> {
    let mut others = Vec::new();
    let lines = wait.lines();
    if lines.len() > MOST_LINES {
        return others;
    }
    for chain in wait.chains() {
        let place = |frame: &StackFrame| stack.iter().position(|on| on.function == frame.function);
        // The innermost function on the stack that is also in the wait.
        let shared = chain.iter().rposition(|frame| place(frame).is_some());
        let Some((shared, within)) = shared.and_then(|at| Some((at, place(chain[at])?))) else {
            continue;
        };
        let is_elsewhere = shared + 1 < chain.len();
        // The functions called from there, up to the next async function.
        let mut called = stack[..within].iter().rev().take_while(|frame| !frame.is_async());
        let polls_several =
            called.any(|frame| POLL_SEVERAL.iter().any(|name| frame.function.contains(name)));
        if !is_elsewhere || !polls_several {
            continue;
        }
        let line =
            lines.iter().find(|line| chain.iter().any(|frame| std::ptr::eq(*frame, line.at)));
        if let Some(line) = line {
            let (at, awaits) = line_of(*line);
            others.push(label(at, awaits));
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::timeline::AwaitFrame;

    fn function(name: &str, line: u32) -> StackFrame {
        StackFrame {
            function: name.into(),
            file: Some("src/shop.rs".into()),
            line: Some(line),
            origin: FrameOrigin::Program,
        }
    }

    /// A wait in these functions, the outermost first.
    fn wait(functions: &[(&str, u32)]) -> Wait {
        let mut awaits = Vec::new();
        for &(name, line) in functions.iter().rev() {
            awaits =
                vec![AwaitFrame { function: function(name, line), awaits, name: None, call: None }];
        }
        Wait { frames: awaits }
    }

    #[test]
    fn what_is_polled_by_turns_with_the_poll_stands_still() {
        let stack = |names: [&str; 5]| names.map(|name| function(name, 3));
        let selects = stack([
            "shop::import",
            "async shop::job",
            "shop::run",
            "PollFn<F>::poll",
            "async shop::run",
        ]);
        let beats = wait(&[("async shop::run", 30), ("async shop::beat", 21)]);
        assert_eq!(others(&beats, &selects), ["src/shop.rs:21"]);
        // The poll itself, or a future that continues it.
        for own in [("async shop::job", 9), ("async shop::run", 31)] {
            let own = wait(&[("async shop::run", 30), own]);
            assert!(others(&own, &selects).is_empty());
        }
        // The two futures are called one after the other.
        let awaits = stack([
            "shop::import",
            "async shop::job",
            "shop::job",
            "Timeout<F>::poll",
            "async shop::run",
        ]);
        assert!(others(&beats, &awaits).is_empty());
        // Nothing is known of a stack that wasn't followed down to the task.
        assert!(others(&beats, &selects[..3]).is_empty());
    }

    #[test]
    fn a_select_of_the_program_is_found_around_the_call() {
        let of_tokio = |name: &str, file: &str| StackFrame {
            file: Some(file.into()),
            origin: FrameOrigin::Runtime,
            ..function(name, 710)
        };
        let in_place = of_tokio("block_in_place<F>", "tokio-1.54.1/src/task/blocking.rs");
        let select = of_tokio("shop::run", "tokio-1.54.1/src/macros/select.rs");
        let own = function("an async fn", 12);
        let run = function("async shop::run", 30);
        let server = StackFrame { origin: FrameOrigin::Dependency, ..function("axum::serve", 400) };
        let around = |frames: &[&StackFrame]| {
            let frames: Vec<_> = frames.iter().map(|&frame| frame.clone()).collect();
            select_around(&frames).map(|frame| frame.line)
        };
        assert_eq!(around(&[&own, &in_place, &own, &select, &run]), Some(Some(30)));
        assert_eq!(around(&[&own, &in_place, &own, &run]), None);
        assert_eq!(around(&[&own, &select, &run, &in_place, &run]), None, "it is called there");
        assert_eq!(around(&[&own, &in_place, &own, &select, &server, &run]), None);
        assert_eq!(around(&[&own, &select, &run]), None);
    }
}
