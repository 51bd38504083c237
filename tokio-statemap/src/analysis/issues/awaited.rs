//! What a task waits for, as far as that tells whether it may wait so for ever.

use crate::analysis::trees::OF_DRIVER;
use crate::trace::timeline::{AwaitFrame, Wait, Waiting};

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// A timer, a signal, I/O or another process: it is only a matter of time, or of who calls.
    Outside,
    /// What another task has to give back: a lock.
    Lock,
    /// The same, but a permit, or room in a channel: who has it may be waiting for somebody outside, as connections do that
    /// a limit of them is for.
    Permit,
    /// Something else that another task has to do: to end, or to send.
    Task,
    /// Nothing took its waker: nothing will wake it.
    Nothing,
    /// It isn't known.
    Unknown,
}

/// What has to be given back, by the names of Tokio's functions.
const LOCKS: [&str; 3] = ["Mutex", "RwLock", "tokio::sync::barrier::"];
const PERMITS: [&str; 4] =
    ["Semaphore", "tokio::sync::batch_semaphore::", "Sender<T>::send", "Sender<T>::reserve"];

/// How many functions of one wait are looked at: a file may have any number.
const MOST: usize = 1 << 12;

impl Awaited {
    pub(super) fn of(waiting: Waiting<'_>) -> Self {
        match waiting {
            Waiting::At(wait) => Self::at(wait),
            Waiting::Nothing => Self::Nothing,
            Waiting::Unknown => Self::Unknown,
        }
    }

    fn at(wait: &Wait) -> Self {
        let mut found = Self::Unknown;
        // Each with whether it is within a lock, which is made of a semaphore.
        let mut open: Vec<(&AwaitFrame, bool)> = wait.frames.iter().map(|of| (of, false)).collect();
        let mut seen = 0;
        while let Some((frame, is_within)) = open.pop() {
            seen += 1;
            if seen > MOST {
                return Self::Unknown;
            }
            let of = Self::of_function(&frame.function.function);
            let is_lock = is_within || of == Self::Lock;
            open.extend(frame.awaits.iter().map(|awaited| (awaited, is_lock)));
            if !frame.awaits.is_empty() {
                continue;
            }
            found = match if is_lock && of == Self::Permit { Self::Lock } else { of } {
                // One of several that are awaited at once is enough.
                Self::Outside => return Self::Outside,
                of @ (Self::Lock | Self::Permit) if found == Self::Unknown || found == of => of,
                Self::Lock | Self::Permit if found != Self::Task => Self::Permit,
                _ => Self::Task,
            };
        }
        found
    }

    /// What a function waits for that awaits nothing itself.
    fn of_function(name: &str) -> Self {
        let name = name.trim_start_matches("async ").trim_start_matches("an async fn of ");
        let name = name.trim_start_matches('<');
        if OF_DRIVER.iter().any(|of| name.starts_with(of)) {
            return Self::Outside;
        }
        let is_one_of = |names: &[&str]| names.iter().any(|one| name.contains(one));
        match name.starts_with("tokio::sync::") {
            true if is_one_of(&LOCKS) => Self::Lock,
            true if is_one_of(&PERMITS) => Self::Permit,
            _ => Self::Task,
        }
    }

    /// Whether there may be someone outside who wakes it some day.
    pub(super) fn is_outside(self) -> bool {
        self == Self::Outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_apart() {
        for (name, awaited) in [
            ("tokio::time::sleep::Sleep", Awaited::Outside),
            ("async tokio::net::tcp::listener::TcpListener::accept", Awaited::Outside),
            ("tokio::signal::unix::Signal::recv", Awaited::Outside),
            ("async tokio::sync::mutex::Mutex<T>::lock", Awaited::Lock),
            ("tokio::sync::rwlock::RwLock<T>::read", Awaited::Lock),
            ("async tokio::sync::mpsc::bounded::Sender<T>::send", Awaited::Permit),
            ("async tokio::sync::semaphore::Semaphore::acquire", Awaited::Permit),
            ("tokio::sync::mpsc::bounded::Receiver<T>::recv", Awaited::Task),
            ("tokio::runtime::task::join::JoinHandle<T>", Awaited::Task),
            ("shop::MutexLike::lock", Awaited::Task),
        ] {
            assert_eq!(Awaited::of_function(name), awaited, "{name}");
        }
    }
}
