//! A long poll in progress.

use std::fmt;
use std::time::Duration;

use crate::recorder::watch::listeners::SeenPoll;
use crate::symbols::{StackFrame, with_resolver};
use crate::trace::event::SpawnLocation;
use crate::trace::snapshot::task_id;
use crate::trace::task_key::TaskKey;
use crate::trace::timeline::{Stack, blamed};
use crate::util::clean::clean;
use crate::util::quantity::human;
use crate::util::source_path::shown;

/// A long poll in progress, as passed to the closure of
/// [`Collector::on_long_poll`](crate::Collector::on_long_poll).
///
/// `Display` writes several lines without a trailing newline, with control characters escaped:
///
/// ```text
/// a poll has held worker-1 for 104 ms: task-12, spawned at src/main.rs:40:9
///   blocked in clock_nanosleep in shop::render_invoice at src/shop.rs:21:
///     std::thread::sleep at std/src/thread/mod.rs:1
///     shop::render_invoice at src/shop.rs:21
///     async shop::handle at src/shop.rs:60
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LivePoll {
    /// The runtime's name, as set with `Builder::name`.
    pub runtime: Option<String>,
    /// The task that is being polled.
    pub task: TaskKey,
    /// The spawn location of the task; for `main` the location of the function. `None` if it is
    /// unknown.
    pub location: Option<SpawnLocation>,
    /// The worker that polls it; `None` if it is unknown.
    pub worker: Option<u32>,
    /// The age of the poll when its thread was sampled.
    pub age: Duration,
    /// `true` if its thread was ready to run but did not: the processor was taken away, so no code
    /// of the program is to blame.
    pub is_taken_away: bool,
    /// The system call that the thread was blocked in, such as `clock_nanosleep` or `read of
    /// /dev/random`; or `a page fault`. `None` if it wasn't blocked.
    pub blocked_in: Option<String>,
    /// The functions that the thread was in, innermost first, up to the task's own. The runtime's
    /// are left out. Empty if the stack could not be read.
    pub frames: Vec<StackFrame>,
    /// `true` if [`frames`](Self::frames) reaches up to the task's own function.
    pub is_complete: bool,
    /// The number of polls since the last call for which the closure was not called because too
    /// many were queued.
    pub missed: u64,
}

impl LivePoll {
    pub(crate) fn from_seen(seen: &SeenPoll, missed: u64) -> Self {
        let named = |sample| with_resolver(|resolver| Stack::from_sample(sample, resolver));
        let stack = seen.sample.as_ref().map(named).unwrap_or_default();
        Self {
            runtime: seen.runtime.clone(),
            task: TaskKey::from_id(task_id(seen.task)),
            location: seen.location.map(Into::into),
            worker: seen.worker,
            age: seen.age,
            is_taken_away: seen.is_taken_away,
            blocked_in: stack.blocked_in,
            frames: stack.frames,
            is_complete: stack.is_complete,
            missed,
        }
    }

    /// Returns the function to blame: the innermost one of the program, or else of a dependency.
    pub fn blamed(&self) -> Option<&StackFrame> {
        blamed(&self.frames)
    }
}

impl fmt::Display for LivePoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runtime = self.runtime.as_ref().map(|name| format!("{}/", clean(name)));
        let runtime = runtime.unwrap_or_default();
        let age = human(u64::try_from(self.age.as_nanos()).unwrap_or(u64::MAX));
        match self.worker {
            Some(worker) => write!(f, "a poll has held {runtime}worker-{worker} for {age}: ")?,
            None => write!(f, "a poll has gone on for {age}: ")?,
        }
        write!(f, "{runtime}{}", self.task)?;
        if let Some(location) = self.location {
            let verb = if matches!(self.task, TaskKey::Root(_)) { "at" } else { "spawned at" };
            write!(f, ", {verb} {}", clean(&shown(&location.to_string())))?;
        }
        match (&self.blocked_in, self.is_taken_away) {
            (_, true) => f.write_str("\n  the processor was taken away")?,
            (Some(call), _) => write!(f, "\n  blocked in {}", clean(call))?,
            (None, _) if self.frames.is_empty() => {
                f.write_str("\n  its stack could not be read")?;
            }
            (None, _) => f.write_str("\n  on the processor")?,
        }
        if let Some(blamed) = self.blamed() {
            write!(f, " in {}", Short(blamed))?;
        }
        if !self.frames.is_empty() {
            f.write_str(":")?;
        }
        for frame in &self.frames {
            write!(f, "\n    {}", Short(frame))?;
        }
        if !self.frames.is_empty() && !self.is_complete {
            f.write_str("\n    …")?;
        }
        Ok(())
    }
}

/// A function with its place, shortened: `shop::handle at src/shop.rs:60`, `std::thread::sleep at
/// std/src/thread/mod.rs:1`.
struct Short<'a>(&'a StackFrame);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&clean(&self.0.function))?;
        let Some(file) = &self.0.file else { return Ok(()) };
        write!(f, " at {}", clean(&shown(file)))?;
        self.0.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::FrameOrigin;

    fn frame(function: &str, file: &str, line: u32, origin: FrameOrigin) -> StackFrame {
        StackFrame { function: function.into(), file: Some(file.into()), line: Some(line), origin }
    }

    fn poll() -> LivePoll {
        LivePoll {
            runtime: None,
            task: TaskKey::Spawned(12),
            location: None,
            worker: Some(1),
            age: Duration::from_millis(104),
            is_taken_away: false,
            blocked_in: Some("clock_nanosleep".to_owned()),
            frames: vec![
                frame(
                    "std::thread::sleep",
                    "/rustc/1/library/std/src/thread/mod.rs",
                    1,
                    FrameOrigin::Std,
                ),
                frame("shop::render_invoice", "src/shop.rs", 21, FrameOrigin::Program),
            ],
            is_complete: true,
            missed: 0,
        }
    }

    #[test]
    fn it_reads_as_a_block() {
        let block = "a poll has held worker-1 for 104 ms: task-12\n  \
            blocked in clock_nanosleep in shop::render_invoice at src/shop.rs:21:\n    \
            std::thread::sleep at std/src/thread/mod.rs:1\n    shop::render_invoice at src/shop.rs:21";
        assert_eq!(poll().to_string(), block);
        let runs = LivePoll { blocked_in: None, is_complete: false, ..poll() };
        assert!(runs.to_string().contains("\n  on the processor in shop::render_invoice at src"));
        assert!(runs.to_string().ends_with(":21\n    …"));
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let taken = LivePoll {
            runtime: Some("a\x1bb".to_owned()),
            task: TaskKey::Root(0),
            worker: None,
            is_taken_away: true,
            blocked_in: None,
            frames: Vec::new(),
            ..poll()
        };
        let block = "a poll has gone on for 104 ms: a\\u{1b}b/main\n  the processor was taken away";
        assert_eq!(taken.to_string(), block);
        let unknown = LivePoll { is_taken_away: false, runtime: None, ..taken };
        assert!(unknown.to_string().ends_with("\n  its stack could not be read"));
    }
}
