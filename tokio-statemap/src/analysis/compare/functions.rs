//! The functions that long polls are blamed on, and their spawn locations.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::pairing::without_version;
use super::run::Run;
use crate::analysis::Culprit;
use crate::analysis::place::Place;
use crate::trace::timeline::StackFrame;

/// The share of a spawn location's long polls above which their function stands for the location.
const NEARLY_ALL: f64 = 0.8;

/// A function in any version: the line is left out, as it differs between versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Function {
    name: Arc<str>,
    file: Option<String>,
}

impl Function {
    pub(super) fn from_frame(frame: &StackFrame) -> Self {
        let file = frame.file.as_deref().map(without_version);
        Self { name: Arc::clone(&frame.function), file }
    }
}

/// A function, and what it did.
pub(super) struct BlamedFunction {
    pub(super) frame: StackFrame,
    pub(super) blocking_cause: String,
    /// The pair of places where its long polls took most time.
    pub(super) pair: usize,
}

/// The time that the long polls of a function took, in ns.
#[derive(Default)]
struct Times {
    /// The pair of places where its long polls took most time, and that time.
    pair: usize,
    pair_ns: u64,
    /// The time at the pairs that the function stands for.
    labelled_ns: u64,
    /// The time at all pairs.
    all_ns: u64,
}

/// The functions of the long polls of both versions.
pub(super) struct Functions {
    all: BTreeMap<Function, BlamedFunction>,
    /// The function that stands for each pair of places.
    labels: HashMap<usize, Function>,
    /// The functions that stand for no pair, or have many long polls elsewhere.
    of_several: Vec<Function>,
}

impl Functions {
    pub(super) fn new(
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
                let function = culprit.frame.as_ref().map(Function::from_frame);
                if let (Some(function), Some(frame)) = (&function, &culprit.frame) {
                    frames.entry(function.clone()).or_insert((frame, &culprit.blocking_cause));
                }
                for &at in culprit.at.iter() {
                    let place = Place::of_task(run.task(at.0));
                    let Some(&pair) = indices.get(&place) else { continue };
                    let weight = weights.entry(pair).or_default().entry(function.clone());
                    let weight = weight.or_default();
                    *weight = weight.saturating_add(run.own_ns(at));
                }
            }
        }
        let mut labels = HashMap::new();
        let mut places: BTreeMap<&Function, Times> = BTreeMap::new();
        for (&pair, of_pair) in &weights {
            let sum = of_pair.values().fold(0, |sum: u64, &ns| sum.saturating_add(ns));
            for (function, &ns) in of_pair {
                let Some(function) = function else { continue };
                let is_label = ns as f64 >= NEARLY_ALL * sum as f64;
                if is_label {
                    labels.insert(pair, function.clone());
                }
                let times = places.entry(function).or_insert(Times { pair, ..Times::default() });
                if (ns, Reverse(pair)) > (times.pair_ns, Reverse(times.pair)) {
                    (times.pair, times.pair_ns) = (pair, ns);
                }
                times.labelled_ns = times.labelled_ns.saturating_add(if is_label { ns } else { 0 });
                times.all_ns = times.all_ns.saturating_add(ns);
            }
        }
        let (mut all, mut of_several) = (BTreeMap::new(), Vec::new());
        for (&function, times) in &places {
            if (times.labelled_ns as f64) < NEARLY_ALL * times.all_ns as f64 {
                of_several.push(function.clone());
            }
            if let Some(&(frame, cause)) = frames.get(function) {
                let (frame, blocking_cause) = (frame.clone(), cause.to_owned());
                let blamed = BlamedFunction { frame, blocking_cause, pair: times.pair };
                all.insert(function.clone(), blamed);
            }
        }
        Self { all, labels, of_several }
    }

    /// Returns the function that stands for a pair of places.
    pub(super) fn label(&self, pair: usize) -> Option<&BlamedFunction> {
        self.all.get(self.labels.get(&pair)?)
    }

    /// Returns the functions that stand for no pair, or have many long polls elsewhere.
    pub(super) fn of_several_places(&self) -> impl Iterator<Item = (&Function, &BlamedFunction)> {
        self.of_several.iter().filter_map(|function| self.all.get_key_value(function))
    }
}

/// Returns the culprits of some runs.
pub(super) fn culprits<'a>(
    runs: &'a [Run<'a>],
) -> impl Iterator<Item = (&'a Run<'a>, &'a Culprit)> {
    runs.iter().flat_map(|run| run.report.blame.culprits.iter().map(move |culprit| (run, culprit)))
}
