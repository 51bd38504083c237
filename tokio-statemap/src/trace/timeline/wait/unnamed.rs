//! The waits of a program without symbols: of its functions it knows no more than the addresses. They are kept
//! until someone looks them up in the program as it was before it was stripped.

use std::sync::Arc;

use super::WaitId;
#[cfg(all(feature = "symbols", feature = "read"))]
use super::{
    Wait,
    named::{named, wait_of},
    tree::Call,
};
use crate::symbols::{Address, StackFrame};

/// The waits of which functions are addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnnamedWaits {
    pub(crate) chains: Vec<UnnamedChain>,
    /// Each with its chains, as indices, by number.
    pub(crate) waits: Vec<(WaitId, Vec<u32>)>,
}

/// A chain of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnnamedChain {
    /// The addresses, the innermost first: the same number for the same one, and the functions there, of
    /// which what was inlined is first.
    pub(crate) places: Vec<(u32, Arc<[StackFrame]>)>,
    /// The instrumented calls, the outermost first.
    pub(crate) calls: Vec<NamedCall>,
}

/// An instrumented function, as the program named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedCall {
    pub(crate) name: Arc<str>,
    pub(crate) file: Arc<str>,
    pub(crate) line: u32,
}

/// Whether a function is an address in a file with a build id.
pub(super) fn has_address(frames: &[StackFrame]) -> bool {
    frames.iter().any(|frame| Address::of(&frame.function).is_some())
}

impl UnnamedWaits {
    /// Whether this wait is one of them. They are by number.
    pub(crate) fn has(&self, id: WaitId) -> bool {
        self.waits.binary_search_by_key(&id, |(id, _)| *id).is_ok()
    }
}

#[cfg(all(feature = "symbols", feature = "read"))]
impl UnnamedWaits {
    /// All functions.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &StackFrame> {
        self.chains.iter().flat_map(|chain| &chain.places).flat_map(|(_, frames)| frames.iter())
    }

    /// The wait of these chains, by what is known of their functions now.
    pub(crate) fn wait(&self, chains: &[u32]) -> Wait {
        let chains = chains.iter().filter_map(|&chain| self.chains.get(chain as usize));
        wait_of(chains.map(|chain| {
            let places = chain.places.iter();
            let functions = named(places.map(|(address, frames)| (u64::from(*address), &**frames)));
            let calls = chain.calls.iter();
            (
                functions,
                calls.map(|call| Call { name: &call.name, file: &call.file, line: call.line }),
            )
        }))
    }

    /// Leaves out what has no addresses any more.
    pub(crate) fn forget_named(&mut self) {
        let has_address =
            |chain: &UnnamedChain| chain.places.iter().any(|(_, frames)| has_address(frames));
        let is_unnamed: Vec<_> = self.chains.iter().map(has_address).collect();
        self.waits.retain(|(_, chains)| chains.iter().any(|&chain| is_unnamed[chain as usize]));
        if self.waits.is_empty() {
            self.chains.clear();
        }
    }
}
