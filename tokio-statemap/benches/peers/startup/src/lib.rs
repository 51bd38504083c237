//! What all the tiny programs print.

use rustix::time::{ClockId, clock_gettime};

/// Prints how much CPU time this process took up to now, and what time it is on the clock that all
/// processes share, in ns. The first line of `main`.
pub fn print() {
    let [cpu, now] = [ClockId::ProcessCPUTime, ClockId::Monotonic].map(|clock| {
        let time = clock_gettime(clock);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    });
    println!("[{cpu}, {now}]");
}
