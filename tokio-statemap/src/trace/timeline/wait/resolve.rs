//! Looks up the functions of the chains that a timeline's tasks wait at.

use super::Wait;
use super::named::{WaitBuilder, clones_waker, named};
use super::tree::{Call, Located};
use super::unnamed::{NamedCall, UnnamedChain, UnnamedWaits, has_address};
use crate::recorder::chains::table::{Chain, ChainId, Places};
use crate::symbols::{Resolver, with_resolver};
use crate::trace::timeline::Timeline;
use crate::trace::wait_id::WaitId;
use crate::util::map::Map;
use crate::util::quantity::count;
use crate::util::slow::Slow;

/// The number of innermost calls among which the function that clones the waker is searched.
const OWN_CALLS: usize = 16;

impl Timeline {
    /// Looks up the waits of the timeline's tasks. Unused numbers get empty waits.
    pub(in crate::trace::timeline) fn resolve_waits(&mut self, places: &Places) {
        let ids = used(self);
        let Some(last) = ids.last() else { return };
        let places_to_look_up = count(ids.len() as u64, "place of waiting");
        let _slow = Slow::begin(format!("looking up {places_to_look_up}"));
        for _ in 0..=last.index() {
            self.places.waits.push(Wait::default());
        }
        with_resolver(|resolver| {
            let mut known = Known { resolver, chains: Map::default(), unnamed: Unnamed::default() };
            for id in ids {
                let Some(wait) = places.waits.get(id.index()) else { continue };
                let mut chains = Vec::new();
                for &id in wait {
                    if let Some(chain) = places.chains.get(id as usize) {
                        chains.push((id, *chain));
                    }
                }
                self.places.waits[id.index()] = known.wait(id, &chains);
            }
            self.places.unnamed = known.unnamed.all.into();
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
    let mut ids = Vec::new();
    for (id, is_used) in used.iter().enumerate() {
        if *is_used {
            ids.extend(WaitId::new(id as u16));
        }
    }
    ids
}

/// The chains looked up so far.
struct Known<'a> {
    resolver: &'a mut Resolver,
    /// The functions of each chain, and `true` if one is known only by its address.
    chains: Map<ChainId, (Vec<Located>, bool)>,
    unnamed: Unnamed,
}

impl Known<'_> {
    fn wait(&mut self, id: WaitId, chains: &[(ChainId, &Chain)]) -> Wait {
        let mut is_unnamed = false;
        for &(id, chain) in chains {
            let (_, has_address) =
                self.chains.get_or_insert_with(id, || look_up(chain, self.resolver));
            is_unnamed |= *has_address;
        }
        let mut builder = WaitBuilder::default();
        for &(id, chain) in chains {
            let Some((functions, _)) = self.chains.get(&id) else { continue };
            let mut calls = Vec::new();
            for function in chain.calls() {
                let (name, file, line) = (function.name(), function.file(), function.line());
                calls.push(Call { name, file, line });
            }
            builder.add(functions, &calls);
        }
        if is_unnamed {
            self.unnamed.add(id, chains, self.resolver);
        }
        builder.finish()
    }
}

fn look_up(chain: &Chain, resolver: &mut Resolver) -> (Vec<Located>, bool) {
    let mut places = Vec::new();
    let mut is_unnamed = false;
    for address in of_task(chain, resolver) {
        let frames = resolver.frames(address);
        is_unnamed |= has_address(&frames);
        places.push((address, frames));
    }
    (named(&places), is_unnamed)
}

/// Returns the addresses of a chain, innermost first, without those of the function that clones the waker and its
/// callees. They are never shown, and finding the lines of this library's functions takes as long as those of all
/// others.
fn of_task(chain: &Chain, resolver: &mut Resolver) -> Vec<u64> {
    let mut addresses: Vec<_> = chain.addresses().collect();
    let clones = addresses.iter().take(OWN_CALLS).rposition(|&address| {
        resolver.own_function(address).is_some_and(|path| clones_waker(&path))
    });
    if let Some(clones) = clones {
        addresses.drain(..=clones);
    }
    addresses
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
        let mut indices = Vec::new();
        for &(id, chain) in chains {
            let next = self.indices.len() as u32;
            let index = *self.indices.get_or_insert_with(id, || next);
            if index == next {
                let chain = self.numbered(chain, resolver);
                self.all.chains.push(chain);
            }
            indices.push(index);
        }
        self.all.waits.push((id, indices));
    }

    /// Returns a chain with numbers in place of addresses.
    fn numbered(&mut self, chain: &Chain, resolver: &mut Resolver) -> UnnamedChain {
        let (mut places, mut calls) = (Vec::new(), Vec::new());
        for address in of_task(chain, resolver) {
            let next = self.addresses.len() as u32;
            let number = *self.addresses.get_or_insert_with(address, || next);
            places.push((number, resolver.frames(address)));
        }
        for function in chain.calls() {
            let (name, file) = (function.name().into(), function.file().into());
            calls.push(NamedCall { name, file, line: function.line() });
        }
        UnnamedChain { places, calls }
    }
}
