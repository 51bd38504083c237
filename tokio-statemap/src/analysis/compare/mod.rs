//! Compares two runs of a program, or several runs of each of two versions: finds what got longer by more than chance.
//!
//! Poll lengths are heavy-tailed, come in bursts, and depend on those before; and the machine behaves differently each
//! time. So no poll is compared with another, and no mean of all polls is used:
//!
//! 1. What the machine took away of long polls is subtracted ([`lines`]).
//! 2. The polls of a line are cut into blocks that follow each other in time, and some quantiles of each block are
//!    taken ([`blocks`]).
//! 3. The logarithms of these are compared between the runs by their trimmed means. The error of a mean is the largest
//!    of the errors that blocks of several lengths give: bursts make it larger ([`estimate`]).
//! 4. What all other lines have in common is due to the machine, and is subtracted ([`judge`]).
//! 5. A difference is called a change if it is significant among all comparisons (Bonferroni's correction), and large
//!    enough: one run of each version doesn't tell by how much two runs of one program differ ([`judge`]).

mod blocks;
mod estimate;
mod functions;
mod judge;
mod lines;
mod new_polls;
mod pairing;
mod requests;
mod run;
mod side;
#[cfg(test)]
pub(crate) mod tests;

use std::cmp::Reverse;

use super::place::Place;
use crate::trace::timeline::{StackFrame, Timeline};

pub use judge::{Change, Factor};
pub use new_polls::NewLongPolls;
pub use requests::{RequestChange, RequestFigures};
pub use side::{Figures, Side};

/// The differences between two runs of a program, or several of each of two versions: see [`compare`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The runs before.
    pub before: Side,
    /// The runs after.
    pub after: Side,
    /// All lines: first those that got longer, by the additional time of the workers; then those that got shorter; then
    /// the others, by how long they held workers after.
    pub lines: Vec<LineChange>,
    /// The functions that held workers in long polls in only one version.
    pub long_polls: Vec<NewLongPolls>,
    /// The spans of `tracing` of both versions, sorted by their total time after, the longest first. They aren't judged.
    pub requests: Vec<RequestChange>,
    /// The factor by which the polls of all lines got longer alike, if there are enough lines to tell. The cause is a
    /// slower or busier machine, or another build. The changes of single lines come on top of it.
    pub common_factor: Option<f64>,
    /// The factor by which ready times of all lines got longer alike.
    pub common_ready_factor: Option<f64>,
    /// `true` if only a part of a run is kept in detail. [`LineChange::before`] and `after` then cover the whole runs,
    /// and changes are judged by the part at the end that is kept.
    pub is_of_whole_runs: bool,
    /// The quantiles that were compared, in percent. The highest are left out if the machine took so much time in
    /// pieces too small to be measured that the slowest polls tell nothing, or if that time isn't known.
    pub quantiles: Vec<u8>,
}

/// A line, and what its polls did before and after.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LineChange {
    /// The line.
    pub line: Line,
    /// The figures of its polls before; `None` if it had none.
    pub before: Option<Figures>,
    /// The figures of its polls after; `None` if it had none.
    pub after: Option<Figures>,
    /// The change of the lengths of its polls.
    pub polls: Change,
    /// The change of the times that its tasks were ready before polls.
    pub ready: Change,
    /// The additional time that its polls take of the workers after, compared with no change, in ns; negative if they
    /// take less. It is an estimate from `polls`, and 0 if `polls` is no change.
    pub extra_ns: i64,
}

/// A line of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The function that nearly all long polls of the place, or the polls of this line, are blamed on: see
    /// [`Culprit::frame`](crate::report::Culprit::frame). `None` if none is known, or there are several.
    pub frame: Option<StackFrame>,
    /// The words for what the function did, which follow its name.
    pub blocking_cause: String,
    /// The place where most of the tasks were spawned: in the version before, or in the one after if the version before
    /// lacks that place.
    pub place: Place,
    /// The place where they were spawned in the version after, if the line moved because the source above it changed.
    pub place_after: Option<Place>,
    /// `true` if the line stands only for the long polls that are blamed on `frame`, as the long polls of `place` are
    /// blamed on several functions.
    pub is_of_function: bool,
}

