//! Describes in words what a function did while it held a worker.

use super::request::request;
use crate::symbols::PAGE_FAULT;
use crate::trace::timeline::{FrameOrigin, Poll, PollSample, StackFrame, Timeline};

/// Returns words for what a sample shows that a function did, which follow its name: `computed`, `waited for a std
/// Mutex (futex)`. `inner` are the functions that it had called, the innermost first.
pub(super) fn blocking_cause(
    sample: &PollSample,
    inner: &[StackFrame],
    faults: PageFaults,
) -> String {
    let blocked_in = match sample.blocked_in.as_deref() {
        Some(blocked_in) => match blocked_in.split_once(" of ") {
            Some((call, what)) => Some((call, Some(what))),
            None => Some((blocked_in, None)),
        },
        None => None,
    };
    let request = request(inner, blocked_in.is_some_and(|(call, _)| call == "futex"));
    let (call, what) = match (blocked_in, request) {
        (Some((call, _)), Some(words)) => return format!("{words} ({call})"),
        (None, Some(words)) => return words,
        (None, None) if faults.took_most => return FROM_DISK.to_owned(),
        (None, None) => return "computed".to_owned(),
        (Some((PAGE_FAULT, _)), None) if faults.may_be_from_disk => return FROM_DISK.to_owned(),
        (Some((PAGE_FAULT, _)), None) => return format!("waited for memory ({PAGE_FAULT})"),
        (Some(blocked_in), None) => blocked_in,
    };
    for (calls, words) in CALLS {
        if calls.contains(&call) {
            return format!("{words}{} ({call})", kind_of(what));
        }
    }
    match entry(inner) {
        Some(entry) => format!("blocked in {entry} ({call})"),
        None => format!("blocked in {call}"),
    }
}

/// The words for a function that waited for pages of memory to be read from a disk.
pub(super) const FROM_DISK: &str = "waited for pages from disk (page faults)";

/// The page faults of a poll, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageFaults {
    /// `true` if the poll read pages from a disk, or may have because the count isn't known.
    pub(super) may_be_from_disk: bool,
    /// `true` if reading these pages took most of the poll's time.
    pub(super) took_most: bool,
}

impl PageFaults {
    pub(super) fn from_poll(timeline: &Timeline, poll: &Poll) -> Self {
        let Some(cause) = timeline.cause(poll) else {
            return Self { may_be_from_disk: true, took_most: false };
        };
        // Each fault is too short to be sampled: samples show the thread while it runs.
        let is_elsewhere = |sample: &PollSample| {
            sample.blocked_in.as_deref().is_some_and(|call| call != PAGE_FAULT)
        };
        let may_be_from_disk = cause.major_faults > 0;
        let took_most = may_be_from_disk
            && cause.blocked_ns > cause.on_cpu_ns
            && !timeline.samples(poll).iter().any(is_elsewhere);
        Self { may_be_from_disk, took_most }
    }
}

/// System calls, and the words for them. After a call on a descriptor, the kind of its file follows.
const CALLS: &[(&[&str], &str)] = &[
    (&["read", "readv", "pread64", "preadv", "recvfrom", "recvmsg", "recvmmsg"], "read"),
    (&["write", "writev", "pwrite64", "pwritev", "sendto", "sendmsg", "sendmmsg"], "wrote"),
    (&["connect"], "connected"),
    (&["accept", "accept4"], "waited for a connection"),
    (&["fsync", "fdatasync", "sync", "syncfs", "msync"], "waited for a disk"),
    (&["flock", "fcntl"], "waited for a file's lock"),
    (
        &[
            "open",
            "openat",
            "stat",
            "lstat",
            "statx",
            "newfstatat",
            "access",
            "unlink",
            "unlinkat",
            "rename",
            "renameat2",
            "mkdir",
            "rmdir",
            "getdents64",
            "readlink",
            "ftruncate",
            "fallocate",
            "close",
        ],
        "waited for the file system",
    ),
    (&["wait4", "waitid"], "waited for another process"),
    (
        &["poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"],
        "waited for I/O",
    ),
];

/// Returns the kind of file that a descriptor refers to, such as ` a pipe`.
fn kind_of(what: Option<&str>) -> &'static str {
    match what {
        None => "",
        Some(what) if what.starts_with("pipe:") => " a pipe",
        Some(what) if what.starts_with("socket:") => " a socket",
        Some(what) if what.starts_with("anon_inode:") => " an event",
        Some(what) if what.starts_with("/dev/") => " a device",
        Some(_) => " a file",
    }
}

