//! The recorders that are started, and whether the background thread runs for them.

use std::io;
use std::sync::{Arc, Mutex, Weak};

use crate::recorder::hot::Shared;
use crate::recorder::process::{self, PROCESS, Process};
use crate::util::sync::{lock, try_lock};

/// The started recorders of this process.
pub(super) static STARTED: Recorders = Recorders::new(&PROCESS);

/// Recorders that are started.
pub(super) struct Recorders {
    process: &'static Process,
    all: Mutex<Vec<Weak<Shared>>>,
}

impl Recorders {
    const fn new(process: &'static Process) -> Self {
        Self { process, all: Mutex::new(Vec::new()) }
    }

    /// Adds a recorder that is started.
    pub(super) fn add(&self, recorder: &Shared) {
        let is_forked = self.process.is_forked();
        // In the child of a fork, a lock that is held is never released.
        let all = if is_forked { try_lock(&self.all) } else { Some(lock(&self.all)) };
        let Some(mut all) = all else { return };
        if is_forked {
            if !process::can_have_thread_after_fork() {
                return;
            }
            // These are the recorders of the parent, whose locks may be held for ever.
            std::mem::forget(std::mem::take(&mut *all));
        }
        retain(&mut all, &|other| other.strong_count() > 0);
        all.push(recorder.this());
        self.process.adopt();
    }

    /// Removes a recorder that is stopped.
    pub(super) fn remove(&self, recorder: &Shared) {
        retain(&mut lock(&self.all), &|other| !std::ptr::eq(other.as_ptr(), recorder));
    }

    /// Calls `start`, unless the thread exists or no recorder is started.
    pub(super) fn start_thread(&self, start: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
        if self.process.is_forked() {
            return Ok(());
        }
        let all = lock(&self.all);
        if self.process.is_there() || are_over(&all) {
            return Ok(());
        }
        self.process.set_thread(true);
        start().inspect_err(|_| self.process.set_thread(false))
    }

    /// Returns whether no recorder is started. If so, the process no longer has the thread: the caller, which is that
    /// thread, must end.
    pub(super) fn are_over(&self) -> bool {
        let all = lock(&self.all);
        let are_over = are_over(&all);
        if are_over {
            self.process.set_thread(false);
        }
        are_over
    }

    /// Returns the recorders that are started.
    pub(super) fn all(&self) -> Vec<Arc<Shared>> {
        let mut all = Vec::new();
        for recorder in lock(&self.all).iter() {
            if let Some(recorder) = recorder.upgrade() {
                all.push(recorder);
            }
        }
        all
    }
}

fn retain(all: &mut Vec<Weak<Shared>>, stays: &dyn Fn(&Weak<Shared>) -> bool) {
    all.retain(|recorder| stays(recorder));
}

/// Returns whether no recorder is left. One that is dropped while it is started doesn't remove itself, because a hook,
/// which has little stack, may drop it.
fn are_over(all: &[Weak<Shared>]) -> bool {
    all.iter().all(|recorder| recorder.strong_count() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::recorder::Recorder;

    #[test]
    fn a_thread_is_started_for_the_first_recorder() {
        let started = Recorders::new(Box::leak(Box::new(Process::new())));
        let recorders = [(), ()].map(|()| Recorder::new(CollectorConfig::default()));
        let no_thread = || Err(io::ErrorKind::WouldBlock.into());
        started.start_thread(&|| panic!("there is nothing to do for it")).unwrap();
        started.add(&recorders[0]);
        started.start_thread(&no_thread).unwrap_err();
        assert!(!started.process.is_there());
        // The next recorder may be luckier.
        started.add(&recorders[1]);
        started.start_thread(&|| Ok(())).unwrap();
        started.start_thread(&|| panic!("there is one")).unwrap();
        assert_eq!(started.all().len(), 2);
        assert!(!started.are_over() && started.process.is_there());
        recorders.iter().for_each(|recorder| started.remove(recorder));
        assert!(started.all().is_empty() && started.process.is_there());
        assert!(started.are_over() && !started.process.is_there());
    }

    #[test]
    fn a_recorder_that_is_dropped_needs_no_thread() {
        let started = Recorders::new(Box::leak(Box::new(Process::new())));
        started.add(&Recorder::new(CollectorConfig::default()));
        assert!(started.are_over());
        started.start_thread(&|| panic!("there is nothing to do for it")).unwrap();
    }
}
