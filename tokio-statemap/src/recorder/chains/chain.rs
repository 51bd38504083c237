//! A chain of functions.

use std::hash::{Hash, Hasher};

use crate::recorder::calls::Function;
use crate::recorder::chains::stack::Return;

/// The functions that a task was in when its waker was cloned.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The distance of the stack pointer from the task's poll, in bytes.
    pub(super) depth: u32,
    /// The return addresses of the functions, the innermost first; the outermost is the one that polls the task.
    pub(super) returns: Vec<Return>,
    /// A hash of `calls`.
    pub(super) calls_hash: u64,
    /// The instrumented functions, the outermost first.
    pub(super) calls: Vec<&'static Function>,
}

impl Chain {
    /// Returns an address within each function, the innermost first.
    pub(crate) fn addresses(&self) -> impl ExactSizeIterator<Item = u64> {
        self.returns.iter().map(|to| to.address - 1)
    }

    /// Returns the return addresses, the innermost first.
    #[cfg(has_black_box)]
    pub(crate) fn returns(&self) -> impl Iterator<Item = u64> {
        self.returns.iter().map(|to| to.address)
    }

    /// Returns a chain as it was in another process.
    #[cfg(all(has_black_box, feature = "read"))]
    pub(crate) fn of_box(addresses: &[u64], calls: Vec<&'static Function>) -> Self {
        let mut returns = Vec::with_capacity(addresses.len());
        for &address in addresses {
            returns.push(Return { offset: 0, address: address.max(1) });
        }
        Self { depth: 0, returns, calls_hash: 0, calls }
    }

    #[cfg(test)]
    pub(super) const fn empty() -> Self {
        Self { depth: 0, returns: Vec::new(), calls_hash: 0, calls: Vec::new() }
    }

    /// Returns the instrumented functions, the outermost first.
    pub(crate) fn calls(&self) -> &[&'static Function] {
        &self.calls
    }
}

impl PartialEq for Chain {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |n: usize| std::ptr::eq(self.calls[n], other.calls[n]);
        (self.depth, &self.returns, self.calls.len())
            == (other.depth, &other.returns, other.calls.len())
            && (0..self.calls.len()).all(is_same)
    }
}

impl Eq for Chain {}

impl Hash for Chain {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // `calls_hash` stands for `calls`.
        (self.depth, &self.returns, self.calls_hash).hash(hasher);
    }
}

/// The number of a chain: its index.
pub(crate) type ChainId = u32;
