//! Static trace points: places in the program's code that perf, bpftrace and SystemTap know by name.
//!
//! Each is a `nop` and a note in the binary, which has its address and the registers of its arguments. Texts
//! are passed as pointer and length. The trace points of instrumented functions first check a counter that
//! listening tracers increment, because it takes some ns to find the functions' names.

use std::panic::Location;

#[cfg(all(feature = "sdt", target_os = "linux"))]
use probe::{probe, probe_lazy};

/// Does nothing, in builds without trace points. The arguments aren't evaluated.
#[cfg(not(all(feature = "sdt", target_os = "linux")))]
macro_rules! probe {
    ($provider:ident, $name:ident $(, $argument:expr)*) => {
        if false {
            $(let _ = $argument;)*
        }
    };
}
#[cfg(not(all(feature = "sdt", target_os = "linux")))]
use probe as probe_lazy;

/// A task was spawned.
#[inline(always)]
pub(crate) fn task_spawn(id: u64, at: &'static Location<'static>) {
    let file = at.file();
    probe!(tokio_statemap, task_spawn, id, file.as_ptr(), file.len(), at.line());
}

/// A task became ready `ready_for_ns` ago, before the poll that starts now.
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

macro_rules! of_function {
    ($name:ident, $id:ident, $of:ident $(, $more:expr)?) => {
        probe_lazy!(
            tokio_statemap,
            $name,
            $id,
            ($of.name)().as_ptr(),
            ($of.name)().len(),
            $of.file.as_ptr(),
            $of.file.len(),
            $of.line
            $(, $more)?
        );
    };
}

/// In task `id`, a poll of a call of an instrumented function begins.
#[inline(always)]
pub(crate) fn function_enter(id: u64, of: &Texts<'_>) {
    of_function!(function_enter, id, of);
}

/// A poll of a call of an instrumented function ended, and the call waits.
#[inline(always)]
pub(crate) fn function_wait(id: u64, of: &Texts<'_>) {
    of_function!(function_wait, id, of);
}

/// Such a call returned, or was dropped before that (`cancelled` is 1).
#[inline(always)]
pub(crate) fn function_end(id: u64, of: &Texts<'_>, cancelled: bool) {
    of_function!(function_end, id, of, cancelled as u8);
}
