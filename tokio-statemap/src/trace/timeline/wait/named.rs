//! Converts the addresses of a chain to functions, and several chains to a tree.

use super::Wait;
use super::tree::{Call, Located, essential, tree};
use crate::symbols::StackFrame;

/// Builds the tree of a wait from its chains, each given by its functions and instrumented calls.
pub(super) fn build_wait<'a, C>(chains: impl IntoIterator<Item = (Vec<Located>, C)>) -> Wait
where
    C: ExactSizeIterator<Item = Call<'a>>,
{
    let mut first_call = 0;
    let essential = |(functions, calls): (_, C)| {
        let first = first_call;
        first_call += calls.len() as u16;
        essential(functions, (first..).zip(calls))
    };
    let mut chains: Vec<_> = chains.into_iter().map(essential).collect();
    chains.retain(|chain| !chain.is_empty());
    tree(chains)
}

/// Returns the functions of a chain, outermost first, from those of its addresses, innermost first.
pub(super) fn named<'a>(
    addresses: impl ExactSizeIterator<Item = (u64, &'a [StackFrame])>,
) -> Vec<Located> {
    let mut all = Vec::new();
    let outermost = addresses.len().saturating_sub(1);
    for (i, (address, frames)) in addresses.enumerate() {
        // In the function that polls the task, only what was inlined into it belongs to the task.
        let own = match i == outermost {
            true => frames.iter().position(polls_task).unwrap_or(0),
            false => frames.len(),
        };
        let located = |frame: &StackFrame| Located {
            frame: frame.clone(),
            address,
            call: 0,
            instrumented: None,
            name: None,
        };
        all.extend(frames[..own].iter().map(located));
    }
    all.reverse();
    // Cuts off the function that clones the waker and its callees.
    let end = all.iter().position(|located| is_capture(&located.frame)).unwrap_or(all.len());
    all.truncate(end);
    all
}

/// Returns `true` for the functions that poll a task through a probe.
fn polls_task(frame: &StackFrame) -> bool {
    const FILES: [&str; 2] = ["/waits/probe.rs", "/sys/waker.rs"];
    ["waits::probe::", "sys::waker::"].iter().any(|of| frame.function.contains(of))
        || frame.file.as_deref().is_some_and(|of| FILES.iter().any(|file| of.ends_with(file)))
}

/// Returns `true` for the functions called when a waker is cloned.
fn is_capture(frame: &StackFrame) -> bool {
    frame.function.contains("sys::waker::clone") || frame.function.contains("waits::capture::")
}
