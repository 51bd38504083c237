//! The thread recorders that belong to no thread.

use crate::recorder::hot::Shared;
use crate::recorder::hot::thread_recorder::ThreadRecorder;
use crate::recorder::locks::{FALLBACK, LAST, Lock, lock};
use crate::recorder::process;
use crate::recorder::record::Kind;

/// The thread recorders of one recorder that belong to no thread.
#[derive(Debug, Default)]
pub(super) struct Unowned {
    /// The recorders of threads that ended. Boxed, as they move between threads and are large.
    #[expect(clippy::vec_box)]
    idle: Lock<Vec<Box<ThreadRecorder>>, LAST>,
    /// The one of all threads whose thread-local values are destroyed.
    fallback: Lock<Option<Box<ThreadRecorder>>, FALLBACK>,
}

impl Shared {
    pub(crate) fn new_thread_recorder(&self) -> Box<ThreadRecorder> {
        let idle = lock(&self.unowned.idle).pop();
        if let Some(mut thread) = idle {
            thread.begin(self.kept.take_unused());
            return thread;
        }
        let (buffer, writer, rings) = self.kept.new_buffer();
        ThreadRecorder::new(buffer, writer, rings)
    }

    /// Takes back the recorder of a thread that ends.
    pub(crate) fn retire(&self, mut thread: Box<ThreadRecorder>) {
        // The watcher may have looked at the thread's buffer when the process was forked.
        if process::is_forked() {
            return std::mem::forget(thread);
        }
        if thread.buffer.is_used() {
            // This lets `LiveTasks` forget the thread.
            thread.push(self, self.kept.clock.ticks(), Kind::End, 0);
        }
        thread.buffer.watched.set_thread(0);
        thread.reassign(&self.kept);
        lock(&self.unowned.idle).push(thread);
    }

    /// Calls `write` with the recorder of threads whose own one is destroyed.
    #[inline]
    pub(super) fn with_fallback(&self, write: &dyn Fn(&mut ThreadRecorder)) {
        let mut thread = lock(&self.unowned.fallback);
        let thread = thread.get_or_insert_with(|| self.new_thread_recorder());
        // Several threads share it, so the worker is unknown each time.
        thread.worker_is_stale = true;
        write(thread);
    }

    /// Returns how many idle thread recorders wait for a thread.
    #[cfg(all(test, statemap_loom))]
    pub(crate) fn idle_thread_recorders(&self) -> usize {
        lock(&self.unowned.idle).len()
    }
}