/// Returns the function of a library that was called: the outermost one of `inner`.
fn entry(inner: &[StackFrame]) -> Option<&str> {
    let frame = inner.last()?;
    let is_library = matches!(frame.origin, FrameOrigin::Std | FrameOrigin::Dependency);
    is_library.then_some(&*frame.function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::picture::why_tests::explained;
    use FrameOrigin::{Std, System};

    fn frame(function: &str, file: Option<&str>, origin: FrameOrigin) -> StackFrame {
        let (function, file) = (function.into(), file.map(Into::into));
        StackFrame { function, file, line: Some(1), origin }
    }

    fn sample(blocked_in: Option<&str>, frames: &[StackFrame]) -> PollSample {
        PollSample {
            thread: 0,
            poll_start_ns: 0,
            at_ns: 1,
            blocked_in: blocked_in.map(str::to_owned),
            frames: frames.to_vec(),
            is_complete: true,
        }
    }

    fn cause_of(blocked_in: Option<&str>, inner: &[StackFrame]) -> String {
        blocking_cause(&sample(blocked_in, inner), inner, PageFaults::default())
    }

    #[test]
    fn calls_have_plain_words() {
        for (blocked_in, inner, words) in [
            (None, vec![], "computed"),
            (
                Some("clock_nanosleep"),
                vec![frame("nanosleep", None, System), frame("std::thread::sleep", None, Std)],
                "blocked in std::thread::sleep (clock_nanosleep)",
            ),
            (Some("clock_nanosleep"), vec![], "blocked in clock_nanosleep"),
            (
                Some("futex"),
                vec![frame("lock", Some("/rustc/1/library/std/src/sync/poison/mutex.rs"), Std)],
                "waited for a std Mutex (futex)",
            ),
            (Some("read of pipe:[7]"), vec![frame("read", None, System)], "read a pipe (read)"),
            (Some("read of /var/log/x"), vec![], "read a file (read)"),
            (
                Some("recvfrom of socket:[9]"),
                vec![frame("getaddrinfo", None, System)],
                "looked a host's name up (recvfrom)",
            ),
            (Some("wait4"), vec![], "waited for another process (wait4)"),
            (Some("membarrier"), vec![], "blocked in membarrier"),
        ] {
            assert_eq!(cause_of(blocked_in, &inner), words);
        }
    }

    #[test]
    fn a_poll_that_mostly_waited_for_pages_did_not_compute() {
        let (mut timeline, key) = explained("shop::compute");
        let (_, cause) =
            timeline.long_polls.causes.iter_mut().find(|(of, _)| *of == key).expect("its cause");
        (cause.blocked_ns, cause.on_cpu_ns, cause.major_faults) = (cause.on_cpu_ns, 0, 9);
        let said = |timeline: &Timeline| timeline.report().blame.culprits[0].blocking_cause.clone();
        assert_eq!(said(&timeline), FROM_DISK);
        // The poll was blocked in something else.
        timeline.long_polls.samples[0].blocked_in = Some("read".to_owned());
        assert_eq!(said(&timeline), "read (read)");
        timeline.long_polls.samples[0].blocked_in = None;
        let (_, cause) =
            timeline.long_polls.causes.iter_mut().find(|(of, _)| *of == key).expect("its cause");
        cause.major_faults = 0;
        assert_eq!(said(&timeline), "computed");
        // The page faults are known without any sample.
        timeline.long_polls.samples.clear();
        timeline.long_polls.sampling.dropped = 1;
        assert_eq!(said(&timeline), "");
        let (_, cause) =
            timeline.long_polls.causes.iter_mut().find(|(of, _)| *of == key).expect("its cause");
        cause.major_faults = 9;
        let report = timeline.report();
        let culprits = report.blame.culprits.iter();
        let causes: Vec<_> = culprits.map(|culprit| &*culprit.blocking_cause).collect();
        assert!(causes.contains(&FROM_DISK), "{causes:?}");
    }

    #[test]
    fn pages_that_are_read_are_waited_for() {
        let may_be = PageFaults { may_be_from_disk: true, took_most: false };
        let most = PageFaults { may_be_from_disk: true, took_most: true };
        let cause = |blocked_in, faults| blocking_cause(&sample(blocked_in, &[]), &[], faults);
        assert_eq!(cause(Some(PAGE_FAULT), may_be), FROM_DISK);
        let memory = "waited for memory (a page fault)";
        assert_eq!(cause(Some(PAGE_FAULT), PageFaults::default()), memory);
        assert_eq!((cause(None, may_be), cause(None, most)), ("computed".into(), FROM_DISK.into()));
    }
}
