//! The waits of a program without symbols, whose functions are known only by address. They are kept
//! until they are looked up in the unstripped program.

use std::sync::Arc;

#[cfg(all(feature = "symbols", feature = "read"))]
use super::{
    Wait,
    named::{WaitBuilder, named},
    tree::Call,
};
use crate::symbols::{Address, StackFrame};
use crate::trace::wait_id::WaitId;

/// The waits that have functions known only by address.
#[derive(Debug, Default)]
#[cfg_attr(feature = "read", derive(Clone, PartialEq, Eq))]
pub(crate) struct UnnamedWaits {
    pub(crate) chains: Vec<UnnamedChain>,
    /// The chains of each wait, as indices, sorted by wait.
    pub(crate) waits: Vec<(WaitId, Vec<u32>)>,
}

/// A chain of functions.
#[derive(Debug)]
#[cfg_attr(feature = "read", derive(Clone, PartialEq, Eq))]
pub(crate) struct UnnamedChain {
    /// The addresses, innermost first: a number that is equal for equal addresses, and the
    /// functions there, inlined ones first.
    pub(crate) places: Vec<(u32, Arc<[StackFrame]>)>,
    /// The instrumented calls, the outermost first.
    pub(crate) calls: Vec<NamedCall>,
}

/// An instrumented function, as the program named it.
#[derive(Debug)]
#[cfg_attr(feature = "read", derive(Clone, PartialEq, Eq))]
pub(crate) struct NamedCall {
    pub(crate) name: Arc<str>,
    pub(crate) file: Arc<str>,
    pub(crate) line: u32,
}

/// Returns `true` if a function is known only by its address in a file with a build id.
pub(super) fn has_address(frames: &[StackFrame]) -> bool {
    frames.iter().any(|frame| Address::parse(&frame.function).is_some())
}

impl UnnamedWaits {
    /// Returns `true` if this wait has functions known only by address.
    pub(crate) fn has(&self, id: WaitId) -> bool {
        self.waits.binary_search_by_key(&id, |(id, _)| *id).is_ok()
    }
}

#[cfg(all(feature = "symbols", feature = "read"))]
impl UnnamedWaits {
    /// Iterates over all functions.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &StackFrame> {
        self.chains.iter().flat_map(|chain| &chain.places).flat_map(|(_, frames)| frames.iter())
    }

    /// Builds the wait of these chains from the functions known now.
    pub(crate) fn wait(&self, chains: &[u32]) -> Wait {
        let mut builder = WaitBuilder::default();
        for &chain in chains {
            let Some(chain) = self.chains.get(chain as usize) else { continue };
            let places = chain.places.iter();
            let places: Vec<_> =
                places.map(|(number, frames)| (u64::from(*number), Arc::clone(frames))).collect();
            let calls = chain.calls.iter();
            let calls: Vec<_> = calls
                .map(|call| Call { name: &call.name, file: &call.file, line: call.line })
                .collect();
            builder.add(&named(&places), &calls);
        }
        builder.finish()
    }

    /// Drops the waits that no longer have unknown functions.
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
