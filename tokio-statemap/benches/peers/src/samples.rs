//! The measurements by turn.

use std::collections::BTreeMap;

use crate::variants::Variant;
use crate::workloads::Workload;

/// The measurements in the order of the turns. Those of two variants in the same turn were taken at
/// about the same time.
#[derive(Default)]
pub(crate) struct Samples(BTreeMap<(Workload, Variant, &'static str), Vec<f64>>);

impl Samples {
    pub(crate) fn push(&mut self, of: (Workload, Variant), metric: &'static str, figure: f64) {
        self.0.entry((of.0, of.1, metric)).or_default().push(figure);
    }

    /// Returns the measurements; empty if there are none.
    pub(crate) fn figures(&self, of: (Workload, Variant), metric: &'static str) -> &[f64] {
        self.0.get(&(of.0, of.1, metric)).map_or(&[], Vec::as_slice)
    }

    /// Returns by how much a variant's measurements exceed those without hooks, turn by turn.
    pub(crate) fn over_none(
        &self,
        of: (Workload, Variant),
        metric: &'static str,
    ) -> impl Iterator<Item = f64> {
        self.pairs(of, (of.0, Variant::None), metric).map(|(this, none)| this - none)
    }

    /// Returns the measurements of two variants, turn by turn.
    pub(crate) fn pairs(
        &self,
        a: (Workload, Variant),
        b: (Workload, Variant),
        metric: &'static str,
    ) -> impl Iterator<Item = (f64, f64)> {
        self.figures(a, metric).iter().copied().zip(self.figures(b, metric).iter().copied())
    }
}

/// The median and the quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Computes the spread; `None` for no measurements.
    pub(crate) fn from_figures(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let last = figures.len().checked_sub(1)?;
        let at = |quarter: usize| {
            let (index, rest) = (last * quarter / 4, (last * quarter % 4) as f64 / 4.0);
            figures[index] + (figures[(index + 1).min(last)] - figures[index]) * rest
        };
        Some(Self { median: at(2), low: at(1), high: at(3) })
    }
}

#[test]
fn quartiles_lie_between_figures() {
    let spread = Spread::from_figures([4.0, 1.0, 3.0, 2.0]);
    assert_eq!(spread, Some(Spread { median: 2.5, low: 1.75, high: 3.25 }));
    assert_eq!(Spread::from_figures([]), None);
}
