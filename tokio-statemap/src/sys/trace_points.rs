//! Static trace points: places in the program's code that perf, bpftrace and SystemTap know by name.
//!
//! Each is a `nop` and a note in the binary, which says where it is and in which registers its arguments
//! are. Texts are passed as pointer and length. Those of instrumented functions look at a counter first,
//! which a tracer that listens counts up, as their names take some ns to find.

use std::panic::Location;

use probe::{probe, probe_lazy};

/// A task was spawned.
#[inline(always)]
pub(crate) fn task_spawn(id: u64, at: &'static Location<'static>) {
    let file = at.file();
    probe!(tokio_statemap, task_spawn, id, file.as_ptr(), file.len(), at.line());
}

/// A task became ready so many ns ago: before the poll that starts now.
#[inline(always)]
pub(crate) fn task_ready(id: u64, ready_for_ns: u64) {
    probe!(tokio_statemap, task_ready, id, ready_for_ns);
}

/// A poll starts.
#[inline(always)]
pub(crate) fn poll_start(id: u64, at: &'static Location<'static>) {
    let file = at.file();
    probe!(tokio_statemap, poll_start, id, file.as_ptr(), file.len(), at.line());
}

/// A poll ended.
#[inline(always)]
pub(crate) fn poll_end(id: u64) {
    probe!(tokio_statemap, poll_end, id);
}

/// A task ended.
#[inline(always)]
pub(crate) fn task_terminate(id: u64) {
    probe!(tokio_statemap, task_terminate, id);
}

/// The worker of this thread parks.
#[inline(always)]
pub(crate) fn worker_park() {
    probe!(tokio_statemap, worker_park);
}

/// The worker of this thread is awake again.
#[inline(always)]
pub(crate) fn worker_unpark() {
    probe!(tokio_statemap, worker_unpark);
}

/// The texts of a function, which are looked up if a tracer listens: its name and its file.
pub(crate) struct Texts<'a> {
    pub(crate) name: &'a dyn Fn() -> &'static str,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

/// A poll of a call of an instrumented function begins, in the task `id`.
#[inline(always)]
pub(crate) fn function_enter(id: u64, of: &Texts<'_>) {
    probe_lazy!(
        tokio_statemap,
        function_enter,
        id,
        (of.name)().as_ptr(),
        (of.name)().len(),
        of.file.as_ptr(),
        of.file.len(),
        of.line
    );
}

/// A poll of such a call ended, and it waits.
#[inline(always)]
pub(crate) fn function_wait(id: u64, of: &Texts<'_>) {
    probe_lazy!(
        tokio_statemap,
        function_wait,
        id,
        (of.name)().as_ptr(),
        (of.name)().len(),
        of.file.as_ptr(),
        of.file.len(),
        of.line
    );
}

/// Such a call ended: it returned, or was dropped before (`cancelled` is 1).
#[inline(always)]
pub(crate) fn function_end(id: u64, of: &Texts<'_>, cancelled: bool) {
    probe_lazy!(
        tokio_statemap,
        function_end,
        id,
        (of.name)().as_ptr(),
        (of.name)().len(),
        of.file.as_ptr(),
        of.file.len(),
        of.line,
        cancelled as u8
    );
}
