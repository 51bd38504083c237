//! A log-linear histogram: exact counts of values with a resolution of 1 %.

use crate::recorder::boxed::boxed_array;

/// The number of steps in an octave, as a power of two: a step is at most 1/128 of its values wide.
const STEP_BITS: u32 = 7;
const STEPS: usize = 1 << STEP_BITS;

/// The number of values of each size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Histogram {
    /// The counts of the steps of each octave, allocated when its first value comes. Values below 128 are in the first
    /// octave, each on its own.
    octaves: Vec<Option<Box<[u64; STEPS]>>>,
}

impl Histogram {
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        let (octave, step) = place(value);
        match self.octaves.get_mut(octave) {
            Some(Some(steps)) => steps[step] = steps[step].wrapping_add(1),
            _ => {
                let step = self.step(octave, step);
                *step = step.wrapping_add(1);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn step(&mut self, octave: usize, step: usize) -> &mut u64 {
        while self.octaves.len() <= octave {
            self.octaves.push(None);
        }
        &mut self.octaves[octave].get_or_insert_with(|| boxed_array(0))[step]
    }

    /// Adds the values of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (least, _, n) in other.steps() {
            let (octave, step) = place(least);
            let step = self.step(octave, step);
            *step = step.wrapping_add(n);
        }
    }

    /// Returns the steps that have values: the least and the greatest value of each, and how many it has.
    pub(crate) fn steps(&self) -> Vec<(u64, u64, u64)> {
        let mut all = Vec::new();
        for (octave, steps) in self.octaves.iter().enumerate() {
            let Some(steps) = steps else { continue };
            for (step, &n) in steps[..].iter().enumerate() {
                if n > 0 {
                    let (least, greatest) = bounds(octave, step);
                    all.push((least, greatest, n));
                }
            }
        }
        all
    }
}

/// Returns the octave and the step of a value.
#[inline]
fn place(value: u64) -> (usize, usize) {
    // Octave 0 has the values that have no more bits than a step.
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(STEP_BITS);
    let step = value >> octave.saturating_sub(1);
    (octave as usize, step as usize % STEPS)
}

/// Returns the least and the greatest value of a step.
fn bounds(octave: usize, step: usize) -> (u64, u64) {
    match octave.checked_sub(1) {
        None => (step as u64, step as u64),
        Some(shift) => {
            let least = ((STEPS + step) as u64) << shift;
            (least, least + ((1 << shift) - 1))
        }
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Histogram { octaves }
}

#[cfg(all(has_black_box, feature = "read"))]
impl Histogram {
    /// Returns whether it has no octave that no value is in.
    pub(super) fn is_whole(&self) -> bool {
        self.octaves.len() <= place(u64::MAX).0 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_in_a_step_of_at_most_one_percent() {
        let edges = (0..64).flat_map(|bits| [1_u64 << bits, (1 << bits) - 1, (1 << bits) + 1]);
        for value in edges.chain((0..3000).map(|i| i * i * 7919)).chain([u64::MAX]) {
            let mut histogram = Histogram::default();
            histogram.add(value);
            let [(least, greatest, 1)] = histogram.steps()[..] else {
                panic!("{value}: {histogram:?}")
            };
            assert!((least..=greatest).contains(&value), "{value}: {least} {greatest}");
            assert!(
                (greatest - least) as f64 <= least as f64 * 0.01,
                "{value}: {least} {greatest}"
            );
        }
    }

    #[test]
    fn steps_are_in_order_and_add_up() {
        let (mut one, mut other, mut both) = <(Histogram, Histogram, Histogram)>::default();
        for i in 0..10_000_u64 {
            let value = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 60);
            if i % 3 == 0 { &mut one } else { &mut other }.add(value);
            both.add(value);
        }
        one.merge(&other);
        assert_eq!(one, both);
        let steps = both.steps();
        assert!(steps.windows(2).all(|two| two[0].1 < two[1].0));
        assert_eq!(steps.iter().map(|&(.., n)| n).sum::<u64>(), 10_000);
    }
}
