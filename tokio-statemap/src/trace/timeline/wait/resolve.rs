//! Looks up the functions of the chains that a timeline's tasks wait at.

use std::sync::Arc;

use super::Wait;
use super::named::{build_wait, named};
use super::tree::{Call, Located};
use super::unnamed::{NamedCall, UnnamedChain, UnnamedWaits, has_address};
use crate::recorder::waits::table::{Chain, ChainId, Places};
use crate::symbols::{Resolver, StackFrame, with_resolver};
use crate::trace::timeline::Timeline;
use crate::trace::wait_id::WaitId;
use crate::util::map::Map;
use crate::util::quantity::count;
use crate::util::slow::Slow;

impl Timeline {
    /// Looks up the waits of the timeline's tasks. Unused numbers get empty waits.
    pub(in crate::trace::timeline) fn resolve_waits(&mut self, places: &Places) {
        let ids = used(self);
        let Some(last) = ids.last() else { return };
        let slow =
            || Slow::begin(format!("looking up {}", count(ids.len() as u64, "place of waiting")));
        let _slow = slow();
        self.places.waits = vec![Wait::default(); last.index() + 1];
        with_resolver(|resolver| {
            let mut known = Known { resolver, chains: Map::default(), unnamed: Unnamed::default() };
            for id in ids {
                let Some(wait) = places.waits.get(id.index()) else { continue };
                let chains: Vec<_> = wait
                    .iter()
                    .filter_map(|&id| Some((id, &**places.chains.get(id as usize)?)))
                    .collect();
                self.places.waits[id.index()] = known.wait(id, &chains);
            }
            self.places.unnamed = known.unnamed.all;
        });
    }
}

/// Returns the numbers of the waits that the timeline uses, sorted.
fn used(timeline: &Timeline) -> Vec<WaitId> {
    let mut used = [false; 1 << 14];
    let mut mark = |id: Option<WaitId>| {
        if let Some(id) = id {
            used[usize::from(id.number())] = true;
        }
    };
    for task in timeline.tasks.one_by_one() {
        mark(task.carried_wait.and_then(|wait| wait.wait));
        task.polls.iter().for_each(|poll| mark(poll.wait()));
    }
    timeline.local_tasks.iter().for_each(|task| mark(task.wait));
    used[usize::from(WaitId::NOTHING.number())] = false;
    (0..).zip(used).filter(|(_, used)| *used).filter_map(|(id, _)| WaitId::new(id)).collect()
}

/// The chains looked up so far.
struct Known<'a> {
    resolver: &'a mut Resolver,
    /// The functions of each chain, and `true` if one is known only by its address.
    chains: Map<ChainId, (Vec<Located>, bool)>,
    unnamed: Unnamed,
}

impl Known<'_> {
    fn wait<'c>(&mut self, id: WaitId, chains: &[(ChainId, &'c Chain)]) -> Wait {
        let mut is_unnamed = false;
        let chain = |&(id, chain): &(ChainId, &'c Chain)| {
            let (functions, has_address) =
                self.chains.get_or_insert_with(id, || look_up(chain, self.resolver));
            is_unnamed |= *has_address;
            let calls = chain.calls().iter().map(|function| Call {
                name: function.name(),
                file: function.file(),
                line: function.line(),
            });
            (functions.clone(), calls)
        };
        let wait = build_wait(chains.iter().map(chain));
        if is_unnamed {
            self.unnamed.add(id, chains, self.resolver);
        }
        wait
    }
}

fn look_up(chain: &Chain, resolver: &mut Resolver) -> (Vec<Located>, bool) {
    let places: Vec<(u64, Arc<[StackFrame]>)> =
        chain.addresses().map(|address| (address, resolver.frames(address))).collect();
    let has_address = places.iter().any(|(_, frames)| has_address(frames));
    (named(places.iter().map(|(address, frames)| (*address, &**frames))), has_address)
}

/// The waits that have functions known only by address.
#[derive(Default)]
struct Unnamed {
    all: UnnamedWaits,
    indices: Map<ChainId, u32>,
    /// Numbers in place of addresses, which mean nothing outside of this process.
    addresses: Map<u64, u32>,
}

impl Unnamed {
    fn add(&mut self, id: WaitId, chains: &[(ChainId, &Chain)], resolver: &mut Resolver) {
        let index = |&(id, chain): &(ChainId, &Chain)| {
            let next = self.indices.len() as u32;
            let index = *self.indices.get_or_insert_with(id, || next);
            if index == next {
                let place = |address| {
                    let next = self.addresses.len() as u32;
                    let number = *self.addresses.get_or_insert_with(address, || next);
                    (number, resolver.frames(address))
                };
                let calls = chain.calls().iter().map(|function| NamedCall {
                    name: function.name().into(),
                    file: function.file().into(),
                    line: function.line(),
                });
                let (places, calls) = (chain.addresses().map(place).collect(), calls.collect());
                self.all.chains.push(UnnamedChain { places, calls });
            }
            index
        };
        let chains = chains.iter().map(index).collect();
        self.all.waits.push((id, chains));
    }
}
