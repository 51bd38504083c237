//! Finds the program's functions that tasks of one spawn location run, where the location doesn't tell: it is in a library, or
//! tasks of several functions are spawned there.

use std::cmp::Reverse;
use std::fmt;

use super::place::Place;
use crate::symbols::StackFrame;
use crate::trace::timeline::{AwaitFrame, FrameOrigin, PollSample, Task, Timeline, Wait, WaitId};
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::count;

/// The most polls of a task that are looked at, from its last one back.
const MOST_POLLS: usize = 1000;

/// The most samples of a poll that are looked at, and the most functions of a task that count.
const MOST_SAMPLES: usize = 64;
const MOST_FUNCTIONS: usize = 16;

/// The most functions of a location that are named.
const MOST_NAMED: usize = 3;

/// The program's functions that the tasks of a spawn location run, such as the handlers of a web service.
///
/// A task counts for each function in which it was seen: where it waited, or in a stack sample of one of its polls. Of the functions
/// that it was in at that moment, the outermost one of the program counts.
///
/// `Display` writes `async shop::invoice in 30 tasks, async shop::list in 2`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocationRuns {
    /// The spawn location, which is in the source of a dependency, or at which tasks of several functions are spawned.
    pub place: Place,
    /// The functions, each with the number of tasks that were seen in it: those of most tasks first. There is at least one.
    pub functions: Vec<(String, u64)>,
}

impl LocationRuns {
    /// Returns the function of most tasks, and the number of others: `async shop::invoice + 2`.
    pub(crate) fn name(&self) -> String {
        let first = self.functions.first().map_or("", |(function, _)| function);
        match self.functions.len() {
            0 | 1 => first.to_owned(),
            more => format!("{first} + {}", more - 1),
        }
    }
}

impl fmt::Display for LocationRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One more takes no more room than its number.
        let is_one_more = self.functions.len() == MOST_NAMED + 1;
        let named = MOST_NAMED + usize::from(is_one_more);
        for (nth, (function, tasks)) in self.functions.iter().take(named).enumerate() {
            let function = clean(function);
            match nth {
                0 => write!(f, "{function} in {}", count(*tasks, "task"))?,
                _ => write!(f, ", {function} in {tasks}")?,
            }
        }
        match self.functions.len().saturating_sub(named) {
            0 => Ok(()),
            more => write!(f, ", and {}", count(more as u64, "other function")),
        }
    }
}

/// Finds the functions that the tasks of each spawn location run, if it is in the source of a dependency or has tasks of several
/// functions. `places` are as the report shows them.
pub(super) fn find(timeline: &Timeline, places: impl Iterator<Item = Place>) -> Vec<LocationRuns> {
    let mut found = Vec::new();
    let mut index_of: Map<Place, usize> = Map::default();
    for place in places {
        index_of.insert(place, found.len());
        found.push((place, Map::default()));
    }
    let of_waits: Vec<_> = timeline
        .places
        .waits
        .iter()
        .map(|wait| [false, true].map(|of_library| of_wait(wait, of_library)))
        .collect();
    for task in timeline.tasks.seen() {
        let Some(&index) = index_of.get(&Place::of_task(task)) else { continue };
        // A task that the program spawned has one outermost function, and a library's goes on from one of the program's to the next.
        let is_of_library = found[index].0.is_of_dependency();
        for function in of_task(timeline, task, &of_waits, is_of_library) {
            *found[index].1.get_or_default(function) += 1_u64;
        }
    }
    let mut runs = Vec::new();
    for (place, tasks) in found {
        let mut functions = Vec::new();
        for (function, tasks) in tasks {
            functions.push((function.to_owned(), tasks));
        }
        crate::util::sort::by_key(&mut functions, |(function, tasks)| {
            (Reverse(*tasks), function.clone())
        });
        let is_told = place.is_of_dependency() || functions.len() > 1;
        if is_told && !functions.is_empty() {
            runs.push(LocationRuns { place, functions });
        }
    }
    runs
}

