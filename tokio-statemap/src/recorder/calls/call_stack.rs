//! The calls of instrumented functions that a thread polls right now, the outermost first.
//!
//! A probe of a task remembers the [`depth`] that it found: the calls above that are the task's. Calls of other tasks
//! may be below, as one task may poll another within its poll (`block_on` in `block_in_place`, a `LocalSet`).

use std::cell::Cell;

use crate::recorder::calls::Function;

/// The number of calls that are kept; deeper ones are only counted.
pub(crate) const MOST: usize = 64;

/// A call that is being polled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// The function that is called.
    pub(crate) function: &'static Function,
    /// The time when this call was first polled.
    pub(crate) entered_ticks: u64,
    /// The address of a local variable of the poll, which gives the call its place among the frames of the stack.
    pub(crate) address: usize,
}

/// The calls of one thread.
struct CallStack {
    /// The number of calls that are being polled, including those that are only counted.
    depth: Cell<usize>,
    /// The time for which calls were polled within the innermost one, in ticks. The polls of other tasks within
    /// it count, too: the time of their calls isn't the innermost one's own, and is in its total.
    child_ticks: Cell<u64>,
    calls: [Cell<Option<Call>>; MOST],
    /// For each number of first calls, a bit for each of their functions. Some functions share a bit. So a function
    /// that isn't among them is mostly ruled out without a search.
    functions: [Cell<u64>; MOST + 1],
}

thread_local! {
    // Without a destructor, so that it can be used for as long as the thread lives.
    static STACK: CallStack = const { CallStack {
        depth: Cell::new(0),
        child_ticks: Cell::new(0),
        calls: [const { Cell::new(None) }; MOST],
        functions: [const { Cell::new(0) }; MOST + 1],
    } };
}

/// The base of the polynomial that makes up a hash.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns how many calls are being polled on this thread.
#[inline]
pub(crate) fn depth() -> usize {
    STACK.with(|stack| stack.depth.get())
}

/// Returns a hash of the functions of the calls from `base` on, and of how many of them aren't kept.
#[inline]
pub(crate) fn hash_above(base: usize) -> u64 {
    STACK.with(|stack| {
        let depth = stack.depth.get();
        let (kept, from) = (depth.min(MOST), base.min(depth).min(MOST));
        let mut hash = 0_u64;
        for call in &stack.calls[from..kept] {
            if let Some(call) = call.get() {
                hash = hash.wrapping_mul(BASE).wrapping_add(mix(call.function.address() as u64));
            }
        }
        let more = (depth - kept).saturating_sub(base.saturating_sub(MOST)) as u64;
        mix(hash.wrapping_add(more))
    })
}

/// Calls `f` with each call from `base` on that is kept, the outermost first.
pub(crate) fn calls_above(base: usize, mut f: impl FnMut(&Call)) {
    STACK.with(|stack| {
        let kept = stack.depth.get().min(MOST);
        for call in &stack.calls[base.min(kept)..kept] {
            if let Some(call) = call.get() {
                f(&call);
            }
        }
    });
}

/// Adds a call. It stays until it is popped.
#[inline]
pub(crate) fn push(call: Call) -> Pushed {
    STACK.with(|stack| {
        let depth = stack.depth.get();
        let kept = depth.min(MOST);
        let (functions, bit) = (stack.functions[kept].get(), call.function.bit());
        let is_outermost = functions & bit == 0 || !stack.has(kept, call.function);
        if let Some(place) = stack.calls.get(depth) {
            place.set(Some(call));
            stack.functions[depth + 1].set(functions | bit);
        }
        stack.depth.set(depth + 1);
        Pushed { depth, is_outermost, saved_ticks: stack.child_ticks.replace(0) }
    })
}

impl CallStack {
    /// Returns whether one of the first `kept` calls is of `function`.
    #[inline(never)]
    fn has(&self, kept: usize, function: &'static Function) -> bool {
        let mut calls = self.calls[..kept].iter();
        calls.any(|call| call.get().is_some_and(|call| std::ptr::eq(call.function, function)))
    }
}

/// A call on the stack. The caller of `push` pops it, also while the thread unwinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pushed {
    /// The number of calls below.
    pub(crate) depth: usize,
    /// `true` if it is in no other call of its function.
    pub(crate) is_outermost: bool,
    pub(crate) saved_ticks: u64,
}

