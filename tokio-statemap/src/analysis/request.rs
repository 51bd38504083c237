//! Finds what a program asked a library for, by the functions on the stack of a thread.

use std::fmt;

use crate::trace::timeline::{FrameOrigin, StackFrame};
use FrameOrigin::{Dependency, Runtime, Std, System};

/// Returns the program's request. The outermost function in [`REQUESTS`] decides, as the functions that it
/// calls are the library's own business. `waits` is `true` if the thread waits for another one.
pub(super) fn request(inner: &[StackFrame], waits: bool) -> Option<Request> {
    for place in (0..inner.len()).rev() {
        let frame = &inner[place];
        let function = without_types(&frame.function);
        for (origins, names, request) in REQUESTS {
            let is_possible = match request {
                Request::Does(_) | Request::Panics { .. } => true,
                Request::WaitsFor(_) | Request::Lock(..) => waits,
                Request::Value => waits && !inner[..place].iter().any(wakes_tasks),
                // The function that is run once may itself wait for something.
                Request::Once => waits && inner[..place].iter().all(is_of_system),
            };
            let is_named = |name: &&str| function.contains(name) || is_in_file(frame, name);
            if is_possible && origins.contains(&frame.origin) && names.iter().any(is_named) {
                return Some(request.seen_in(inner));
            }
        }
    }
    None
}

/// The purpose of a call of a library's function. Its words follow the name of the function that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Request {
    /// The call does this, whatever the function is blocked in.
    Does(&'static str),
    /// The call waits for this.
    WaitsFor(&'static str),
    /// The call looks at the value of a watch channel, or sets it.
    Value,
    /// The call waits for this lock of the standard library, `std`, or of `parking_lot`.
    Lock(&'static str, Primitive),
    /// The call runs something once, or waits for the thread that does.
    Once,
    /// The call panics, and may print a backtrace of that.
    Panics { prints: bool },
}

/// A type by which threads wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Primitive {
    Barrier,
    Condvar,
    RwLock,
    Mutex,
}

impl Request {
    /// Returns the request with what a stack shows of it.
    fn seen_in(self, inner: &[StackFrame]) -> Self {
        let is_any = |names: &[&str]| {
            inner.iter().any(|frame| names.iter().any(|name| mentions(frame, name)))
        };
        match self {
            Self::Panics { .. } => {
                let prints = is_any(&["BacktraceLock", "backtrace_rs", "/backtrace/src/"]);
                Self::Panics { prints }
            }
            Self::Lock(_, lock) if is_any(&["parking_lot"]) => Self::Lock("parking_lot", lock),
            Self::Does(_) | Self::WaitsFor(_) | Self::Value | Self::Lock(..) | Self::Once => self,
        }
    }

    /// Returns whether a thread waits until another lets go of something.
    pub(super) fn is_for_a_lock(self) -> bool {
        match self {
            Self::Value | Self::Lock(_, Primitive::RwLock | Primitive::Mutex) => true,
            Self::Lock(_, Primitive::Barrier | Primitive::Condvar) | Self::Once => false,
            Self::Does(_) | Self::WaitsFor(_) | Self::Panics { .. } => false,
        }
    }
}

/// The thing that usually helps if threads wait for a lock.
pub(super) const LOCK_ADVICE: &str =
    "Hold the lock for less: prepare what goes into it before, and keep no guard over an await.";

impl Request {
    /// Returns what usually helps against it.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Does(LOOKED_UP) => "Use tokio::net::lookup_host.",
            Self::Does(DROPPED) => "Drop it in spawn_blocking or on another thread, or in parts.",
            Self::Does(RAN_A_CHILD) => "Use tokio::process.",
            Self::Does(BLOCKED_ON) => "Await the future, or call block_on in spawn_blocking.",
            Self::Does(_) => "Do it more seldom, or in spawn_blocking.",
            Self::WaitsFor("a Tokio channel") => "Use the channel's async functions.",
            Self::WaitsFor("a Tokio lock") => "Use the lock's async functions.",
            Self::WaitsFor(_) => {
                "Wait for it in spawn_blocking, or have the other thread answer through a tokio::sync::oneshot."
            }
            Self::Value => {
                "Drop what borrow returned before send and before any await, or clone the value."
            }
            Self::Lock(_, Primitive::Mutex | Primitive::RwLock) => LOCK_ADVICE,
            Self::Lock(_, Primitive::Barrier | Primitive::Condvar) | Self::Once => {
                "Use Tokio's counterpart, such as Notify, Barrier or OnceCell; or wait in spawn_blocking."
            }
            Self::Panics { .. } => "Return an error in place of the panic.",
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Does(words) => f.write_str(words),
            Self::WaitsFor(what) => write!(f, "waited for {what}"),
            Self::Value => f.write_str("waited for the value of a watch channel"),
            Self::Panics { prints: true } => f.write_str("panicked, and printed a backtrace"),
            Self::Panics { prints: false } => f.write_str("panicked"),
            Self::Lock(of, lock) => write!(f, "waited for a {of} {lock:?}"),
            Self::Once => f.write_str("waited for a std Once"),
        }
    }
}

