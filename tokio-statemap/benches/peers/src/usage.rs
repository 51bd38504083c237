//! What this process used of the machine.

use std::fs;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads of this process, since it was started.
pub(crate) fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time on the clock that all processes share.
pub(crate) fn monotonic() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The most memory this process ever had, in bytes: its peak RSS.
pub(crate) fn peak_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// The memory this process has: its RSS, in bytes.
pub(crate) fn resident_bytes() -> u64 {
    status_bytes("VmRSS:")
}

/// What of that it filled itself. The rest are pages of files, its code above all, which the system reads
/// in, some with their neighbours, when they are first used.
pub(crate) fn filled_bytes() -> u64 {
    status_bytes("RssAnon:")
}

/// Begins to measure the peak anew.
pub(crate) fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("Linux lets a process forget its peak");
}

fn status_bytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("the key is there");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number of kB");
    kib * 1024
}

/// A moment, to measure from.
pub(crate) struct Since {
    cpu: Duration,
    wall: Instant,
}

impl Since {
    pub(crate) fn now() -> Self {
        Self { cpu: cpu(), wall: Instant::now() }
    }

    pub(crate) fn cpu(&self) -> Duration {
        cpu() - self.cpu
    }

    pub(crate) fn wall(&self) -> Duration {
        self.wall.elapsed()
    }
}
