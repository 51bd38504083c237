//! Figures, turn by turn.

use std::collections::BTreeMap;

use crate::variants::Variant;
use crate::workloads::Workload;

/// What was measured, in the order of the turns: `[turn]` of two variants were measured at about the
/// same time.
#[derive(Default)]
pub(crate) struct Samples(BTreeMap<(Workload, Variant, &'static str), Vec<f64>>);

impl Samples {
    pub(crate) fn push(&mut self, of: (Workload, Variant), metric: &'static str, figure: f64) {
        self.0.entry((of.0, of.1, metric)).or_default().push(figure);
    }

    /// Empty if it wasn't measured.
    pub(crate) fn of(&self, of: (Workload, Variant), metric: &'static str) -> &[f64] {
        self.0.get(&(of.0, of.1, metric)).map_or(&[], Vec::as_slice)
    }

    /// By how much a variant's figure is over the one without hooks, turn by turn.
    pub(crate) fn over_none(
        &self,
        of: (Workload, Variant),
        metric: &'static str,
    ) -> impl Iterator<Item = f64> {
        self.pairs(of, (of.0, Variant::None), metric).map(|(this, none)| this - none)
    }

    /// The figures of two variants, turn by turn.
    pub(crate) fn pairs(
        &self,
        a: (Workload, Variant),
        b: (Workload, Variant),
        metric: &'static str,
    ) -> impl Iterator<Item = (f64, f64)> {
        self.of(a, metric).iter().copied().zip(self.of(b, metric).iter().copied())
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
    /// `None` of nothing.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
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
    let spread = Spread::of([4.0, 1.0, 3.0, 2.0]);
    assert_eq!(spread, Some(Spread { median: 2.5, low: 1.75, high: 3.25 }));
    assert_eq!(Spread::of([]), None);
}