/// The requests: the origins of functions, parts of their names or of their files' names, and the purposes of a call.
/// Work that other threads do for this one, such as Tokio's `lookup_host`, is not on its stack and not in the table.
const REQUESTS: &[(&[FrameOrigin], &[&str], Request)] = &[
    (&[System], &["getaddrinfo", "gethostbyname"], Request::Does(LOOKED_UP)),
    (&[Std], &["ToSocketAddrs", "to_socket_addrs", "lookup_host"], Request::Does(LOOKED_UP)),
    (
        &[Std],
        &["panic_fmt", "begin_panic", "panic_handler", "rust_panic_with_hook", "default_hook"],
        Request::Panics { prints: false },
    ),
    (
        &[Std, Dependency],
        &["std::backtrace::", "std/src/backtrace.rs", "backtrace::capture::", "/backtrace-"],
        Request::Does("took a backtrace"),
    ),
    (&[Std], &["std::process::", "/src/process.rs", "/process/"], Request::Does(RAN_A_CHILD)),
    (&[Runtime], &["blocking_recv", "blocking_send"], Request::WaitsFor("a Tokio channel")),
    (
        &[Runtime],
        &["blocking_lock", "blocking_read", "blocking_write"],
        Request::WaitsFor("a Tokio lock"),
    ),
    (&[Runtime], WATCH, Request::Value),
    (&[Dependency, Std, Runtime], &["block_on"], Request::Does(BLOCKED_ON)),
    (&[Dependency], &["rayon::", "rayon_core::", "/rayon-"], Request::WaitsFor("rayon")),
    (&[Dependency], &["async_channel::", "/async-channel-"], Request::WaitsFor("an async-channel")),
    (
        &[Dependency],
        &["crossbeam_channel::", "/crossbeam-channel-"],
        Request::WaitsFor("a crossbeam channel"),
    ),
    (&[Dependency], &["flume::", "/flume-"], Request::WaitsFor("a flume channel")),
    (
        &[Std],
        &["JoinInner", "JoinHandle::join", "thread::join", "Thread::join", "thread::scoped"],
        Request::WaitsFor("a thread"),
    ),
    (
        &[Std],
        &["sync::mpmc", "sync::mpsc", "/mpmc/", "/mpsc/mod.rs", "/mpsc.rs"],
        Request::WaitsFor("a std channel"),
    ),
    (&[Std], &["Barrier", "barrier.rs"], Request::Lock("std", Primitive::Barrier)),
    (&[Std, Dependency], &["Condvar", "condvar.rs"], Request::Lock("std", Primitive::Condvar)),
    (&[Std, Dependency], &["RwLock", "rwlock.rs"], Request::Lock("std", Primitive::RwLock)),
    (&[Std, Dependency], &["Mutex", "mutex.rs"], Request::Lock("std", Primitive::Mutex)),
    (&[Std], &["sync::once", "OnceLock", "LazyLock", "once.rs", "once_lock.rs"], Request::Once),
];

