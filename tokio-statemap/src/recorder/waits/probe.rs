//! The future around a task, which finds out where the task waits.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::cell::TaskCell;
use super::names::{self, NameId};
use crate::recorder::chains::capture::ProbePoll;
use crate::recorder::hot::thread_recorder;
use crate::recorder::record::{Kind, UNKNOWN};
use crate::recorder::task_id;
use crate::recorder::window::mode::{self, GlobalMode};
use crate::sys::waker::with_tap;

pin_project_lite::pin_project! {
    /// The future of a task whose waits are located.
    ///
    /// While nothing is recorded, the future is polled directly.
    #[derive(Debug)]
    pub struct Probe<F> {
        #[pin]
        future: F,
        task: ProbedTask,
    }
}

impl<F> Probe<F> {
    /// Returns the probe of a task that is about to be spawned at `location`.
    pub(crate) fn new(future: F, location: &'static Location<'static>, name: Option<&str>) -> Self {
        let name = name.and_then(names::id);
        Self { future, task: ProbedTask { id: None, location, name, cell: None } }
    }

    /// Returns the probe of the root future `id`.
    pub(crate) fn root(future: F, location: &'static Location<'static>, id: u64) -> Self {
        Self { future, task: ProbedTask { id: Some(id), location, name: None, cell: None } }
    }
}

impl<F: Future> Probe<F> {
    /// Polls the future directly.
    #[inline]
    pub(crate) fn poll_alone(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}

impl<F: Future> Future for Probe<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if matches!(mode::global(), GlobalMode::Off | GlobalMode::Full) {
            return this.future.poll(cx);
        }
        let polled_in = this.task.poll_starts();
        let captures = ProbePoll::new();
        let polled = with_tap(cx.waker(), &|| captures.capture(), |cx| this.future.poll(cx));
        if polled.is_pending() {
            this.task.waits(&captures, polled_in);
        }
        polled
    }
}

/// The task of a probe.
#[derive(Debug)]
struct ProbedTask {
    /// Its id, as in a record; `None` before the first poll.
    id: Option<u64>,
    location: &'static Location<'static>,
    name: Option<NameId>,
    /// Set from its first wait on.
    cell: Option<Arc<TaskCell>>,
}

impl ProbedTask {
    /// Notes that a poll starts. Returns the task that the runtime polls on this thread, unless it is known already.
    #[inline]
    fn poll_starts(&mut self) -> Option<u64> {
        if let Some(cell) = &self.cell {
            cell.poll_starts();
            return None;
        }
        if self.id.is_none() {
            self.id = tokio::task::try_id().map(task_id::number);
            self.note_name();
        }
        thread_recorder::polled()
    }

    /// Notes that a poll ended and the task waits.
    #[inline]
    fn waits(&mut self, captures: &ProbePoll, polled: Option<u64>) {
        if self.cell.is_none() {
            self.cell = self.new_cell(polled);
        }
        let Some(cell) = &self.cell else { return };
        // A future that keeps its waker clones it only once: then the task still waits for the same as before.
        let wait = match (captures.goes_on(), captures.is_empty()) {
            (true, _) => cell.last_wait(),
            (false, true) => UNKNOWN,
            (false, false) => {
                cell.set_entered(captures.entered());
                captures.wait()
            }
        };
        let payload = u64::from(wait);
        let ticks = match cell.polled_in {
            None => thread_recorder::note(cell.recorder, Kind::Waits, payload),
            Some(_) => thread_recorder::ticks(cell.recorder),
        };
        if let Some(ticks) = ticks {
            cell.waits(wait, ticks);
        }
    }

    #[cold]
    fn new_cell(&self, polled: Option<u64>) -> Option<Arc<TaskCell>> {
        let (id, polled) = (self.id?, polled?);
        let recorder = thread_recorder::last_recorder()?;
        let polled_in = (polled != id).then_some(polled);
        Some(TaskCell::new(recorder, id, polled_in, self.location, self.name))
    }

    /// Notes the task's name, if it has one.
    fn note_name(&self) {
        if let (Some(id), Some(name)) = (self.id, self.name) {
            let Some(recorder) = thread_recorder::last_recorder() else { return };
            // Either both are noted or none, as they are told apart only by their kinds.
            thread_recorder::note(recorder, Kind::Name, u64::from(name));
            thread_recorder::note(recorder, Kind::Named, id);
        }
    }
}

impl Drop for ProbedTask {
    fn drop(&mut self) {
        // Noted again, as the first note may have been evicted since.
        self.note_name();
    }
}