/// Compares runs of two versions of a program, or two runs of one version. There may be one run or more on each side.
///
/// Locations of the two versions are matched if they are the same, or if lines were added or removed above them.
///
/// # Examples
///
/// ```
/// use tokio_statemap::Timeline;
/// use tokio_statemap::compare::compare;
///
/// fn did_it_get_slower(before: &Timeline, after: &Timeline) -> bool {
///     let comparison = compare(&[before], &[after]);
///     comparison.longer().next().is_some()
/// }
/// ```
pub fn compare(before: &[&Timeline], after: &[&Timeline]) -> Comparison {
    let (before, after) = (run::runs(before), run::runs(after));
    let all = || before.iter().chain(&after);
    let is_of_whole_runs = all().any(|run| run.report.recording.detail_ns.is_some());
    let measured = lines::measured(&before, &after, is_of_whole_runs);
    let judged = judge::judge(&before, &after, &measured);
    let long_polls = new_polls::find(&before, &after);
    let requests = requests::find(&before, &after);
    let mut lines: Vec<LineChange> = measured
        .into_iter()
        .zip(judged.lines)
        .map(|(line, judged)| LineChange {
            line: line.line,
            before: line.before.figures,
            after: line.after.figures,
            polls: judged.polls,
            ready: judged.ready,
            extra_ns: judged.extra_ns,
        })
        .collect();
    explain(&mut lines);
    lines.sort_by_key(LineChange::rank);
    Comparison {
        before: Side::from_runs(&before),
        after: Side::from_runs(&after),
        lines,
        long_polls,
        requests,
        common_factor: judged.common_factor,
        common_ready_factor: judged.common_ready_factor,
        is_of_whole_runs,
        quantiles: judged.quantiles,
    }
}

/// Ranks a spawn location after the function that made it longer.
fn explain(lines: &mut [LineChange]) {
    let of_functions = lines.iter().filter(|line| line.line.is_of_function && line.is_longer());
    let least: Vec<(Place, i64)> =
        of_functions.map(|line| (line.line.place, line.extra_ns)).collect();
    for line in lines.iter_mut().filter(|line| !line.line.is_of_function && line.is_longer()) {
        let of = least.iter().filter(|(place, _)| *place == line.line.place);
        if let Some(least_ns) = of.map(|(_, extra_ns)| *extra_ns).min() {
            line.extra_ns = line.extra_ns.min(least_ns.saturating_sub(1)).max(1);
        }
    }
}

impl Comparison {
    /// Returns the lines whose polls got longer, the one with the most additional time of the workers first.
    pub fn longer(&self) -> impl Iterator<Item = &LineChange> {
        self.lines.iter().filter(|line| line.is_longer())
    }

    /// Returns the lines whose polls got shorter.
    pub fn shorter(&self) -> impl Iterator<Item = &LineChange> {
        self.lines.iter().filter(|line| matches!(line.polls, Change::Shorter(_)))
    }

    /// Returns the functions whose long polls are new by more than chance, without those whose line is among the ones
    /// that got longer.
    pub fn new_long_polls(&self) -> impl Iterator<Item = &NewLongPolls> {
        self.long_polls.iter().filter(|polls| {
            let is_told = |line: &LineChange| polls.is_of(&line.line);
            polls.is_after && polls.is_more_than_chance && !self.longer().any(is_told)
        })
    }

    /// Returns whether any polls or ready times changed by more than chance.
    pub fn has_changes(&self) -> bool {
        let has_changed =
            |line: &LineChange| [line.polls, line.ready].iter().any(|change| change.is_a_change());
        self.lines.iter().any(has_changed)
            || self.long_polls.iter().any(|polls| polls.is_more_than_chance)
    }
}

impl LineChange {
    fn is_longer(&self) -> bool {
        matches!(self.polls, Change::Longer(_))
    }

    fn rank(&self) -> (u8, Reverse<u64>, Reverse<u64>, bool, Place) {
        let kind = match (self.polls, self.ready) {
            (Change::Longer(_), _) => 0,
            (Change::Shorter(_), _) => 1,
            (_, Change::Longer(_) | Change::Shorter(_)) => 2,
            _ => 3,
        };
        let held = |figures: &Option<Figures>| figures.as_ref().map_or(0, |of| of.held_ns);
        let held_ns = held(&self.after).max(held(&self.before));
        let line = &self.line;
        (
            kind,
            Reverse(self.extra_ns.unsigned_abs()),
            Reverse(held_ns),
            line.is_of_function,
            line.place,
        )
    }
}
