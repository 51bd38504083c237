//! Functions that held workers in long polls in only one version.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Line;
use super::functions::{Function, culprits};
use super::run::Run;
use crate::analysis::Culprit;
use crate::analysis::place::Place;
use crate::symbols::file_of_address;
use crate::trace::timeline::{SamplingState, StackFrame};

/// The number of stretches of time that a run is cut into. Several long polls in one stretch count once, as they come
/// in bursts.
const STRETCHES: u64 = 20;

/// A poll must be this many times as long as `long_poll` to be new: one that is a little longer may have been a little
/// shorter in the other version.
const CLEARLY_LONG: u128 = 2;

/// The probability that anything is called new although nothing is.
const CHANCE: f64 = 0.02;

/// A function that held workers in long polls in one version, and in no poll of the other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewLongPolls {
    /// The function.
    pub frame: StackFrame,
    /// The words for what the function did, which follow its name.
    pub blocking_cause: String,
    /// The place where most of the tasks were spawned.
    pub place: Place,
    /// `true` if it is in the version after, `false` if it is in the one before.
    pub is_after: bool,
    /// The number of polls in which it held workers for at least twice `long_poll`, without the time that the machine
    /// took.
    pub polls: u64,
    /// The time that these polls took in sum, in ns, without the time that the machine took.
    pub own_ns: u64,
    /// The time that the longest took, in ns, without the time that the machine took.
    pub longest_ns: u64,
    /// `true` if they are in too many stretches of time for their absence from the other version to be chance.
    pub is_more_than_chance: bool,
}

impl NewLongPolls {
    /// Returns whether the polls are among those of a line.
    pub(super) fn is_of(&self, line: &Line) -> bool {
        let function = Function::from_frame(&self.frame);
        line.frame.as_ref().is_some_and(|frame| Function::from_frame(frame) == function)
            || line.place == self.place
            || line.place_after == Some(self.place)
    }
}

/// Finds the functions with long polls in only one version, the one whose polls took longest first.
pub(super) fn find(before: &[Run<'_>], after: &[Run<'_>]) -> Vec<NewLongPolls> {
    let [old, new] = [functions(before), functions(after)];
    // A function is only known to be new if the functions of the other version are known.
    let is_comparable = |runs: &[Run<'_>]| {
        runs.iter().all(|run| run.timeline.long_polls.sampling.state == SamplingState::On)
    };
    let has_files = |of: &BTreeMap<Function, Vec<(&Run<'_>, &Culprit)>>| {
        let mut frames = of.values().flatten().filter_map(|(_, culprit)| culprit.frame.as_ref());
        frames.any(|frame| frame.file.is_some())
    };
    let are_alike = old.is_empty() || new.is_empty() || has_files(&old) == has_files(&new);
    if !is_comparable(before) || !is_comparable(after) || !are_alike {
        return Vec::new();
    }
    let tests = old
        .keys()
        .chain(new.keys())
        .filter(|key| !(old.contains_key(key) && new.contains_key(key)));
    let chance = CHANCE / tests.count().max(1) as f64;
    // The places of long polls in which no function was seen.
    let unnamed = [before, after].map(|runs| {
        let unnamed = culprits(runs).filter(|(_, culprit)| culprit.frame.is_none());
        unnamed.map(|(_, culprit)| culprit.place).collect::<HashSet<_>>()
    });
    let mut found = Vec::new();
    for (of, other, of_runs, other_runs, is_after) in [
        (&old, &new, before.len(), after.len(), false),
        (&new, &old, after.len(), before.len(), true),
    ] {
        let only_here = of.iter().filter(|(function, _)| !other.contains_key(function));
        let unnamed = if is_after { &unnamed[0] } else { &unnamed[1] };
        found.extend(only_here.filter_map(|(_, culprits)| {
            let mut new = new_long_polls(culprits, [of_runs, other_runs], is_after, chance)?;
            new.is_more_than_chance &= !unnamed.contains(&new.place);
            Some(new)
        }));
    }
    found.sort_by_key(|polls| (Reverse(polls.own_ns), polls.place));
    found
}

fn functions<'a>(runs: &'a [Run<'a>]) -> BTreeMap<Function, Vec<(&'a Run<'a>, &'a Culprit)>> {
    let mut functions: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (run, culprit) in culprits(runs) {
        // An address differs between builds.
        let named =
            culprit.frame.as_ref().filter(|frame| file_of_address(&frame.function).is_none());
        if let Some(frame) = named {
            functions.entry(Function::from_frame(frame)).or_default().push((run, culprit));
        }
    }
    functions
}

fn new_long_polls(
    culprits: &[(&Run<'_>, &Culprit)],
    [runs, other_runs]: [usize; 2],
    is_after: bool,
    chance: f64,
) -> Option<NewLongPolls> {
    let (_, worst) = culprits.iter().max_by_key(|(_, culprit)| culprit.own_ns)?;
    let mut new = NewLongPolls {
        frame: worst.frame.clone()?,
        blocking_cause: worst.blocking_cause.clone(),
        place: worst.place,
        is_after,
        polls: 0,
        own_ns: 0,
        longest_ns: 0,
        is_more_than_chance: false,
    };
    let mut stretches = BTreeSet::new();
    for (run, culprit) in culprits {
        let timeline = run.timeline;
        let length_ns = timeline.end_ns.saturating_sub(timeline.recent_ns) / STRETCHES;
        for &at in culprit.at.iter() {
            let own_ns = run.own_ns(at);
            if u128::from(own_ns) < CLEARLY_LONG * timeline.settings.long_poll.as_nanos() {
                continue;
            }
            new.polls += 1;
            new.own_ns = new.own_ns.saturating_add(own_ns);
            new.longest_ns = new.longest_ns.max(own_ns);
            let start_ns = run.poll(at).start_ns();
            if let Some(since_ns) = start_ns.checked_sub(timeline.recent_ns) {
                let stretch = (since_ns / length_ns.max(1)).min(STRETCHES - 1);
                stretches.insert((std::ptr::from_ref(*run).addr(), stretch));
            }
        }
    }
    let all = [runs, other_runs].map(|runs| runs as u64 * STRETCHES);
    new.is_more_than_chance = only_there(stretches.len() as u64, all) < chance;
    (new.polls > 0).then_some(new)
}

/// Returns the probability that all of `hits` are in the stretches `there` if each stretch is equally likely (Fisher's
/// exact test).
fn only_there(hits: u64, [there, elsewhere]: [u64; 2]) -> f64 {
    let chance = |hit: u64| (there - hit) as f64 / (there + elsewhere - hit) as f64;
    (0..hits.min(there)).map(chance).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_chance_and_many_are_not() {
        assert!((only_there(0, [20, 20]) - 1.0).abs() < 1e-12);
        assert!((only_there(2, [20, 20]) - 20.0 * 19.0 / (40.0 * 39.0)).abs() < 1e-12);
        assert!(only_there(3, [20, 20]) > 0.1 && only_there(8, [20, 20]) < 0.002);
        assert!(only_there(20, [20, 20]) > 0.0);
    }
}
