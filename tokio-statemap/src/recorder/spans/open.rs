//! A span from its opening to its close.

use std::cell::Cell;
use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use crate::recorder::spans::{Label, Spans, Stint};
use crate::recorder::window::mode::WindowId;
use crate::util::sync::try_lock;

/// The most stints of a span that are kept one by one. Of later ones only the sum is kept.
pub(crate) const MOST_STINTS: usize = 1024;
/// The number of times that a thread looks whether another one has added its stint, which takes some 10 ns.
const LOOKS: usize = 1000;

/// A span from its opening to its close.
#[derive(Debug)]
pub(crate) struct OpenSpan {
    name: &'static str,
    target: &'static str,
    opened_ticks: u64,
    /// The recorder and its window, once the span was used on a thread that is recorded. Weak, as a thread keeps spans
    /// for a while after they closed.
    recorder: OnceLock<(Weak<Spans>, WindowId)>,
    /// `true` if a stint is missing.
    is_cut: AtomicBool,
    is_closed: AtomicBool,
    state: Mutex<State>,
}

/// The part of a span that changes while it is open.
#[derive(Debug, Default)]
struct State {
    /// The values of the selected fields, by their numbers.
    values: Vec<Option<String>>,
    /// The times in which threads were in the span.
    stints: Vec<Stint>,
    own_ticks: u64,
    /// The sum of those that aren't kept.
    others_ticks: u64,
}

/// A span as it closes.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) label: Label,
    pub(super) opened_ticks: u64,
    pub(super) running_ticks: u64,
    pub(super) own_ticks: u64,
    pub(super) stints: Vec<Stint>,
    /// `true` if all its stints are kept.
    pub(super) has_all: bool,
}

impl OpenSpan {
    /// Creates a span with this name and target, which opens now.
    pub(crate) fn new(name: &'static str, target: &'static str, ticks: u64) -> Self {
        Self {
            name,
            target,
            opened_ticks: ticks,
            recorder: OnceLock::new(),
            is_cut: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Returns what changes. Only threads that exit the same span at once meet here, so it is free after a few
    /// nanoseconds, or its holder isn't running: then there is nothing to wait for.
    #[inline]
    fn state(&self) -> Option<MutexGuard<'_, State>> {
        for _ in 0..LOOKS {
            if let Some(state) = try_lock(&self.state) {
                return Some(state);
            }
            hint::spin_loop();
        }
        self.is_cut.store(true, Ordering::Relaxed);
        None
    }

    /// Sets the value of a selected field. Its text is cut after 100 bytes or so.
    pub(crate) fn set(&self, field: usize, mut value: String) {
        const MOST: usize = 100;
        if value.len() > MOST {
            let end = (0..=MOST).rev().find(|&at| value.is_char_boundary(at)).unwrap_or(0);
            value.truncate(end);
            value.push('…');
        }
        if let Some(mut state) = self.state() {
            if state.values.len() <= field {
                state.values.resize_with(field + 1, || None);
            }
            state.values[field] = Some(value);
        }
    }

    /// Returns whether it is known who records the span.
    #[inline]
    pub(crate) fn is_bound(&self) -> bool {
        self.recorder.get().is_some()
    }

    /// Has `spans` count the span, unless others do.
    pub(crate) fn bind(&self, spans: &Arc<Spans>, window: WindowId) {
        if self.recorder.set((Arc::downgrade(spans), window)).is_ok() {
            spans.count_opened();
            // It may have been opened while only others recorded.
            if self.opened_ticks < spans.started_ticks() {
                self.is_cut.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Adds a time in which a thread was in the span; `None` if a part of it wasn't recorded.
    #[inline]
    pub(crate) fn add(&self, stint: Option<Stint>) {
        match stint {
            Some(stint) => {
                if let Some(mut state) = self.state() {
                    state.add(stint);
                }
            }
            None => self.is_cut.store(true, Ordering::Relaxed),
        }
    }

    /// Closes the span at `now_ticks`; `None` if nothing is recorded then.
    pub(crate) fn close(&self, now_ticks: Option<u64>) {
        self.is_closed.store(true, Ordering::Relaxed);
        let Some((spans, window)) = self.recorder.get() else { return };
        let Some(spans) = spans.upgrade() else { return };
        let state = self.state().map(|mut state| std::mem::take(&mut *state));
        let is_whole = !self.is_cut.load(Ordering::Relaxed) && spans.is_on(*window);
        let (Some(now_ticks), Some(state)) = (now_ticks.filter(|_| is_whole), state) else {
            return spans.count_cut();
        };
        let State { values, mut stints, own_ticks, others_ticks } = state;
        let mut fields = String::new();
        for value in values.into_iter().flatten() {
            if !fields.is_empty() {
                fields.push(' ');
            }
            fields.push_str(&value);
        }
        // A thread may add its stint after another one that entered later.
        if !stints.is_sorted_by_key(|stint| stint.enter_ticks) {
            stints.sort_unstable_by_key(|stint| (stint.enter_ticks, stint.exit_ticks));
        }
        let mut running_ticks = others_ticks;
        let (mut until_ticks, mut last_ticks) = (0, now_ticks);
        for stint in &stints {
            let from_ticks = stint.enter_ticks.max(until_ticks);
            running_ticks += stint.exit_ticks.saturating_sub(from_ticks);
            until_ticks = until_ticks.max(stint.exit_ticks);
            last_ticks = last_ticks.max(stint.exit_ticks);
        }
        // Times that aren't kept may overlap.
        running_ticks = running_ticks.min(last_ticks.saturating_sub(self.opened_ticks));
        let whole = Whole {
            label: Label { name: self.name, target: self.target, fields },
            opened_ticks: self.opened_ticks,
            running_ticks,
            own_ticks,
            stints,
            has_all: others_ticks == 0,
        };
        spans.close(whole, last_ticks);
    }
}

impl State {
    #[inline]
    fn add(&mut self, stint: Stint) {
        self.own_ticks += stint.own_ticks;
        if self.stints.len() < MOST_STINTS {
            self.stints.push(stint);
        } else {
            self.others_ticks += stint.exit_ticks - stint.enter_ticks;
        }
    }
}

/// A service rarely has more spans open in turn on one thread than this.
const SLOTS: usize = 64;

/// A span with its id.
type Slot = Cell<Option<(u64, Arc<OpenSpan>)>>;

thread_local! {
    /// Spans that this thread exited lately, so that it rarely has to look them up.
    static LAST: [Slot; SLOTS] = const { [const { Cell::new(None) }; SLOTS] };
}

/// Calls `f` with the open span of this id. `find` looks it up, if this thread didn't exit it lately.
#[inline]
pub(crate) fn with(
    id: u64,
    find: impl FnOnce() -> Option<Arc<OpenSpan>>,
    f: impl FnOnce(&OpenSpan),
) {
    // The lowest bits tell apart spans that are open at once.
    let slot = id as usize % SLOTS;
    let known = LAST.try_with(|last| last[slot].take()).ok().flatten();
    // Ids are given to other spans once theirs is closed.
    let is_it =
        |known: &(u64, Arc<OpenSpan>)| known.0 == id && !known.1.is_closed.load(Ordering::Relaxed);
    let Some(span) = known.filter(is_it).or_else(|| Some((id, find()?))) else { return };
    f(&span.1);
    // The destructor of what was there before has nothing to call.
    let _ = LAST.try_with(|last| last[slot].set(Some(span)));
}
