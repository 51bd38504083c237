//! Pins shops and customers to one processor each, if there are two. Otherwise the scheduler
//! sometimes puts both on one, and the p99 would only show its decisions.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Pins the process to the first processor.
pub(super) fn pin_shops() {
    stay_on(0);
}

/// Pins the process to the second processor, if there is one.
pub(super) fn pin_customers() {
    stay_on(1);
}

fn stay_on(nth: usize) {
    let all = sched_getaffinity(None).expect("a process knows its processors");
    let mut those = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu));
    let Some(cpu) = those.nth(nth).filter(|_| all.count() > 1) else { return };
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).expect("it may run there");
}
