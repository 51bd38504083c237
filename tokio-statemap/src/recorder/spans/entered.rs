//! The spans that this thread is in, the outermost first.
//!
//! Usually the innermost one is exited first, but `tracing` allows any order. At each moment the time belongs to the
//! span that was entered last of those that the thread is in.

use std::cell::Cell;

use crate::recorder::spans::{NO_TASK, Stint};

/// The number of spans that a thread can be in. Deeper ones are not recorded.
pub(crate) const MOST: usize = 64;

#[derive(Clone, Copy)]
struct Entered {
    id: u64,
    ticks: u64,
    own_ticks: u64,
    task: u64,
}

const NONE: Entered = Entered { id: 0, ticks: 0, own_ticks: 0, task: NO_TASK };

struct Stack {
    depth: Cell<usize>,
    /// The time at which a span was last entered or exited.
    since_ticks: Cell<u64>,
    spans: [Cell<Entered>; MOST],
}

thread_local! {
    // Without a destructor, so that it can be used for as long as the thread lives.
    static STACK: Stack = const { Stack {
        depth: Cell::new(0),
        since_ticks: Cell::new(0),
        spans: [const { Cell::new(NONE) }; MOST],
    } };
}

/// Notes that this thread, which polls `task`, enters a span.
#[inline]
pub(crate) fn enter(id: u64, ticks: u64, task: u64) {
    STACK.with(|stack| {
        let depth = stack.depth.get();
        let Some(place) = stack.spans.get(depth) else { return };
        stack.add_own(depth, ticks);
        place.set(Entered { id, ticks, own_ticks: 0, task });
        stack.depth.set(depth + 1);
    });
}

/// Notes that this thread exits a span. `ticks` is called if it has entered it. Returns `None` if it hasn't, or if
/// `ticks` does.
#[inline]
pub(crate) fn exit(id: u64, ticks: impl FnOnce() -> Option<u64>) -> Option<Stint> {
    STACK.with(|stack| {
        let depth = stack.depth.get();
        let last = depth.checked_sub(1)?;
        let mut place = last;
        // The innermost one, in almost all cases.
        while stack.spans[place].get().id != id {
            place = place.checked_sub(1)?;
        }
        let exit_ticks = ticks();
        if let Some(exit_ticks) = exit_ticks {
            stack.add_own(depth, exit_ticks);
        }
        let Entered { ticks: enter_ticks, own_ticks, task, .. } = stack.spans[place].get();
        while place < last {
            stack.spans[place].set(stack.spans[place + 1].get());
            place += 1;
        }
        stack.depth.set(last);
        // The clocks of two processors may differ by a few ticks.
        let exit_ticks = exit_ticks?.max(enter_ticks);
        Some(Stint { enter_ticks, exit_ticks, own_ticks, task })
    })
}

impl Stack {
    /// Adds the time since the last change to the innermost span.
    #[inline]
    fn add_own(&self, depth: usize, now_ticks: u64) {
        let since_ticks = self.since_ticks.replace(now_ticks);
        if let Some(innermost) = depth.checked_sub(1).map(|last| &self.spans[last]) {
            let mut span = innermost.get();
            span.own_ticks += now_ticks.saturating_sub(since_ticks);
            innermost.set(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit_at(id: u64, ticks: u64) -> Option<(u64, u64, u64, u64)> {
        let stint = exit(id, || Some(ticks))?;
        Some((stint.enter_ticks, stint.exit_ticks, stint.own_ticks, stint.task))
    }

    #[test]
    fn own_time_is_that_of_the_innermost() {
        enter(1, 10, 7);
        enter(2, 30, 7);
        assert_eq!(exit_at(2, 40), Some((30, 40, 10, 7)));
        enter(2, 45, 7);
        assert_eq!(exit_at(2, 50), Some((45, 50, 5, 7)));
        assert_eq!(exit_at(1, 100), Some((10, 100, 20 + 5 + 50, 7)));
        assert_eq!(exit_at(1, 101), None);
    }

    #[test]
    fn spans_are_exited_in_any_order() {
        enter(1, 0, 7);
        enter(2, 10, 7);
        enter(1, 20, 7);
        assert_eq!(exit_at(2, 30), Some((10, 30, 10, 7)));
        assert_eq!(exit_at(1, 40), Some((20, 40, 20, 7)), "the inner one");
        assert_eq!(exit_at(1, 50), Some((0, 50, 20, 7)));
    }

    #[test]
    fn a_span_that_is_exited_while_nothing_is_recorded_is_forgotten() {
        enter(1, 0, 7);
        enter(2, 10, 7);
        assert_eq!(exit(1, || None), None);
        assert_eq!(exit_at(2, 30), Some((10, 30, 20, 7)));
        assert_eq!(exit_at(1, 40), None);
    }

    #[test]
    fn deeper_ones_are_not_recorded() {
        (0..MOST as u64 + 2).for_each(|id| enter(id, id, 7));
        assert_eq!((exit_at(MOST as u64 + 1, 99), exit_at(MOST as u64, 99)), (None, None));
        assert_eq!(exit_at(MOST as u64 - 1, 99).map(|stint| stint.1), Some(99));
        for id in (0..MOST as u64 - 1).rev() {
            assert!(exit_at(id, 99).is_some(), "{id}");
        }
        assert_eq!(exit_at(0, 99), None);
    }
}
