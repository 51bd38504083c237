//! Classifies the things that tasks wait for, by whether the wait may last for ever.

use crate::analysis::waits::{is_room, without_types};
use crate::trace::timeline::{AwaitFrame, FILLED_CELL, Wait, Waiting};

/// The kind of thing that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::analysis) enum Awaited {
    /// Something outside of the program ends the wait: a timer, a signal, I/O or another process.
    Outside,
    /// A lock, which another task must release.
    Lock,
    /// A permit, or room in a channel. The task that holds it may wait for something outside, as connections do if
    /// their number is limited.
    Permit,
    /// Something else that another task must do: end, or send a value.
    Task,
    /// Nothing kept its waker, so nothing will wake it.
    Nothing,
    Unknown,
}

/// Paths of Tokio's functions that wait for something outside of the program. The runtime's driver, a child process or
/// a thread wakes their tasks.
const WOKEN_FROM_OUTSIDE: [&str; 6] = [
    "tokio::time::",
    "tokio::net::",
    "tokio::io::",
    "tokio::signal::",
    "tokio::process::",
    "tokio::fs::",
];

/// Parts of the paths of Tokio's functions that wait for something that another task must release. Of an async function
/// that was inlined, only the module may be known.
const LOCKS: [&str; 4] = ["Mutex", "RwLock", "tokio::sync::mutex", "tokio::sync::rwlock"];
const PERMITS: [&str; 5] = [
    "Semaphore",
    "tokio::sync::semaphore",
    "tokio::sync::batch_semaphore",
    "Sender::send",
    "Sender::reserve",
];

/// The paths among these that wait for a peer. It must read what is written to it, or end.
const PEERS: [&str; 3] =
    ["tokio::io::util::write", "tokio::io::util::flush", "tokio::process::Child::wait"];

/// The most functions of one wait that are looked at: a file may have any number of them.
const MOST: usize = 1 << 12;

impl Awaited {
    pub(in crate::analysis) fn from_waiting(waiting: Waiting<'_>) -> Self {
        match waiting {
            Waiting::At(wait) => Self::at(wait),
            Waiting::Nothing => Self::Nothing,
            Waiting::Unknown => Self::Unknown,
        }
    }

    pub(in crate::analysis) fn at(wait: &Wait) -> Self {
        let mut found = Self::Unknown;
        for awaited in Self::leaves(wait) {
            found = match awaited {
                // One of several futures that are awaited at once is enough.
                Self::Outside => return Self::Outside,
                held @ (Self::Lock | Self::Permit) if found == Self::Unknown || found == held => {
                    held
                }
                Self::Lock | Self::Permit if found != Self::Task => Self::Permit,
                _ => Self::Task,
            };
        }
        found
    }

    /// Returns the lock or the permit that a wait is for, even if it has a timeout.
    pub(in crate::analysis) fn queue(wait: &Wait) -> Option<Self> {
        Self::leaves(wait).into_iter().find(|leaf| matches!(leaf, Self::Lock | Self::Permit))
    }

    /// Returns whether a wait is only for a peer that must read, or end. An idle server waits for its peers to send.
    pub(in crate::analysis) fn is_for_peer(wait: &Wait) -> bool {
        let mut frames = &wait.frames;
        while let [frame] = &frames[..] {
            if frame.awaits.is_empty() {
                let name = without_types(frame.function.function.trim_start_matches("async "));
                return PEERS.iter().any(|path| name.starts_with(path));
            }
            frames = &frame.awaits;
        }
        false
    }

    /// Returns whether a wait is for the one answer to a request.
    pub(in crate::analysis) fn is_answer(wait: &Wait) -> bool {
        any_function(wait, |name| name.contains("tokio::sync::oneshot::Receiver"))
    }

