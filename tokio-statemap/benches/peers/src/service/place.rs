//! Where shops and customers run: on a processor each, if there are two. Elsewhere the scheduler puts
//! both on one now and then, and what it decides is all that a p99 says.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Stays on the first processor that there is.
pub(super) fn of_shops() {
    stay_on(0);
}

/// Stays on the second, if there is one.
pub(super) fn of_customers() {
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
