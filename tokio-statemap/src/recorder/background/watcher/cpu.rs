//! Samples what workers compute, in polls of any length. Each worker is asked for its stack once it has computed for
//! some time.
//!
//! A request lasts until a tick of the kernel finds the thread on a processor. A process has room for few requests, and
//! long polls need them, so one worker is asked at a time.

use std::time::{Duration, Instant};

use super::Tools;
use super::looked_at::AwakeId;
use crate::recorder::clock;
use crate::recorder::hot::Shared;
use crate::recorder::locks::lock;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::look::{Doing, Look};
use crate::recorder::watch::cpu::{CpuSamples, MOST_STACKS, Sampled};
use crate::sys::threads;
use crate::sys::threads::stack::{Answer, Request, RunningStack};

/// The least CPU time of a thread between two samples of what it computes.
const BETWEEN: Duration = Duration::from_millis(10);

/// The time after which a thread that hasn't answered is no longer waited for: it is idle.
const PATIENCE: Duration = Duration::from_millis(50);

/// The time between two looks at the signals that a worker blocks. Such a look takes longer than a sample.
const BETWEEN_CHECKS: Duration = Duration::from_secs(1);

/// The most CPU time that one sample stands for, in ns.
const MOST_NS: u64 = 100_000_000;

/// The most workers whose counts are remembered.
const MOST_WORKERS: usize = 256;

/// The samples of what workers compute.
#[derive(Debug, Default)]
pub(super) struct CpuSampler {
    /// The worker that is asked.
    asked: Option<Asked>,
    counted: Vec<(AwakeId, Counted)>,
    /// The number of workers whose counts made room for others.
    replaced: usize,
}

/// A worker that is asked for its stack.
#[derive(Debug)]
struct Asked {
    id: AwakeId,
    request: Request,
    at: Instant,
}

/// The CPU time of a thread that is covered by samples.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// The thread, and the time since which is recorded, in ticks.
    of: Option<(i32, u64)>,
    /// The thread's CPU time at its last sample, or at the first look at it, in ns.
    cpu_ns: u64,
    /// The time of the last look at the signals that the thread blocks, at which it could be asked.
    checked_at: Option<Instant>,
}

impl Counted {
    /// Returns the CPU time of the thread that no sample covers yet, in ns. `None` if the thread has ended, or nothing
    /// is recorded.
    fn rest_ns(&mut self, thread: i32, since: Option<u64>) -> Option<u64> {
        let of = Some((thread, since?)).filter(|_| thread != 0);
        let now_ns = threads::cpu_ns_of(thread).filter(|_| of.is_some())?;
        if self.of != of {
            *self = Self { of, cpu_ns: now_ns, checked_at: None };
        }
        Some(now_ns.saturating_sub(self.cpu_ns))
    }
}

impl CpuSampler {
    fn counted(&mut self, id: AwakeId) -> &mut Counted {
        let known = self.counted.iter().position(|(of, _)| *of == id);
        let at = known.unwrap_or_else(|| {
            if self.counted.len() < MOST_WORKERS {
                self.counted.push((id, Counted::default()));
                return self.counted.len() - 1;
            }
            let oldest = self.replaced % MOST_WORKERS;
            self.replaced = self.replaced.wrapping_add(1);
            self.counted[oldest] = (id, Counted::default());
            oldest
        });
        &mut self.counted[at].1
    }

    /// Withdraws the request to the worker that is asked.
    pub(super) fn leave(&mut self) {
        self.asked = None;
    }
}

impl Tools {
    /// Samples what a worker computes, if a sample is due.
    pub(super) fn sample_cpu(
        &mut self,
        id: AwakeId,
        recorder: &Shared,
        buffer: &Buffer,
        look: Look,
    ) {
        let (thread, since) = (buffer.watched.thread(), recorder.kept.recording_since());
        if self.cpu.asked.as_ref().is_some_and(|asked| asked.id == id) {
            self.take_answer(id, recorder, thread, since);
        }
        // An answer is taken when its thread is looked at next.
        let is_awaited = |asked: &Asked| {
            asked.at.elapsed() < if asked.request.is_answered() { 4 * PATIENCE } else { PATIENCE }
        };
        if self.cpu.asked.as_ref().is_some_and(is_awaited) {
            return;
        }
        self.cpu.leave();
        let is_in_poll = look.doing != Doing::Other && buffer.watched.worker().is_some();
        if !is_in_poll || !self.budget.allows_cpu_sample() {
            return;
        }
        let rest_ns = self.cpu.counted(id).rest_ns(thread, since);
        if rest_ns.is_none_or(|ns| u128::from(ns) < BETWEEN.as_nanos()) {
            return;
        }
        self.budget.takes_cpu_sample();
        let (at, counted) = (Instant::now(), self.cpu.counted(id));
        let is_checked = counted.checked_at.is_some_and(|last| at - last < BETWEEN_CHECKS);
        let ask = if is_checked { Request::unchecked } else { Request::new };
        match ask(thread, clock::ticks) {
            Ok(request) => {
                if !is_checked {
                    counted.checked_at = Some(at);
                }
                self.cpu.asked = Some(Asked { id, request, at });
            }
            // There is no use in asking again soon.
            Err(_) => counted.of = None,
        }
    }

