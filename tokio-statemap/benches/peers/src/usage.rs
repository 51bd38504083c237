//! The resources used by this process.

use std::fs;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time of all threads of this process since its start.
pub(crate) fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the time of a clock that is common to all processes.
pub(crate) fn monotonic() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the peak RSS of this process, in bytes.
pub(crate) fn peak_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// Returns the RSS of this process, in bytes.
pub(crate) fn resident_bytes() -> u64 {
    status_bytes("VmRSS:")
}

/// Returns the part of the RSS that the process filled itself, in bytes. The rest are pages of
/// files, mostly its code, which the system loads when they or their neighbours are first used.
pub(crate) fn filled_bytes() -> u64 {
    status_bytes("RssAnon:")
}

/// Resets the peak RSS.
pub(crate) fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("Linux lets a process forget its peak");
}

fn status_bytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("the key is there");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number of kB");
    kib * 1024
}

/// A point in time to measure from.
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