/// Returns the functions in which the task was seen, each once, and at most as many as count: of a task that a library didn't spawn,
/// only the outermost one. `of_waits` has for each wait the function of a task that the program spawned, and of a library's.
fn of_task<'t>(
    timeline: &'t Timeline,
    task: &Task,
    of_waits: &[[Option<&'t str>; 2]],
    is_of_library: bool,
) -> Vec<&'t str> {
    let most = if is_of_library { MOST_FUNCTIONS } else { 1 };
    let mut functions = Vec::new();
    // Returns whether there is room for more.
    let mut add = |function: Option<&'t str>| {
        let is_new = |function: &&str| functions.len() < most && !functions.contains(function);
        if let Some(function) = function.filter(is_new) {
            functions.push(function);
        }
        functions.len() < most
    };
    let of_wait = |wait: Option<WaitId>| of_waits.get(wait?.index())?[usize::from(is_of_library)];
    add(of_wait(task.carried_wait.and_then(|carried| carried.wait)));
    for poll in task.polls.iter().rev().take(MOST_POLLS) {
        if !add(of_wait(poll.wait())) {
            break;
        }
        for sample in timeline.samples(poll).iter().take(MOST_SAMPLES) {
            add(of_sample(sample, is_of_library));
        }
    }
    functions
}

/// Returns the outermost function of the program in which a task waits.
fn of_wait(wait: &Wait, is_of_library: bool) -> Option<&str> {
    let mut next = wait.frames.first();
    let frames = std::iter::from_fn(|| {
        let AwaitFrame { function, awaits, .. } = next?;
        next = awaits.first();
        Some(function)
    });
    outermost(frames, is_of_library)
}

/// Returns the outermost async function of the program that is on a stack, or else, for a library's task, its outermost function.
fn of_sample(sample: &PollSample, is_of_library: bool) -> Option<&str> {
    let frames = || sample.frames.iter().rev();
    let found = outermost(
        frames().filter(|frame| frame.is_async() || frame.is_nameless_async()),
        is_of_library,
    );
    let any = || is_of_library.then(|| outermost(frames(), true)).flatten();
    found.or_else(any)
}