    fn take_answer(&mut self, id: AwakeId, recorder: &Shared, thread: i32, since: Option<u64>) {
        let answer = self.cpu.asked.as_ref().map(|asked| asked.request.answer());
        if matches!(answer, Some(Answer::NotYet)) {
            return;
        }
        self.cpu.leave();
        let cpu_ns = self.cpu.counted(id).rest_ns(thread, since);
        // If it answered too late, the next sample covers this time, too.
        if let (Some(Answer::Copied(RunningStack { stack, .. })), Some(cpu_ns)) = (answer, cpu_ns) {
            self.budget.start();
            let (addresses, _) = self.frames(&stack);
            self.cpu.counted(id).cpu_ns += cpu_ns;
            // The worker may not have been looked at for a long time, and the stack says nothing about that time.
            let known_ns = cpu_ns.min(MOST_NS);
            let mut samples = lock(&recorder.watch.cpu);
            samples.add(addresses, known_ns);
            samples.others.add(Sampled { samples: 0, cpu_ns: cpu_ns - known_ns });
        }
    }
}

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

    /// Merges stacks that differ only in the innermost instruction into the one that took most. If there are still more
    /// than half as many, counts those that took least among the others.
    fn make_room(&mut self) {
        let mut merged: Vec<(Box<[u64]>, Sampled, u64)> = Vec::new();
        for (addresses, sampled) in std::mem::take(&mut self.stacks) {
            match merged.iter_mut().find(|(known, ..)| known[1..] == addresses[1..]) {
                Some((known, sum, most_ns)) => {
                    if sampled.cpu_ns > *most_ns {
                        (*known, *most_ns) = (addresses, sampled.cpu_ns);
                    }
                    sum.add(sampled);
                }
                None => merged.push((addresses, sampled, sampled.cpu_ns)),
            }
        }
        let mut times = Vec::with_capacity(merged.len());
        for (_, sampled, _) in &merged {
            times.push(sampled.cpu_ns);
        }
        crate::util::sort::sort(&mut times);
        let least_ns = if merged.len() > MOST_STACKS / 2 { times[times.len() / 2] } else { 0 };
        for (addresses, sampled, _) in merged {
            match sampled.cpu_ns > least_ns {
                true => self.stacks.push((addresses, sampled)),
                false => self.others.add(sampled),
            }
        }
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
            all.add(Box::new([7, address]), 10);
            // This function begins late.
            if address > n / 2 {
                all.add(Box::new([7, n]), 10);
            }
        }
        all.add(Box::new([]), 5);
        assert!(all.stacks.len() <= MOST_STACKS);
        let late = n - n / 2 - 1;
        let heaviest = all.stacks.iter().find(|(addresses, _)| **addresses == [7, n]);
        assert_eq!(heaviest.unwrap().1, Sampled { samples: late, cpu_ns: 10 * late });
        let mut sum = all.others;
        assert!(all.stacks.len() > 1);
        all.stacks.iter().for_each(|(_, sampled)| sum.add(*sampled));
        assert_eq!(sum, Sampled { samples: n + late + 1, cpu_ns: 10 * (n + late) + 5 });
    }

    #[test]
    fn the_last_workers_are_counted_however_many_there_were() {
        let mut sampler = CpuSampler::default();
        for id in 0..3 * MOST_WORKERS {
            sampler.counted((id, 0)).cpu_ns = id as u64;
        }
        for id in 2 * MOST_WORKERS..3 * MOST_WORKERS {
            assert_eq!(sampler.counted((id, 0)).cpu_ns, id as u64);
        }
        assert_eq!(sampler.counted.len(), MOST_WORKERS);
    }

    #[test]
    fn a_function_of_many_instructions_stays_one() {
        let mut all = CpuSamples::default();
        for instruction in 0..20 * MOST_STACKS as u64 {
            // The hottest stack, and those of a function that is called from many places.
            all.add(Box::new([7, 1, 2]), 10);
            all.add(Box::new([1000 + instruction, 1, 2]), 10);
            all.add(Box::new([5, 1000 + instruction, 2]), 1);
        }
        let sum = |of: &dyn Fn(&[u64]) -> bool| {
            let all = all.stacks.iter().filter(|(addresses, _)| of(addresses));
            all.map(|(_, sampled)| sampled.cpu_ns).sum::<u64>()
        };
        let n = 20 * MOST_STACKS as u64;
        assert_eq!(sum(&|addresses| addresses[1] == 1), 20 * n, "nothing of it is lost");
        assert!(sum(&|addresses| addresses[0] == 7) > 10 * n, "and it is at its hottest");
        assert!(all.stacks.len() <= MOST_STACKS && all.others.cpu_ns <= n);
    }
}
