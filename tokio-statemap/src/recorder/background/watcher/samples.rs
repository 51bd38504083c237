//! Decides which samples are kept.

use crate::recorder::hot::Shared;
use crate::recorder::locks::lock;
use crate::recorder::watch::{Sample, Samples};

/// The most samples that are kept of a recorder's polls.
const MAX_SAMPLES: usize = 4096;

/// Keeps a sample, if there is room for it.
pub(super) fn add(recorder: &Shared, sample: Sample) {
    let is_dropped = recorder.kept.is_dropped();
    lock(&recorder.watch.samples).add(sample, &|sample| is_dropped(sample.ticks));
}

impl Samples {
    /// Adds a sample. If there are too many, those of dropped polls make room.
    fn add(&mut self, sample: Sample, is_dropped: &dyn Fn(&Sample) -> bool) {
        if self.all.len() == MAX_SAMPLES {
            self.all.retain(|sample| !is_dropped(sample));
        }
        if self.all.len() < MAX_SAMPLES {
            return self.all.push(sample);
        }
        self.dropped += 1;
        // The sample of the youngest poll makes room for one of an older poll.
        let age = |sample: &Sample| sample.ticks.saturating_sub(sample.start_ticks);
        let (mut youngest, mut least) = (None, age(&sample));
        for other in &mut self.all {
            if age(other) < least {
                least = age(other);
                youngest = Some(other);
            }
        }
        if let Some(youngest) = youngest {
            *youngest = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_evicted_polls_make_room_for_new_ones() {
        let sample = |start_ticks, ticks| {
            let addresses = Box::default();
            Sample { stream: 1, start_ticks, ticks, blocked: None, addresses, is_complete: false }
        };
        let mut samples = Samples::default();
        for at in 0..MAX_SAMPLES as u64 {
            samples.add(sample(at, at + 100), &|_| false);
        }
        samples.add(sample(5000, 5050), &|_| false);
        assert_eq!((samples.all.len(), samples.dropped), (MAX_SAMPLES, 1), "it is the youngest");
        samples.add(sample(5000, 5200), &|_| false);
        assert_eq!((samples.all.len(), samples.dropped), (MAX_SAMPLES, 2));
        assert!(
            samples.all.contains(&sample(5000, 5200)) && !samples.all.contains(&sample(0, 100))
        );
        samples.add(sample(6000, 6001), &|sample| sample.ticks < 600);
        assert_eq!((samples.all.len(), samples.dropped), (MAX_SAMPLES - 498, 2));
        assert!(samples.all.contains(&sample(6000, 6001)));
    }
}