/// The words for a drop that takes long, which no function in the table stands for.
pub(super) const DROPPED: &str = "dropped a value";
const BLOCKED_ON: &str = "waited in block_on";
const RAN_A_CHILD: &str = "ran another program";
const LOOKED_UP: &str = "looked a host's name up";

/// Names of the functions of watch channels, or of their file.
const WATCH: &[&str] = &["tokio::sync::watch::", "/src/sync/watch.rs"];

/// Returns whether a function is one of a watch channel. It waits for something that the program holds, as a
/// `watch::Ref` keeps others from sending.
pub(super) fn is_of_watch(frame: &StackFrame) -> bool {
    let function = without_types(&frame.function);
    WATCH.iter().any(|name| function.contains(name) || is_in_file(frame, name))
}

/// Returns whether the runtime wakes tasks by this function, for which it takes locks of its own.
pub(super) fn wakes_tasks(frame: &StackFrame) -> bool {
    const NAMES: [&str; 2] = ["tokio::runtime::", "tokio::sync::notify::"];
    const FILES: [&str; 2] = ["/src/runtime/", "/src/sync/notify.rs"];
    let function = without_types(&frame.function);
    frame.origin == Runtime
        && (NAMES.iter().any(|name| function.contains(name))
            || FILES.iter().any(|name| is_in_file(frame, name)))
}

fn is_of_system(frame: &StackFrame) -> bool {
    matches!(frame.origin, Std | System)
}

/// Returns whether the name of a function, or that of its file, contains `name`.
fn mentions(frame: &StackFrame, name: &str) -> bool {
    frame.function.contains(name) || is_in_file(frame, name)
}

fn is_in_file(frame: &StackFrame, name: &str) -> bool {
    frame.file.as_ref().is_some_and(|file| file.contains(name))
}

