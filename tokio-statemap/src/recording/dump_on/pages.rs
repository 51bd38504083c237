//! The threads of the pages: one waits for triggers, and one for each page takes the snapshot and writes.
//!
//! A snapshot needs locks that others may wait for, so it is taken at normal priority. The report and the page need none:
//! for them the thread has the lowest priority, which it can't raise again. The locks of the triggers, for which a worker
//! that panics may wait, are only taken by the first thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use super::DumpOn;
use super::kept::over_limits;
use super::looks::Looks;
use super::state::{Next, Outcome, Pending};
use crate::recording::active::Active;
use crate::recording::exits;
use crate::recording::outputs::Outputs;
use crate::recording::runtimes::Captured;
use crate::recording::target::Target;
use crate::sys::slice;
use crate::util::aside;
use crate::util::clean::clean;
use crate::util::latch::latch;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The name of the thread that waits for triggers.
const THREAD: &str = "statemap-dumps";

/// Starts the thread.
pub(super) fn start(dump_on: &Arc<DumpOn>, active: &Arc<Active>) {
    let (dump_on, outputs) = (Arc::clone(dump_on), Arc::clone(&active.outputs));
    let active = Arc::downgrade(active);
    let run = move || {
        #[cfg(unix)]
        crate::sys::signal::block_all();
        run(&dump_on, &active, &outputs);
    };
    if let Err(error) = crate::sys::start(THREAD, Box::new(run)) {
        warn(format_args!("`dump_on` has no effect: no thread can be started: {error}"));
    }
}

fn run(dump_on: &Arc<DumpOn>, active: &Weak<Active>, outputs: &Arc<Outputs>) {
    let mut looks = Looks::new(&dump_on.wanted);
    while let Some(pending) = wait(dump_on, &mut looks, active) {
        let Some(recording) = active.upgrade() else { return };
        let captured = recording.runtimes.is_any_recording().then(|| recording.runtimes.captured());
        exits::release(recording);
        let why = pending.why();
        let written = match captured {
            Some(captured) => write(captured, why.clone(), Arc::clone(outputs), dump_on),
            None => Err("nothing is recorded".to_owned()),
        };
        let page = written.as_ref().ok().map(|(target, _)| target.path.clone());
        let (outcome, line) = keep(dump_on, outputs, written);
        if lock(&dump_on.state).is_written(&outcome) {
            say(format!("{why}: {line}"));
            if let (Outcome::Written, Some(page)) = (&outcome, page) {
                call_listeners(active, &page);
            }
        }
    }
}

/// Calls the program's own functions for pages.
fn call_listeners(active: &Weak<Active>, page: &Path) {
    let Some(recording) = active.upgrade() else { return };
    let collectors = recording.runtimes.collectors();
    let all: Vec<_> = collectors.iter().map(|collector| collector.page_listeners()).collect();
    drop(collectors);
    exits::release(recording);
    for listener in all.concat() {
        if catch_unwind(AssertUnwindSafe(|| listener(page))).is_err() {
            say("a function that was given to `on_dump` has panicked".to_owned());
        }
        // It may own values of any type, whose drop isn't for this thread.
        if Arc::strong_count(&listener) == 1 {
            std::mem::forget(listener);
        }
    }
}

/// Returns whether the calling thread is the one that calls these functions.
pub(super) fn is_this_thread() -> bool {
    thread::current().name() == Some(THREAD)
}

/// Waits until a page is to be written; `None` if the program ends.
fn wait(dump_on: &DumpOn, looks: &mut Looks, active: &Weak<Active>) -> Option<Pending> {
    loop {
        let look_in = looks.due_in(&dump_on.wanted, Instant::now());
        if look_in == Some(Duration::ZERO) {
            looks.look(dump_on, active);
        }
        let mut state = lock(&dump_on.state);
        let next = state.next(Instant::now(), dump_on.after);
        match next {
            Next::Write(pending) => return Some(pending),
            Next::End => return None,
            Next::SayLimit => {
                drop(state);
                let most = dump_on.limits.an_hour;
                say(format!(
                    "`dump_limit` of {most}/h is reached: further triggers are only counted"
                ));
            }
            // Another trigger, or nothing at all, may wake it: then it looks again.
            Next::Wait(time) => {
                let time = time.unwrap_or(Duration::MAX).min(look_in.unwrap_or(Duration::MAX));
                let waited = dump_on.changed.wait_timeout(state, time);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

/// A page and its size in bytes, or why there is none.
type Written = Result<(Target, u64), String>;

/// The number of the last page of this process. A number isn't used again, even if that page was removed.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Writes a page on a thread of its own, and waits for it.
fn write(captured: Captured, why: String, outputs: Arc<Outputs>, dump_on: &Arc<DumpOn>) -> Written {
    let dump_on = Arc::clone(dump_on);
    let (ongoing, over) = latch();
    let written = Arc::new(Mutex::new(None));
    let of_page = Arc::clone(&written);
    let write = move || {
        let _ongoing = ongoing;
        let recorded = captured.recorded();
        slice::let_others_go_first();
        let there = outputs.dumps().last().map_or(0, |(number, ..)| *number);
        let first = NUMBER.load(Ordering::Relaxed).max(there) + 1;
        let page = outputs.dump(&recorded, first, &why, &|| dump_on.is_over());
        let page = page.map(|(number, target, bytes)| {
            NUMBER.fetch_max(number, Ordering::Relaxed);
            (target, bytes)
        });
        *lock(&of_page) = Some(page.map_err(|error| error.to_string()));
    };
    crate::sys::start("statemap-page", Box::new(write))
        .map_err(|error| format!("no thread can be started: {error}"))?;
    over.wait_for(Duration::MAX);
    // Without a result the thread has panicked.
    let written = lock(&written).take();
    written.unwrap_or_else(|| Err("this is a bug in tokio-statemap".to_owned()))
}

/// Keeps the page within the limits. Returns the outcome, and how to say it.
fn keep(dump_on: &DumpOn, outputs: &Outputs, written: Written) -> (Outcome, String) {
    let (target, bytes) = match written {
        Ok(written) => written,
        Err(why) => return (Outcome::NotWritten, format!("no page is written: {why}")),
    };
    if bytes > dump_on.limits.bytes {
        let _ = fs::remove_file(target.path);
        let line = format!("the page is removed again: {bytes} bytes are over `dump_limit`");
        return (Outcome::TooLarge, line);
    }
    let line = format!("wrote {}", target.shown.display());
    // Other processes may write pages there, and remove some.
    let files = outputs.dumps().into_iter().map(|(_, path, bytes)| (path, bytes)).collect();
    for path in over_limits(files, &dump_on.limits) {
        match fs::remove_file(&path) {
            Ok(()) => lock(&dump_on.state).kept.removed += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => say(format!(
                "an old page can't be removed: {}: {error}",
                clean(&path.display().to_string())
            )),
        }
    }
    (Outcome::Written, line)
}

/// Prints a line, unless other messages aren't read.
fn say(line: String) {
    const STEP: Duration = Duration::from_millis(10);
    const STEPS: u32 = 100;
    for _ in 0..STEPS {
        let text = format!("tokio-statemap: {line}\n");
        if aside::print(|| Some(text), |_| ()) {
            return;
        }
        thread::sleep(STEP);
    }
}
