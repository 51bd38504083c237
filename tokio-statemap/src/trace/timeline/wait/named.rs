//! Converts the addresses of a chain to functions, and several chains to a tree.

use std::sync::Arc;

use super::Wait;
use super::tree::{Call, Located, essential, tree};
use crate::symbols::StackFrame;
use crate::trace::timeline::stack_end;

/// Builds the tree of a wait from its chains.
#[derive(Default)]
pub(super) struct WaitBuilder {
    chains: Vec<Vec<Located>>,
    /// The number of instrumented calls of all chains.
    calls: u16,
}

impl WaitBuilder {
    /// Adds a chain, given by its functions and instrumented calls.
    pub(super) fn add(&mut self, functions: &[Located], calls: &[Call<'_>]) {
        let chain = essential(functions, calls, self.calls);
        self.calls += calls.len() as u16;
        if !chain.is_empty() {
            self.chains.push(chain);
        }
    }

    pub(super) fn finish(self) -> Wait {
        tree(self.chains)
    }
}

/// Returns the functions of a chain, outermost first, from those of its addresses, innermost first.
pub(super) fn named(addresses: &[(u64, Arc<[StackFrame]>)]) -> Vec<Located> {
    let mut all = Vec::new();
    let outermost = addresses.len().saturating_sub(1);
    for (i, (address, frames)) in addresses.iter().enumerate() {
        // In the function that polls the task, only what was inlined into it belongs to the task.
        let own = match i == outermost {
            true => frames.iter().position(polls_task).unwrap_or(0),
            false => frames.len(),
        };
        for frame in &frames[..own] {
            let (frame, address) = (frame.clone(), *address);
            let (call, inlined_in, instrumented, name) = (0, None, None, None);
            all.push(Located { frame, address, call, inlined_in, instrumented, name });
        }
    }
    // Cuts off the function that clones the waker and its callees.
    if let Some(clones) = all.iter().rposition(|located| clones_waker(&located.frame.function)) {
        all.drain(..=clones);
    }
    // Callers of the runtime's poll function are the runtime, if the runtime's waker was cloned.
    let polls = all.iter().position(|located| polls_task(&located.frame));
    all.truncate(polls.unwrap_or(all.len()));
    all.reverse();
    all
}

/// Returns `true` for the functions that poll a task, of the runtime or of a probe.
fn polls_task(frame: &StackFrame) -> bool {
    let file = frame.file.as_deref().unwrap_or_default();
    stack_end::polls_task(frame)
        || frame.function.contains("waits::probe::")
        || frame.function.contains("sys::waker::")
        || file.ends_with("/waits/probe.rs")
        || file.ends_with("/sys/waker.rs")
}

/// Returns `true` for the functions called when a waker is cloned.
pub(super) fn clones_waker(function: &str) -> bool {
    ["sys::waker::clone", "sys::task_waker::", "chains::capture::"]
        .iter()
        .any(|name| function.contains(name))
}
