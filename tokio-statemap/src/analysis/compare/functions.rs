//! The functions that long polls are blamed on, and which spawn locations these are of.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::lines::Run;
use super::pairing::without_version;
use crate::analysis::Culprit;
use crate::analysis::place::Place;
use crate::trace::timeline::StackFrame;

/// From which share of the long polls of a spawn location on a function stands for it.
const NEARLY_ALL: f64 = 0.8;

/// A function, in whatever version: its line isn't that of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Function {
    name: Arc<str>,
    file: Option<String>,
}

impl Function {
    pub(super) fn of(frame: &StackFrame) -> Self {
        let file = frame.file.as_deref().map(without_version);
        Self { name: Arc::clone(&frame.function), file }
    }
}

/// What is said of a function.
pub(super) struct Told {
    pub(super) frame: StackFrame,
    pub(super) act: String,
    /// The pair of places that most of its long polls are of, by the time that these took.
    pub(super) pair: usize,
}

/// The functions of the long polls of both versions.
pub(super) struct Functions {
    all: BTreeMap<Function, Told>,
    /// The function that stands for each pair of places.
    labels: HashMap<usize, Function>,
    /// Those that stand for none, or have many polls elsewhere.
    of_several: Vec<Function>,
}

impl Functions {
    pub(super) fn of(
        before: &[Run<'_>],
        after: &[Run<'_>],
        pairs: &[(Option<Place>, Option<Place>)],
    ) -> Self {
        let mut weights: HashMap<usize, BTreeMap<Option<Function>, u64>> = HashMap::new();
        let mut frames: BTreeMap<Function, (&StackFrame, &str)> = BTreeMap::new();
        for (is_after, runs) in [(true, after), (false, before)] {
            let indices: HashMap<Place, usize> = pairs
                .iter()
                .enumerate()
                .filter_map(|(index, pair)| Some((if is_after { pair.1 } else { pair.0 }?, index)))
                .collect();
            for (run, culprit) in culprits(runs) {
                let function = culprit.frame.as_ref().map(Function::of);
                if let (Some(function), Some(frame)) = (&function, &culprit.frame) {
                    frames.entry(function.clone()).or_insert((frame, &culprit.act));
                }
                for &at in culprit.at.iter() {
                    let place = Place::of(run.task(at.0));
                    let Some(&pair) = indices.get(&place) else { continue };
                    let weight = weights.entry(pair).or_default().entry(function.clone());
                    let weight = weight.or_default();
                    *weight = weight.saturating_add(run.own_ns(at));
                }
            }
        }
        let mut labels = HashMap::new();
        // Where each function has most of its time, and how much it has there, and in all of its own places, and in all.
        let mut places: BTreeMap<&Function, (usize, u64, u64, u64)> = BTreeMap::new();
        for (&pair, of_pair) in &weights {
            let sum = of_pair.values().fold(0, |sum: u64, &ns| sum.saturating_add(ns));
            for (function, &ns) in of_pair {
                let Some(function) = function else { continue };
                let is_label = ns as f64 >= NEARLY_ALL * sum as f64;
                if is_label {
                    labels.insert(pair, function.clone());
                }
                let of = places.entry(function).or_insert((pair, 0, 0, 0));
                if (ns, std::cmp::Reverse(pair)) > (of.1, std::cmp::Reverse(of.0)) {
                    (of.0, of.1) = (pair, ns);
                }
                of.2 = of.2.saturating_add(if is_label { ns } else { 0 });
                of.3 = of.3.saturating_add(ns);
            }
        }
        let is_elsewhere = |of: &&(usize, u64, u64, u64)| (of.2 as f64) < NEARLY_ALL * of.3 as f64;
        let of_several = places.iter().filter(|(_, of)| is_elsewhere(of));
        let of_several = of_several.map(|(&function, _)| function.clone()).collect();
        let told = |(function, (frame, act)): (Function, (&StackFrame, &str))| {
            let &(pair, ..) = places.get(&function)?;
            Some((function, Told { frame: frame.clone(), act: act.to_owned(), pair }))
        };
        Self { all: frames.into_iter().filter_map(told).collect(), labels, of_several }
    }

    /// The function that stands for a pair of places.
    pub(super) fn label(&self, pair: usize) -> Option<&Told> {
        self.all.get(self.labels.get(&pair)?)
    }

    /// The functions that stand for no place, or also have polls elsewhere.
    pub(super) fn of_several_places(&self) -> impl Iterator<Item = (&Function, &Told)> {
        self.of_several.iter().filter_map(|function| self.all.get_key_value(function))
    }
}

/// The culprits of some runs.
pub(super) fn culprits<'a>(
    runs: &'a [Run<'a>],
) -> impl Iterator<Item = (&'a Run<'a>, &'a Culprit)> {
    runs.iter().flat_map(|run| run.report.culprits.iter().map(move |culprit| (run, culprit)))
}
