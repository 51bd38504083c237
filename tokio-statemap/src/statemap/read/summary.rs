//! The sums of the whole run, as they are in the data.

use super::part::{LocationEntry, Part, PlaceEntry, PollEntry};
use super::value::{Number, Parent};
use crate::statemap::intern::intern;
use crate::trace::event::SpawnLocation;
use crate::trace::summary::{
    Distribution, LocationSummary, Stopped, Stretch, Summary, SummedPoll, WorkerSummary,
};

/// The most polls: a program keeps 1000.
const MOST_POLLS: usize = 1_000;
/// The most stretches of time: a program has no more.
const MOST_STRETCHES: usize = 2_000;
/// The most steps of a histogram. A program's histograms have 128 steps per octave.
const MOST_STEPS: usize = 8_192;

/// `[begin, end, recorded, tasks, polls, cutPolls, runningPolls, missedEvents, stretch]`
pub(super) type SumsEntry = [Number; 9];

/// The lists of the sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// The locations, whose places are in `places`.
    locations: Vec<LocationSummary>,
    places: Vec<Option<PlaceEntry>>,
    longest: Vec<SummedPoll>,
    stretches: Vec<Stretch>,
    workers: Vec<WorkerSummary>,
    stopped: Vec<Stopped>,
}

impl Sums {
    /// Adds a part.
    pub(super) fn add(&mut self, part: &mut Part) -> Result<(), String> {
        for location in part.run_locations.drain(..) {
            self.location(location)?;
        }
        if self.longest.len() + part.run_longest.len() > MOST_POLLS {
            return Err(format!("`runLongest` has over {MOST_POLLS} polls, which is the limit"));
        }
        for poll in part.run_longest.drain(..) {
            self.poll(poll)?;
        }
        if self.stretches.len() + part.run_stretches.len() > MOST_STRETCHES {
            return Err(format!(
                "`runStretches` has over {MOST_STRETCHES} stretches, which is the limit"
            ));
        }
        for (held, polls, longest, longest_at, spawned, terminated) in part.run_stretches.drain(..)
        {
            if longest_at.is_some_and(|at| at >= self.locations.len()) {
                return Err(no_location("runStretches", longest_at));
            }
            self.stretches.push(Stretch {
                held_ns: held.0,
                polls: polls.0,
                longest_ns: longest.0,
                longest_at,
                spawned: spawned.0,
                terminated: terminated.0,
            });
        }
        for entry in &part.run_stopped {
            self.stop(entry)?;
        }
        for (index, running, parked, parks, polls) in part.run_workers.drain(..) {
            if self.workers.last().is_some_and(|last| last.index >= index) {
                return Err(format!("`runWorkers` has {index}; they must be by rising index"));
            }
            self.workers.push(WorkerSummary {
                index,
                running_ns: running.0,
                parked_ns: parked.0,
                parks: parks.0,
                polls: polls.0,
            });
        }
        Ok(())
    }

    fn stop(&mut self, entry: &[Number]) -> Result<(), String> {
        let stopped = match *entry {
            [from, to] => Stopped::new(from.0, to.0),
            [from, to, recorded, periods] => {
                let (recorded_ns, periods) = (recorded.0, periods.0);
                Stopped { recorded_ns, periods, ..Stopped::new(from.0, to.0) }
            }
            _ => {
                let n = entry.len();
                return Err(format!("`runStopped` has {n} numbers; they must be 2, or 4"));
            }
        };
        let Stopped { from_ns, to_ns, recorded_ns, periods } = stopped;
        let before = self.stopped.last().map_or(0, |last| last.to_ns);
        if from_ns < before || to_ns < from_ns {
            return Err(format!(
                "`runStopped` has [{from_ns},{to_ns}] behind {before}; they must be in order, and not overlap"
            ));
        }
        if recorded_ns > to_ns - from_ns || periods == 0 {
            return Err(format!(
                "`runStopped` has {recorded_ns} ns that were recorded in [{from_ns},{to_ns}], and {periods} periods; \
                 it must be no longer than that, and one period at least"
            ));
        }
        self.stopped.push(stopped);
        Ok(())
    }