impl Pushed {
    /// Removes the call, which was polled for `ticks`, and whatever is above. Returns how many of these ticks are its
    /// own, in which no other call was polled.
    #[inline]
    pub(crate) fn pop(self, ticks: u64) -> u64 {
        STACK.with(|stack| {
            let own_ticks = ticks.saturating_sub(stack.child_ticks.get());
            stack.child_ticks.set(self.saved_ticks.saturating_add(ticks));
            stack.depth.set(self.depth);
            own_ticks
        })
    }
}

#[inline]
fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    value ^ value >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    static A: Function = Function::named("a", "f", 1, 1);
    static B: Function = Function::named("b", "f", 2, 1);

    fn call(function: &'static Function, entered_ticks: u64) -> Pushed {
        push(Call { function, entered_ticks, address: 0 })
    }

    fn names(base: usize) -> Vec<&'static str> {
        let mut names = Vec::new();
        calls_above(base, |call| names.push(call.function.name()));
        names
    }

    #[test]
    fn the_calls_are_from_the_outside_in() {
        assert_eq!((depth(), names(0)), (0, vec![]));
        let a = call(&A, 1);
        let b = call(&B, 2);
        assert_eq!((depth(), names(0), names(1)), (2, vec!["a", "b"], vec!["b"]));
        assert_eq!((names(2), names(9)), (vec![], vec![]));
        b.pop(0);
        assert_eq!((depth(), names(0)), (1, vec!["a"]));
        a.pop(0);
        assert_eq!(depth(), 0);
    }

    #[test]
    fn a_call_knows_whether_it_is_the_outermost_of_its_function() {
        let outer = call(&A, 1);
        let (b, a) = (call(&B, 2), call(&A, 3));
        assert!(outer.is_outermost && b.is_outermost && !a.is_outermost);
        outer.pop(0);
        let b = call(&B, 4);
        assert!(b.is_outermost, "what was there before is gone");
        assert!(call(&A, 5).is_outermost);
        b.pop(0);
        // There are more functions than bits, so some share theirs.
        static MANY: [Function; MOST] = [const { Function::named("f", "f", 1, 1) }; MOST];
        let all = MANY.each_ref().map(|function| call(function, 6));
        assert!(all.iter().all(|call| call.is_outermost));
        assert!(!call(&MANY[MOST - 1], 7).is_outermost && call(&A, 8).is_outermost);
        all[0].pop(0);
    }

    #[test]
    fn a_hash_is_of_the_functions_above_the_base_only() {
        let empty = hash_above(0);
        let outer = call(&B, 1);
        assert_eq!(hash_above(1), empty);
        let a = call(&A, 2);
        call(&B, 3);
        let (above, all) = (hash_above(1), hash_above(0));
        assert_ne!(above, all);
        assert_ne!(hash_above(2), above);
        a.pop(0);
        outer.pop(0);
        let a = call(&A, 7);
        call(&B, 8);
        assert_eq!(hash_above(0), above, "the times and what was below are not in it");
        a.pop(0);
        let b = call(&B, 7);
        call(&A, 8);
        assert_ne!(hash_above(0), above, "their order is");
        b.pop(0);
    }

    #[test]
    fn deeper_calls_are_counted() {
        let all: Vec<_> = (0..MOST + 3).map(|_| call(&A, 1)).collect();
        assert_eq!((depth(), names(0).len(), names(MOST + 1).len()), (MOST + 3, MOST, 0));
        let deepest = (hash_above(0), hash_above(MOST), hash_above(MOST + 2));
        assert_ne!(deepest.1, deepest.2);
        let one_more = call(&B, 1);
        assert_ne!(hash_above(0), deepest.0);
        one_more.pop(0);
        assert_eq!(hash_above(0), deepest.0);
        for call in all.into_iter().rev() {
            call.pop(0);
        }
        assert_eq!(depth(), 0);
    }

    #[test]
    fn own_ticks_and_those_of_children_add_up() {
        let parent = call(&A, 1);
        assert_eq!(call(&B, 2).pop(30), 30);
        let child = call(&B, 3);
        assert_eq!(call(&A, 4).pop(5), 5);
        assert_eq!(child.pop(12), 7);
        assert_eq!(parent.pop(100), 100 - 30 - 12);
        assert_eq!(call(&A, 5).pop(4), 4, "what came before is not its child");
        STACK.with(|stack| stack.child_ticks.set(0));
    }
}
