//! What a function did that held a worker.

use crate::trace::timeline::{FrameOrigin, PollSample, StackFrame};

/// What a sample shows that a function did, in words behind its name: `computed`, `waited for a std Mutex
/// (futex)`. `inner` are the functions that it was in the middle of, the innermost first.
pub(super) fn act(sample: &PollSample, inner: &[StackFrame]) -> String {
    let has = |name: &str| inner.iter().any(|frame| is_of(frame, name));
    let Some(blocked_in) = &sample.blocked_in else {
        return match has("block_on") {
            true => "ran another runtime's block_on".to_owned(),
            false => "computed".to_owned(),
        };
    };
    let (call, what) = match blocked_in.split_once(" of ") {
        Some((call, what)) => (call, Some(what)),
        None => (blocked_in.as_str(), None),
    };
    // What is on the way says more than the call that it ends in.
    for (names, words) in ON_THE_WAY {
        if names.iter().any(|name| has(name)) {
            return format!("{words} ({call})");
        }
    }
    if call == "futex" {
        let whose = match inner.iter().any(|frame| is_of(frame, "parking_lot")) {
            true => "parking_lot",
            false => "std",
        };
        for (names, lock) in LOCKS {
            if names.iter().any(|name| has(name)) {
                return format!("waited for a {whose} {lock} (futex)");
            }
        }
    }
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

/// What a function does that is on the way, whatever it is blocked in.
const ON_THE_WAY: &[(&[&str], &str)] = &[
    (
        &["getaddrinfo", "ToSocketAddrs", "to_socket_addrs", "lookup_host"],
        "looked a host's name up",
    ),
    (&["block_on"], "ran another runtime's block_on"),
    (&["JoinInner", "JoinHandle<T>::join", "thread::join", "Thread::join"], "waited for a thread"),
    (&["Condvar", "condvar.rs"], "waited on a std Condvar"),
    (&["sync::mpmc", "sync::mpsc", "/mpmc/", "/mpsc/mod.rs"], "waited for a std channel"),
    (&["crossbeam_channel", "/crossbeam-channel-"], "waited for a crossbeam channel"),
];

/// Locks, by what is in the names of their functions.
const LOCKS: &[(&[&str], &str)] = &[
    (&["RwLock", "rwlock.rs"], "RwLock"),
    (&["Mutex", "mutex.rs"], "Mutex"),
    (&["sync::once", "OnceLock", "LazyLock", "once.rs", "once_lock.rs"], "Once"),
];

/// System calls, and what they are to a person; where they have a descriptor, what it is comes next.
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

/// ` a file`, by what a descriptor refers to.
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

fn is_of(frame: &StackFrame, name: &str) -> bool {
    frame.function.contains(name) || frame.file.as_ref().is_some_and(|file| file.contains(name))
}

/// The function of a library that was called: the outermost of those within.
fn entry(inner: &[StackFrame]) -> Option<&str> {
    let is_library = |origin| matches!(origin, FrameOrigin::Std | FrameOrigin::Dependency);
    let frame = inner.last().filter(|frame| is_library(frame.origin))?;
    Some(&frame.function)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: Option<&str>, origin: FrameOrigin) -> StackFrame {
        let (function, file) = (function.into(), file.map(Into::into));
        StackFrame { function, file, line: Some(1), origin }
    }

    #[test]
    fn a_call_is_told_as_a_person_would() {
        use FrameOrigin::{Std, System};
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
            let sample = PollSample {
                thread: 0,
                poll_start_ns: 0,
                at_ns: 1,
                blocked_in: blocked_in.map(str::to_owned),
                frames: inner.clone(),
                is_complete: true,
            };
            assert_eq!(act(&sample, &inner), words);
        }
    }
}
