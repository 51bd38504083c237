//! The calls of instrumented functions that a thread polls right now, the outermost first.
//!
//! A probe of a task remembers the [`depth`] that it found: what is above is the task's. Calls of other
//! tasks may be below, as one task may poll another within its poll (`block_on` in `block_in_place`, a
//! `LocalSet`).

use std::cell::Cell;

use crate::recorder::functions::Function;

/// How many calls are kept; deeper ones are only counted.
pub(crate) const MOST: usize = 64;

/// A call that is being polled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// What is called.
    pub(crate) function: &'static Function,
    /// When this call was first polled.
    pub(crate) entered_ticks: u64,
    /// The address of a local of the poll, by which it is in order among the frames of the stack.
    pub(crate) address: usize,
}

/// The calls of one thread.
struct CallStack {
    /// How many calls are being polled, with those that are only counted.
    depth: Cell<usize>,
    /// For how long calls were polled within the innermost one, in ticks. The polls of other tasks within
    /// it are no exception: what their calls took isn't the innermost one's own, and is in its sum.
    child_ticks: Cell<u64>,
    calls: [Cell<Option<Call>>; MOST],
    /// Of the functions of the first calls, by how many these are: a polynomial, so that that of any
    /// range follows from two of them.
    hashes: [Cell<u64>; MOST + 1],
}

thread_local! {
    // Without a destructor, so that it can be used for as long as the thread lives.
    static STACK: CallStack = const { CallStack {
        depth: Cell::new(0),
        child_ticks: Cell::new(0),
        calls: [const { Cell::new(None) }; MOST],
        hashes: [const { Cell::new(0) }; MOST + 1],
    } };
}

/// The base of the polynomial.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
const POWERS: [u64; MOST + 1] = powers();

const fn powers() -> [u64; MOST + 1] {
    let mut powers = [1_u64; MOST + 1];
    let mut i = 1;
    while i <= MOST {
        powers[i] = powers[i - 1].wrapping_mul(BASE);
        i += 1;
    }
    powers
}

/// How many calls are being polled on this thread.
#[inline]
pub(crate) fn depth() -> usize {
    STACK.with(|stack| stack.depth.get())
}

/// A hash of the functions of the calls from `base` on, and of how many of them aren't kept.
#[inline]
pub(crate) fn hash_above(base: usize) -> u64 {
    STACK.with(|stack| {
        let depth = stack.depth.get();
        let (kept, from) = (depth.min(MOST), base.min(depth).min(MOST));
        let below = stack.hashes[from].get().wrapping_mul(POWERS[kept - from]);
        let hash = stack.hashes[kept].get().wrapping_sub(below);
        let more = (depth - kept).saturating_sub(base.saturating_sub(MOST)) as u64;
        mix(hash.wrapping_add(more))
    })
}

/// Calls `f` with each call from `base` on that is kept, the outermost first.
pub(crate) fn calls_above(base: usize, mut f: impl FnMut(&Call)) {
    STACK.with(|stack| {
        let kept = stack.depth.get().min(MOST);
        let calls = stack.calls[..kept].iter().skip(base);
        calls.filter_map(Cell::get).for_each(|call| f(&call));
    });
}

/// Whether a call of `function` is being polled.
#[inline]
pub(super) fn has(function: &'static Function) -> bool {
    STACK.with(|stack| {
        let kept = stack.depth.get().min(MOST);
        let mut calls = stack.calls[..kept].iter();
        calls.any(|call| call.get().is_some_and(|call| std::ptr::eq(call.function, function)))
    })
}

/// Adds a call until the guard is dropped.
#[inline]
pub(super) fn push(call: Call) -> Pushed {
    STACK.with(|stack| {
        let depth = stack.depth.get();
        if let Some(place) = stack.calls.get(depth) {
            place.set(Some(call));
            let hash = stack.hashes[depth].get().wrapping_mul(BASE);
            stack.hashes[depth + 1].set(hash.wrapping_add(mix(call.function.address() as u64)));
        }
        stack.depth.set(depth + 1);
        Pushed { depth, saved_ticks: stack.child_ticks.replace(0) }
    })
}

/// A call on the stack; dropping it removes it, also while the thread unwinds.
#[derive(Debug)]
pub(super) struct Pushed {
    depth: usize,
    saved_ticks: u64,
}

impl Pushed {
    /// Removes the call, which was polled for `ticks`. Returns how many of these are its own: those that
    /// no other call was polled in.
    #[inline]
    pub(super) fn pop(self, ticks: u64) -> u64 {
        STACK.with(|stack| {
            let own_ticks = ticks.saturating_sub(stack.child_ticks.get());
            stack.child_ticks.set(self.saved_ticks.saturating_add(ticks));
            stack.depth.set(self.depth);
            std::mem::forget(self);
            own_ticks
        })
    }
}

impl Drop for Pushed {
    #[inline]
    fn drop(&mut self) {
        // Whatever was above is gone.
        STACK.with(|stack| stack.depth.set(self.depth));
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
        assert!(has(&A) && has(&B));
        drop(b);
        assert!(has(&A) && !has(&B));
        drop(a);
        assert_eq!(depth(), 0);
    }

    #[test]
    fn a_hash_is_of_the_functions_above_the_base_only() {
        let empty = hash_above(0);
        let outer = call(&B, 1);
        assert_eq!(hash_above(1), empty);
        let _a = call(&A, 2);
        let _b = call(&B, 3);
        let (above, all) = (hash_above(1), hash_above(0));
        assert_ne!(above, all);
        assert_ne!(hash_above(2), above);
        drop((_b, _a));
        drop(outer);
        let _a = call(&A, 7);
        let b = call(&B, 8);
        assert_eq!(hash_above(0), above, "the times and what was below are not in it");
        drop((b, _a));
        let _b = call(&B, 7);
        let _a = call(&A, 8);
        assert_ne!(hash_above(0), above, "their order is");
    }

    #[test]
    fn deeper_calls_are_counted() {
        let all: Vec<_> = (0..MOST + 3).map(|_| call(&A, 1)).collect();
        assert_eq!((depth(), names(0).len(), names(MOST + 1).len()), (MOST + 3, MOST, 0));
        let deepest = (hash_above(0), hash_above(MOST), hash_above(MOST + 2));
        assert_ne!(deepest.1, deepest.2);
        let one_more = call(&B, 1);
        assert_ne!(hash_above(0), deepest.0);
        drop(one_more);
        assert_eq!(hash_above(0), deepest.0);
        all.into_iter().rev().for_each(drop);
        assert_eq!(depth(), 0);
    }

    #[test]
    fn unwinding_removes_what_it_passes() {
        let _a = call(&A, 1);
        let unwound = std::panic::catch_unwind(|| {
            let _b = call(&B, 2);
            panic!("on purpose");
        });
        assert!(unwound.is_err());
        assert_eq!(names(0), ["a"]);
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