    fn location(&mut self, entry: LocationEntry) -> Result<(), String> {
        let (place, is_root, tasks, worker_polls, held, off_worker, long, long_held, sum, ..) =
            entry;
        self.places.push(place);
        self.locations.push(LocationSummary {
            location: None,
            is_root,
            tasks: tasks.0,
            worker_polls: worker_polls.0,
            held_ns: held.0,
            off_worker_ns: off_worker.0,
            long_polls: long.0,
            long_polls_ns: long_held.0,
            polls: distribution(&entry.9)?,
            ready: distribution(&entry.10)?,
            ready_sum_ns: sum.0,
        });
        Ok(())
    }

    fn poll(&mut self, entry: PollEntry) -> Result<(), String> {
        let (Parent(task), location, start, length, worker, cut) = entry;
        if location >= self.locations.len() {
            return Err(no_location("runLongest", Some(location)));
        }
        if self.longest.last().is_some_and(|last| last.length_ns < length.0) || cut > 1 {
            return Err(format!(
                "`runLongest` has a poll of {} ns behind a shorter one, or whose last number isn't 0 or 1",
                length.0
            ));
        }
        self.longest.push(SummedPoll {
            task,
            location,
            start_ns: start.0,
            length_ns: length.0,
            worker,
            is_cut: cut == 1,
        });
        Ok(())
    }

    /// Adds the lists to the summary. `None` if there are too many names of files.
    pub(in crate::statemap) fn add_to(&self, summary: &mut Summary) -> Option<()> {
        if !self.locations.is_empty() {
            summary.locations.clone_from(&self.locations);
            for (location, place) in summary.locations.iter_mut().zip(&self.places) {
                location.location = match place {
                    Some((file, line, column)) => {
                        let (file, line, column) = (intern(file)?, *line, *column);
                        Some(SpawnLocation { file, line, column })
                    }
                    None => None,
                };
            }
            summary.longest_polls.clone_from(&self.longest);
            summary.stretches.clone_from(&self.stretches);
        }
        if !self.workers.is_empty() {
            summary.workers.clone_from(&self.workers);
        }
        // Both files have this list.
        if !self.stopped.is_empty() {
            summary.stopped.clone_from(&self.stopped);
        }
        Some(())
    }
}

/// Returns the sums in the first definition. Their lists are in [`Sums`].
pub(super) fn summary(entry: &SumsEntry) -> Summary {
    let [begin, end, recorded, tasks, polls, cut, running, missed, stretch] = entry.map(|n| n.0);
    Summary {
        begin_ns: begin,
        end_ns: end,
        recorded_ns: recorded,
        stopped: Vec::new(),
        tasks,
        polls,
        cut_polls: cut,
        live_tasks: None,
        running_polls: running,
        running: Vec::new(),
        missed_events: missed,
        locations: Vec::new(),
        workers: Vec::new(),
        longest_polls: Vec::new(),
        stretch_ns: stretch,
        stretches: Vec::new(),
    }
}

/// Checks the relations between the sums.
pub(super) fn check(entry: &SumsEntry) -> Result<(), String> {
    let [begin, end, recorded, ..] = entry.map(|n| n.0);
    match end.checked_sub(begin).is_some_and(|length| recorded <= length) {
        true => Ok(()),
        false => Err(format!(
            "`wholeRun` is from {begin} to {end}, {recorded} ns of it recorded; it must begin no later \
             than it ends, and no more be recorded than is in between"
        )),
    }
}

fn distribution(steps: &[Number]) -> Result<Distribution, String> {
    if steps.len() % 2 != 0 || steps.len() / 2 > MOST_STEPS {
        return Err(format!(
            "`runLocations` has a histogram of {} numbers; they must be two a step, and of at most \
             {MOST_STEPS} steps",
            steps.len()
        ));
    }
    let mut longest_ns: u64 = 0;
    let mut of = Vec::with_capacity(steps.len() / 2);
    for step in steps.chunks_exact(2) {
        let bound = longest_ns.checked_add(step[0].0);
        longest_ns = bound.filter(|_| step[1].0 > 0).ok_or(
            "`runLocations` has a histogram with bounds over 2^64, or a step without values; it must have none",
        )?;
        of.push((longest_ns, step[1].0));
    }
    Ok(Distribution { longest_ns, steps: of })
}

fn no_location(list: &str, index: Option<usize>) -> String {
    let index = index.unwrap_or_default();
    format!(
        "`{list}` has the location {index}; it must be an index of one in `runLocations` before"
    )
}