/// Returns a function's name without lists of types, which may contain any name: `std::sync::OnceLock::get` for
/// `std::sync::OnceLock<std::sync::Mutex<T>>::get`.
fn without_types(function: &str) -> String {
    let (mut name, mut depth, mut before) = (String::with_capacity(function.len()), 0_u32, ' ');
    for c in function.chars() {
        let begins_list = || name.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match c {
            '<' if depth > 0 || begins_list() => depth += 1,
            '>' if depth > 0 && before != '-' => depth -= 1,
            _ if depth == 0 => name.push(c),
            _ => {}
        }
        before = c;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: Option<&str>, origin: FrameOrigin) -> StackFrame {
        let (function, file) = (function.into(), file.map(Into::into));
        StackFrame { function, file, line: Some(1), origin }
    }

    fn said(inner: &[StackFrame], waits: bool) -> Option<String> {
        request(inner, waits).map(|request| request.to_string())
    }

    /// Stacks as they are seen, the innermost function first.
    #[test]
    fn the_outermost_request_decides() {
        let std = |function| frame(function, None, Std);
        let dependency = |function| frame(function, None, Dependency);
        let runtime = |function| frame(function, None, Runtime);
        let condvar = || vec![std("std::sys::futex_wait"), std("std::sync::Condvar::wait")];
        let on_condvar = |outer: &[StackFrame]| [condvar(), outer.to_vec()].concat();
        let mutex = || {
            let name = "std::sync::Mutex<alloc::vec::Vec<tokio::runtime::Task>>::lock";
            vec![std("std::sys::sync::mutex::futex::Mutex::lock_contended"), std(name)]
        };
        let on_mutex = |outer: &[StackFrame]| [mutex(), outer.to_vec()].concat();
        let join =
            frame("in_worker_cold", Some("/index/rayon-core-1.13.0/src/registry.rs"), Dependency);
        for (inner, words) in [
            (condvar(), "waited for a std Condvar"),
            (
                on_condvar(&[dependency("rayon_core::latch::LockLatch::wait_and_reset")]),
                "waited for rayon",
            ),
            (on_condvar(&[join]), "waited for rayon"),
            (
                on_condvar(&[
                    dependency("parking::Inner::park"),
                    dependency("event_listener::Listener<T>::wait"),
                    dependency("async_channel::Receiver<T>::recv_blocking"),
                ]),
                "waited for an async-channel",
            ),
            (
                on_condvar(&[
                    runtime("tokio::runtime::park::CachedParkThread::block_on"),
                    runtime("tokio::sync::mpsc::bounded::Receiver<T>::blocking_recv"),
                ]),
                "waited for a Tokio channel",
            ),
            (on_condvar(&[std("std::sync::mpsc::Receiver<T>::recv")]), "waited for a std channel"),
            (
                on_mutex(&[
                    runtime("tokio::loom::std::parking_lot::RwLock<T>::write"),
                    frame("send_if_modified<…>", Some("/tokio-1.54.1/src/sync/watch.rs"), Runtime),
                ]),
                "waited for the value of a watch channel",
            ),
            // The value is set, and the tasks that wait for it are woken.
            (
                on_mutex(&[
                    runtime("tokio::runtime::scheduler::inject::Shared<T>::push"),
                    runtime("tokio::sync::watch::Sender<T>::send"),
                ]),
                "waited for a std Mutex",
            ),
            // Another thread looks the name up.
            (
                on_mutex(&[
                    runtime("tokio::runtime::blocking::pool::Spawner::spawn_task"),
                    runtime(
                        "<(&str, u16) as tokio::net::addr::ToSocketAddrsPriv>::to_socket_addrs",
                    ),
                    runtime("async tokio::net::lookup_host"),
                ]),
                "waited for a std Mutex",
            ),
            (
                on_mutex(&[std("<str as std::net::ToSocketAddrs>::to_socket_addrs")]),
                "looked a host's name up",
            ),
            // The function that is run once waits for something else.
            (
                on_mutex(&[dependency("a::init"), std("std::sync::LazyLock<T>::force")]),
                "waited for a std Mutex",
            ),
            (
                vec![
                    std("std::sys::futex_wait"),
                    std("std::sync::OnceLock<std::sync::Mutex<T>>::get_or_init"),
                ],
                "waited for a std Once",
            ),
        ] {
            assert_eq!(said(&inner, true).as_deref(), Some(words), "{inner:?}");
        }
    }

    #[test]
    fn a_panic_is_one_whatever_it_does() {
        let std = |function| frame(function, None, Std);
        let panic =
            vec![std("std::panicking::rust_panic_with_hook"), std("core::panicking::panic_fmt")];
        let prints = vec![
            frame("gimli::read::line::LineRows::next_row", None, Std),
            frame(
                "resolve",
                Some("/rustc/1/library/std/src/../../backtrace/src/symbolize/mod.rs"),
                Std,
            ),
        ];
        let prints = [prints, panic.clone()].concat();
        for waits in [false, true] {
            assert_eq!(said(&panic, waits).as_deref(), Some("panicked"));
            assert_eq!(said(&prints, waits).as_deref(), Some("panicked, and printed a backtrace"));
        }
        let asks = [std("std::panicking::panicking"), std("std::panicking::catch_unwind")];
        assert_eq!(request(&asks, true), None);
        let error = [
            std("std::backtrace::Backtrace::capture"),
            frame("anyhow::Error::msg", None, Dependency),
        ];
        assert_eq!(said(&error, false).as_deref(), Some("took a backtrace"));
    }

    #[test]
    fn a_name_is_one_without_the_types_in_it() {
        for (function, name) in [
            ("f", "f"),
            ("a::B<c::D<E>>::f<fn() -> G>", "a::B::f"),
            ("<a::B<C> as d::E<F>>::g", "<a::B as d::E>::g"),
            ("<[T] as a::B>::c", "<[T] as a::B>::c"),
        ] {
            assert_eq!(without_types(function), name);
        }
    }
}
