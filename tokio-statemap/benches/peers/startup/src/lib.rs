//! The output of the tiny programs.

use rustix::time::{ClockId, clock_gettime};

/// Prints the CPU time of this process and the time of a clock that is common to all processes, in
/// ns. Called in the first line of `main`.
pub fn print() {
    let [cpu, now] = [ClockId::ProcessCPUTime, ClockId::Monotonic].map(|clock| {
        let time = clock_gettime(clock);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    });
    println!("[{cpu}, {now}]");
}
