//! Facts about a thread from the system: its id, CPU time, context switches, blocking call and stack.

#[cfg(all(test, tokio_unstable))]
pub(crate) mod absent;
pub(crate) mod proc;
pub(crate) mod stack;

use crate::sys::{clocks, filter};

/// Returns the calling thread's id, as the system counts them.
pub(crate) fn id() -> i32 {
    // SAFETY: it only asks for a number. Test: `sys::threads::tests::cpu_time_is_that_of_the_thread`.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// Returns the numbers of voluntary and involuntary context switches and of major page faults of the calling
/// thread so far, or `None` if the system doesn't report them.
pub(crate) fn switches() -> Option<(u64, u64, u64)> {
    if !filter::allows_all() {
        return None;
    }
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: it is filled in for this thread, and plain numbers, so zeros do as well. Test:
    // `sys::threads::tests::a_sleep_is_a_voluntary_switch`.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
            return None;
        }
        usage.assume_init()
    };
    let count = |n: i64| u64::try_from(n).ok();
    Some((count(usage.ru_nvcsw)?, count(usage.ru_nivcsw)?, count(usage.ru_majflt)?))
}

/// Returns the calling thread's CPU time so far, in ns. It excludes time that a host took of the processor.
pub(crate) fn cpu_ns() -> Option<u64> {
    cpu_time_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the CPU time of all threads of this process so far, in ns.
pub(crate) fn cpu_ns_of_all() -> Option<u64> {
    cpu_time_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the CPU time of the thread `id` of this process so far, in ns, or `None` if it has ended.
pub(crate) fn cpu_ns_of(id: i32) -> Option<u64> {
    cpu_time_of(cpu_clock_of(id))
}

/// Returns the clock of the CPU time of the thread `id` of this process.
pub(crate) fn cpu_clock_of(id: i32) -> libc::clockid_t {
    /// The bits of a clock's id for the CPU time of one thread, as the scheduler counts it (Linux,
    /// `include/linux/posix-timers_types.h`).
    const PER_THREAD_SCHED: i32 = 4 | 2;
    (!id << 3) | PER_THREAD_SCHED
}

/// Returns the time of a clock that the program doesn't read itself.
#[inline(never)]
fn cpu_time_of(clock: libc::clockid_t) -> Option<u64> {
    filter::allows_all().then(|| clocks::ns_of(clock)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn spin(time: Duration) {
        let from = cpu_ns().unwrap();
        while cpu_ns().unwrap() - from < time.as_nanos() as u64 {}
    }

    #[test]
    fn cpu_time_is_that_of_the_thread() {
        let (tell, told) = std::sync::mpsc::channel();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            spin(Duration::from_millis(20));
            tell.send((id(), cpu_ns().unwrap())).unwrap();
            stopped.recv().ok();
        });
        let (other_id, cpu) = told.recv().unwrap();
        assert_ne!(other_id, id());
        assert!(cpu >= 20_000_000);
        let seen = cpu_ns_of(other_id).unwrap();
        assert!((cpu..cpu + 20_000_000).contains(&seen), "{seen} of {cpu}");
        assert!(cpu_ns_of(id()).unwrap() <= cpu_ns().unwrap());
        assert!(cpu_ns_of_all().unwrap() >= cpu);
        drop(stop);
        other.join().unwrap();
        // A thread can be joined shortly before it is gone.
        let until = Instant::now() + Duration::from_secs(30);
        while cpu_ns_of(other_id).is_some() {
            assert!(Instant::now() < until, "it has ended");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_sleep_is_a_voluntary_switch() {
        let before = switches().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let after = switches().unwrap();
        assert!(after.0 > before.0);
        assert!(after.1 >= before.1);
    }
}