    /// Returns whether a wait is for a message or a signal, which nobody owes: a consumer may have nothing to do for any time.
    pub(in crate::analysis) fn is_for_anything_to_do(wait: &Wait) -> bool {
        // An inlined function may have only the name of its module.
        const NAMES: [&str; 4] = [
            "tokio::sync::mpsc",
            "tokio::sync::broadcast",
            "tokio::sync::watch",
            "tokio::sync::notify",
        ];
        let is_it = |name: &str| {
            let plain = without_types(name);
            // An inlined function of a bounded channel may send as well.
            let may_send =
                is_room(Some(name)) || plain.starts_with("an async fn of tokio::sync::mpsc");
            !may_send && NAMES.iter().any(|of| plain.contains(of))
        };
        // A barrier has a channel within. Tasks that wait at it wait for other tasks, and not for a message.
        if any_function(wait, |name| name.contains("tokio::sync::barrier")) {
            return false;
        }
        let mut chains = wait.chains().into_iter();
        chains.any(|chain| chain.last().is_some_and(|leaf| is_it(&leaf.function)))
    }

    /// Returns whether a wait is for other tasks to end.
    pub(in crate::analysis) fn is_for_ends(wait: &Wait) -> bool {
        const NAMES: [&str; 3] = ["::task::join", "JoinSet", "task_tracker"];
        any_function(wait, |name| NAMES.iter().any(|of| name.contains(of)))
    }

    /// Returns whether a wait is for a message of a bounded channel.
    pub(in crate::analysis) fn is_message(wait: &Wait) -> bool {
        any_function(wait, |name| {
            name.contains("tokio::sync::mpsc::bounded::") && name.contains("Receiver")
        })
    }

    /// Returns whether a wait is for a lock or a permit, and for no room in a channel.
    pub(in crate::analysis) fn is_pool(wait: &Wait) -> bool {
        Self::queue(wait).is_some() && !any_function(wait, |name| name.contains("::mpsc::"))
    }

    /// Returns what the innermost functions of a wait wait for. The result is empty if the wait has too many functions.
    fn leaves(wait: &Wait) -> Vec<Self> {
        let mut leaves = Vec::new();
        // Frames with `true` if they are within a lock, which is made of a semaphore.
        let mut open: Vec<(&AwaitFrame, bool)> = Vec::new();
        for frame in &wait.frames {
            open.push((frame, false));
        }
        let mut seen = 0;
        while let Some((frame, is_within)) = open.pop() {
            seen += 1;
            if seen > MOST {
                return Vec::new();
            }
            let awaited = Self::from_function(&frame.function.function);
            let is_lock = is_within || awaited == Self::Lock;
            for frame in &frame.awaits {
                open.push((frame, is_lock));
            }
            if frame.awaits.is_empty() {
                leaves.push(if is_lock && awaited == Self::Permit { Self::Lock } else { awaited });
            }
        }
        leaves
    }

    /// Returns what a function that awaits no other waits for.
    fn from_function(name: &str) -> Self {
        let name = name.trim_start_matches("async ").trim_start_matches("an async fn of ");
        let name = within_bare(name).trim_start_matches(['<', '&']).trim_start_matches("mut ");
        if WOKEN_FROM_OUTSIDE.iter().any(|path| name.starts_with(path)) {
            return Self::Outside;
        }
        let plain = without_types(name);
        let is_one_of = |names: &[&str]| names.iter().any(|one| plain.contains(one));
        match name.starts_with("tokio::sync::") {
            // The first one who asks a cell may wait for anything.
            true if is_one_of(&LOCKS) || plain == FILLED_CELL => Self::Lock,
            true if is_one_of(&PERMITS) || is_room(Some(name)) => Self::Permit,
            true => Self::Task,
            false => Self::from_names(&plain),
        }
    }

    /// Returns what a function outside of Tokio waits for, by the names of types:
    /// `sqlx_core::sync::AsyncSemaphore::acquire`.
    fn from_names(name: &str) -> Self {
        for part in name.split("::") {
            if part.ends_with("Mutex") || part.ends_with("RwLock") {
                return Self::Lock;
            }
            if part.ends_with("Semaphore") {
                return Self::Permit;
            }
        }
        Self::Task
    }

