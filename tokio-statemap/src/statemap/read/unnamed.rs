//! Chains of functions known only by address, as they are in the data.

use std::sync::Arc;

use super::part::{Part, UnnamedEntry};
use super::waits::{Waits, wait_id};
use crate::trace::timeline::{NamedCall, StackFrame, UnnamedChain, WaitId};

/// The most functions in all chains, and in all waits in sum. A program keeps 2^20 functions, and 2^14 waits
/// of 8 chains of 128 functions.
const MOST_OF_CHAINS: usize = 1 << 21;
const MOST_OF_WAITS: usize = 1 << 24;
/// The most addresses of a chain, and the most functions of an address. A program keeps 128 addresses, and some dozen
/// functions at a few of them.
const MOST_PLACES: usize = 256;
const MOST_AT_PLACE: usize = 256;

impl Waits {
    /// Adds a part. `functions` are the functions of this part and those before.
    pub(super) fn add_unnamed(
        &mut self,
        part: &mut Part,
        functions: &[StackFrame],
    ) -> Result<(), String> {
        for (places, calls) in part.chains.drain(..) {
            if places.len() > MOST_PLACES {
                return Err(format!("`chains` has one of over {MOST_PLACES} addresses"));
            }
            let places = places.into_iter().map(|place| {
                if place.len() > 1 + MOST_AT_PLACE {
                    return Err(format!(
                        "`chains` has over {MOST_AT_PLACE} functions at an address"
                    ));
                }
                self.of_chains.0 += place.len();
                if self.of_chains.0 > MOST_OF_CHAINS {
                    return Err(format!("`chains` have over {MOST_OF_CHAINS} functions"));
                }
                let (&number, indices) =
                    place.split_first().ok_or("`chains` has a place that has no number")?;
                let function = |&index: &u32| functions.get(index as usize).cloned();
                let frames: Option<Arc<[_]>> = indices.iter().map(function).collect();
                let frames = frames.ok_or("`chains` has an index that `functions` doesn't have")?;
                Ok((number, frames))
            });
            let places = places.collect::<Result<_, String>>()?;
            let call = |(name, file, line): (String, String, u32)| NamedCall {
                name: name.into(),
                file: file.into(),
                line,
            };
            let calls = calls.into_iter().map(call).collect();
            self.unnamed.chains.push(UnnamedChain { places, calls });
        }
        part.unnamed.drain(..).try_for_each(|wait| self.unnamed_wait(wait))
    }

    fn unnamed_wait(&mut self, (number, chains): UnnamedEntry) -> Result<(), String> {
        let id = wait_id(number, "unnamed")?;
        let is_next = self.unnamed.waits.last().is_none_or(|(last, _)| *last < id);
        if !is_next || id == WaitId::NOTHING {
            return Err(format!("`unnamed` must be by number, and {number} isn't the next one"));
        }
        for &chain in &chains {
            let chain = self.unnamed.chains.get(chain as usize);
            let chain = chain.ok_or("`unnamed` has an index that `chains` doesn't have")?;
            self.of_chains.1 += 1 + chain.places.len() + chain.calls.len();
        }
        if self.of_chains.1 > MOST_OF_WAITS {
            return Err(format!("`unnamed` have over {MOST_OF_WAITS} functions in sum"));
        }
        self.unnamed.waits.push((id, chains));
        Ok(())
    }
}