/// Returns the first of these functions that is the program's, if it has a name. For a library's task the first that has one will do.
fn outermost<'a>(
    frames: impl Iterator<Item = &'a StackFrame>,
    is_of_library: bool,
) -> Option<&'a str> {
    let mut own = frames
        .filter(|frame| frame.origin == FrameOrigin::Program && frame.file.is_some())
        .skip_while(|frame| is_of_library && frame.is_nameless_async());
    own.next().filter(|frame| !frame.is_nameless_async()).map(|frame| &*frame.function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::picture::tests::timeline;
    use crate::trace::event::SpawnLocation;
    use crate::trace::timeline::TaskKey;

    const LIBRARY: &str = "/home/me/.cargo/registry/src/index-1/axum-0.8.9/src/serve/mod.rs";

    /// Returns a wait in these functions, the outermost first. Those of the program are `shop`'s.
    fn wait(functions: &[&str]) -> Wait {
        let mut frames = Vec::new();
        for function in functions.iter().rev() {
            let origin = match function.contains("shop::") {
                true => FrameOrigin::Program,
                false => FrameOrigin::Dependency,
            };
            let (file, line) = (Some("src/shop.rs".into()), Some(7));
            let function = StackFrame { function: (*function).into(), file, line, origin };
            frames = vec![AwaitFrame { function, awaits: frames, name: None, call: None }];
        }
        Wait { frames }
    }

    /// A program with tasks that wait where `waits` says, all of them after each poll, in turn. Those of even ids were spawned by
    /// a library, the others by the program.
    fn program(waits: &[Wait]) -> Timeline {
        let mut timeline = timeline(60, 3);
        timeline.places.waits = waits.to_vec();
        for task in &mut timeline.tasks {
            let TaskKey::Spawned(id) = task.key else { continue };
            let file = if id % 2 == 0 { LIBRARY } else { "src/main.rs" };
            task.location = Some(SpawnLocation { file, line: 389, column: 5 });
            let polls = task.polls.len();
            for (nth, poll) in task.polls.iter_mut().enumerate() {
                // The last poll in the first place, and those before in the others.
                let place = (polls - nth - 1).min(waits.len() - 1);
                *poll = poll.waits_at(WaitId::new(place as u16 + 1));
            }
        }
        timeline
    }

    #[test]
    fn a_task_runs_what_it_was_seen_in() {
        let in_library = wait(&["async axum::serve", "async hyper::read"]);
        let handler = wait(&[
            "async axum::serve",
            "async shop::invoice",
            "async shop::load",
            "async sqlx::fetch",
        ]);
        let other = wait(&["async shop::list"]);
        let timeline = program(&[in_library.clone(), handler, other]);
        let has = |polls: usize| {
            let is_of_library =
                |task: &&Task| matches!(task.key, TaskKey::Spawned(id) if id % 2 == 0);
            timeline
                .tasks
                .seen()
                .iter()
                .filter(is_of_library)
                .filter(|task| task.polls.len() >= polls)
                .count() as u64
        };
        let report = timeline.report();
        let runs = &report.runs[..];
        assert_eq!(runs.len(), 1, "only of what the library spawned: {runs:?}");
        assert_eq!(runs[0].place.location.unwrap().file, LIBRARY);
        let (invoice, list) = (has(2), has(3));
        assert!(invoice > list && list > 1, "{invoice} {list}");
        let expected = [("async shop::invoice", invoice), ("async shop::list", list)];
        assert_eq!(
            runs[0].functions,
            expected.map(|(function, tasks)| (function.to_owned(), tasks))
        );
        assert_eq!(runs[0].name(), "async shop::invoice + 1");
        let text =
            format!("  ran async shop::invoice in {invoice} tasks, async shop::list in {list}\n");
        assert!(report.to_string().contains(&text), "{report}");
        assert_eq!(program(&[in_library]).report().runs, [], "nothing of the program was seen");
    }

    #[test]
    fn a_line_that_spawns_several_functions_names_them() {
        let mut timeline = program(&[
            wait(&["async shop::fetch", "async shop::get"]),
            wait(&["async shop::parse"]),
        ]);
        for task in &mut timeline.tasks {
            let TaskKey::Spawned(id) = task.key else { continue };
            task.location = Some(SpawnLocation { file: "src/main.rs", line: 36, column: 26 });
            for poll in &mut task.polls {
                *poll = poll.waits_at(WaitId::new(if id % 3 == 0 { 2 } else { 1 }));
            }
        }
        let is_of = |rest: bool| move |task: &&Task| matches!(task.key, TaskKey::Spawned(id) if (id % 3 == 0) == rest);
        let count = |rest| {
            timeline
                .tasks
                .seen()
                .iter()
                .filter(is_of(rest))
                .filter(|task| !task.polls.is_empty())
                .count() as u64
        };
        let runs = timeline.report().runs;
        let expected = [("async shop::fetch", count(false)), ("async shop::parse", count(true))];
        assert_eq!(runs.len(), 1, "main has one function: {runs:?}");
        assert_eq!(
            runs[0].functions,
            expected.map(|(function, tasks)| (function.to_owned(), tasks))
        );
    }

    #[test]
    fn those_of_most_tasks_come_first() {
        let functions = [("a", 9), ("b", 2), ("c", 1), ("d\u{202e}", 1), ("e", 1)];
        let functions = functions.map(|(function, tasks)| (function.to_owned(), tasks)).to_vec();
        let mut runs = LocationRuns { place: Place::new(None, false), functions };
        assert_eq!(runs.name(), "a + 4");
        assert_eq!(runs.to_string(), "a in 9 tasks, b in 2, c in 1, and 2 other functions");
        runs.functions.pop();
        assert_eq!(runs.to_string(), "a in 9 tasks, b in 2, c in 1, d\\u{202e} in 1");
    }
}