    /// Returns whether something outside of the program may wake it some day.
    pub(in crate::analysis) fn is_outside(self) -> bool {
        self == Self::Outside
    }
}

/// Returns the types of a poll whose name has no path, as that of an inlined function: `poll<tokio::net::tcp::stream::TcpStream>`.
fn within_bare(name: &str) -> &str {
    match name.split_once('<') {
        Some((bare, types)) if bare == "poll" || bare.starts_with("poll_") => types,
        _ => name,
    }
}

/// Returns whether any function of a wait is such; of one with very many, only the first are looked at.
fn any_function(wait: &Wait, is_it: impl Fn(&str) -> bool) -> bool {
    let mut open: Vec<&AwaitFrame> = wait.frames.iter().collect();
    for _ in 0..MOST {
        let Some(frame) = open.pop() else { return false };
        if is_it(&frame.function.function) {
            return true;
        }
        open.extend(&frame.awaits);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_without_a_path_is_known_by_its_types() {
        for (name, expected) in [
            ("poll<tokio::net::tcp::stream::TcpStream>", Awaited::Outside),
            ("poll<&mut tokio::net::tcp::stream::TcpStream>", Awaited::Outside),
            ("poll<shop::Cart>", Awaited::Task),
            ("lock<tokio::net::tcp::stream::TcpStream>", Awaited::Task),
            ("<tokio::time::sleep::Sleep as Future>::poll", Awaited::Outside),
            ("shop::Reads<tokio::net::tcp::stream::TcpStream>::next", Awaited::Task),
        ] {
            assert_eq!(Awaited::from_function(name), expected, "{name}");
        }
    }

    #[test]
    fn functions_are_told_apart() {
        for (name, awaited) in [
            ("tokio::time::sleep::Sleep", Awaited::Outside),
            ("async tokio::net::tcp::listener::TcpListener::accept", Awaited::Outside),
            ("tokio::signal::unix::Signal::recv", Awaited::Outside),
            ("async tokio::sync::mutex::Mutex<T>::lock", Awaited::Lock),
            ("an async fn of tokio::sync::mutex", Awaited::Lock),
            ("an async fn of tokio::sync::semaphore", Awaited::Permit),
            ("an async fn of tokio::sync::mpsc::bounded", Awaited::Task),
            ("tokio::sync::mpsc::bounded::Sender", Awaited::Permit),
            ("tokio::sync::mpsc::bounded::Sender<T>::closed", Awaited::Task),
            ("tokio::sync::once_cell::OnceCell", Awaited::Lock),
            ("tokio::sync::once_cell::OnceCell<T>::get_or_init", Awaited::Task),
            ("tokio::sync::rwlock::RwLock<T>::read", Awaited::Lock),
            ("async tokio::sync::mpsc::bounded::Sender<T>::send", Awaited::Permit),
            ("async tokio::sync::semaphore::Semaphore::acquire", Awaited::Permit),
            ("tokio::sync::mpsc::bounded::Receiver<T>::recv", Awaited::Task),
            ("tokio::runtime::task::join::JoinHandle<T>", Awaited::Task),
            ("shop::MutexLike::lock", Awaited::Task),
            ("async async_lock::mutex::Mutex<T>::lock", Awaited::Lock),
            ("flume::async::RecvFut<alloc::sync::Arc<std::sync::Mutex<u8>>>", Awaited::Task),
            ("tokio::sync::oneshot::Receiver<tokio::sync::Mutex<u8>>", Awaited::Task),
            ("async sqlx_core::sync::AsyncSemaphore::acquire", Awaited::Permit),
        ] {
            assert_eq!(Awaited::from_function(name), awaited, "{name}");
        }
    }
}
