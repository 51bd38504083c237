//! Counts the stacks of threads that compute.

use std::time::Duration;

use crate::recorder::watch::cpu::{CpuSamples, MOST_STACKS, Sampled};

/// The CPU time of a thread between two samples of what it computes, at least.
pub(super) const BETWEEN_CPU_SAMPLES: Duration = Duration::from_millis(10);

impl CpuSamples {
    /// Adds a sample.
    pub(super) fn add(&mut self, addresses: Box<[u64]>, cpu_ns: u64) {
        let sampled = Sampled { samples: 1, cpu_ns };
        if addresses.is_empty() {
            return self.others.add(sampled);
        }
        for (known, of_known) in &mut self.stacks {
            if **known == *addresses {
                return of_known.add(sampled);
            }
        }
        if self.stacks.len() == MOST_STACKS {
            self.make_room();
        }
        self.stacks.push((addresses, sampled));
    }

    /// No longer tells those stacks apart that took least, half of them or more.
    fn make_room(&mut self) {
        let mut times = Vec::with_capacity(self.stacks.len());
        for (_, sampled) in &self.stacks {
            times.push(sampled.cpu_ns);
        }
        crate::util::sort::sort(&mut times);
        let median_ns = times[times.len() / 2];
        let others = &mut self.others;
        self.stacks.retain(|(_, sampled)| {
            let stays = sampled.cpu_ns > median_ns;
            if !stays {
                others.add(*sampled);
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sample_is_lost_and_the_heaviest_stay_however_many_stacks_there_are() {
        let mut all = CpuSamples::default();
        let n = 10 * MOST_STACKS as u64;
        for address in 0..n {
            all.add(Box::new([address, 7]), 10);
            // One that begins late.
            if address > n / 2 {
                all.add(Box::new([n, 7]), 10);
            }
        }
        all.add(Box::new([]), 5);
        assert!(all.stacks.len() <= MOST_STACKS);
        let late = n - n / 2 - 1;
        let heaviest = all.stacks.iter().find(|(addresses, _)| **addresses == [n, 7]);
        assert_eq!(heaviest.unwrap().1, Sampled { samples: late, cpu_ns: 10 * late });
        let mut sum = all.others;
        all.stacks.iter().for_each(|(_, sampled)| sum.add(*sampled));
        assert_eq!(sum, Sampled { samples: n + late + 1, cpu_ns: 10 * (n + late) + 5 });
    }
}
