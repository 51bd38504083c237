//! Finds what a function did while it held a worker.

use std::fmt;

use super::request::{DROPPED, LOCK_ADVICE, Request, request};
use crate::symbols::PAGE_FAULT;
use crate::trace::timeline::{FUTEX, FrameOrigin, Poll, PollSample, StackFrame, Timeline};

/// A thing that a function did. Its words follow the name of the function: `computed`, `waited for a std Mutex (futex)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum BlockingCause {
    Computed,
    /// It waited for pages of memory to be read from a disk.
    FromDisk,
    /// It waited for pages that the system had to provide.
    Memory,
    /// It asked a library for something, which made this system call if the thread was blocked.
    Asked {
        request: Request,
        call: Option<String>,
    },
    /// It made this system call: the words for it, and the kind of file.
    Called {
        act: &'static str,
        kind: &'static str,
        call: String,
    },
    /// It was blocked in a system call that this function of a library made, if one was called.
    Blocked {
        within: Option<String>,
        call: String,
    },
}

impl BlockingCause {
    /// Finds what a sample shows that a function did. `inner` are the functions that it had called, the innermost first.
    pub(super) fn from_sample(
        sample: &PollSample,
        inner: &[StackFrame],
        faults: PageFaults,
    ) -> Self {
        let (call, of) = match (sample.call(), request(inner, sample.waits_for_thread())) {
            (call, Some(request)) => {
                return Self::Asked { request, call: call.map(|(call, _)| call.to_owned()) };
            }
            (None, None) if faults.took_most => return Self::FromDisk,
            (None, None) if inner.last().is_some_and(is_drop) => {
                return Self::Asked { request: Request::Does(DROPPED), call: None };
            }
            (None, None) => return Self::Computed,
            (Some((PAGE_FAULT, _)), None) if faults.may_be_from_disk => return Self::FromDisk,
            (Some((PAGE_FAULT, _)), None) => return Self::Memory,
            (Some(call), None) => call,
        };
        let name = call.to_owned();
        for (calls, act) in CALLS {
            if calls.contains(&call) {
                return Self::Called { act, kind: kind_of(of), call: name };
            }
        }
        Self::Blocked { within: entry(inner).map(str::to_owned), call: name }
    }

    /// Returns whether it waited for another thread: a wait in no known function of a library may be for anything.
    pub(super) fn is_wait(&self) -> bool {
        match self {
            Self::Asked { call, .. } => call.as_deref() == Some(FUTEX),
            Self::Blocked { within, call } => within.is_some() && call == FUTEX,
            Self::Computed | Self::FromDisk | Self::Memory | Self::Called { .. } => false,
        }
    }

    /// Returns whether it waited for something that another thread or task must let go of. Who receives from a channel or
    /// joins a thread waits in the same system call.
    pub(super) fn is_for_a_lock(&self) -> bool {
        match self {
            Self::Asked { request, .. } => request.is_for_a_lock(),
            // The library's function may be that of a lock.
            Self::Blocked { within: Some(name), .. } => {
                ["Mutex", "RwLock"].iter().any(|lock| name.contains(lock))
            }
            Self::Blocked { within: None, .. }
            | Self::Computed
            | Self::FromDisk
            | Self::Memory
            | Self::Called { .. } => false,
        }
    }
}

impl BlockingCause {
    /// Returns what usually helps against it.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::Computed => {
                "Compute in spawn_blocking or on a pool of threads, few at once; or call yield_now in the loop."
            }
            Self::FromDisk | Self::Memory => {
                "Touch this memory in spawn_blocking, or before it is needed."
            }
            Self::Asked { request, .. } => request.advice(),
            Self::Called { act, kind: " a socket", .. } if *act != OF_FILES => {
                "Use the types of tokio::net."
            }
            Self::Called { act: OF_FILES | "waited for a disk", .. }
            | Self::Called { kind: " a file", .. } => {
                "Do all of this work on files in one spawn_blocking; tokio::fs takes one for each call."
            }
            Self::Called { act: "waited for another process", .. } => "Use tokio::process.",
            Self::Blocked { within: Some(name), .. } if name.contains("thread::sleep") => {
                "Use tokio::time::sleep."
            }
            Self::Blocked { within: Some(_), .. } if self.is_for_a_lock() => LOCK_ADVICE,
            Self::Called { .. } | Self::Blocked { .. } => {
                "Use its async counterpart, or call it in spawn_blocking."
            }
        }
    }
}

impl fmt::Display for BlockingCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Computed => f.write_str("computed"),
            Self::FromDisk => f.write_str("waited for pages from disk (page faults)"),
            Self::Memory => write!(f, "waited for memory ({PAGE_FAULT})"),
            Self::Asked { request, call: Some(call) } => write!(f, "{request} ({call})"),
            Self::Asked { request, call: None } => write!(f, "{request}"),
            // The others say what they are about.
            Self::Called { act: act @ ("read" | "wrote" | "connected"), kind, call } => {
                write!(f, "{act}{kind} ({call})")
            }
            Self::Called { act, kind: _, call } => write!(f, "{act} ({call})"),
            Self::Blocked { within: Some(function), call } => {
                write!(f, "blocked in {function} ({call})")
            }
            Self::Blocked { within: None, call } => write!(f, "blocked in {call}"),
        }
    }
}

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

const OF_FILES: &str = "waited for the file system";

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
        OF_FILES,
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

/// Returns whether a function drops a value, without being called by a library.
fn is_drop(frame: &StackFrame) -> bool {
    frame.origin == FrameOrigin::Std && frame.function.contains("drop_in_place")
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
        BlockingCause::from_sample(&sample(blocked_in, inner), inner, PageFaults::default())
            .to_string()
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
        assert_eq!(said(&timeline), BlockingCause::FromDisk.to_string());
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
        let causes: Vec<_> = culprits.map(|culprit| &culprit.blocking_cause).collect();
        assert!(causes.contains(&&BlockingCause::FromDisk.to_string()), "{causes:?}");
    }

    #[test]
    fn pages_that_are_read_are_waited_for() {
        let may_be = PageFaults { may_be_from_disk: true, took_most: false };
        let most = PageFaults { may_be_from_disk: true, took_most: true };
        let cause =
            |blocked_in, faults| BlockingCause::from_sample(&sample(blocked_in, &[]), &[], faults);
        assert_eq!(cause(Some(PAGE_FAULT), may_be), BlockingCause::FromDisk);
        assert_eq!(cause(Some(PAGE_FAULT), PageFaults::default()), BlockingCause::Memory);
        assert_eq!(
            (cause(None, may_be), cause(None, most)),
            (BlockingCause::Computed, BlockingCause::FromDisk)
        );
    }
}
