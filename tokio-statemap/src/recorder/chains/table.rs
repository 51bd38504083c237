//! The chains of functions at which tasks wait, by number, so that a record can hold one.
//!
//! They belong to the process, not to a recorder, as addresses mean the same everywhere in it.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::recorder::calls::Function;
pub(crate) use crate::recorder::chains::chain::{Chain, ChainId};
use crate::recorder::chains::index::{Index, Known};
pub(crate) use crate::recorder::record::{UNKNOWN, WaitId};
use crate::util::map::Map;
use crate::util::sync::lock;

/// The chains at which a task waits: mostly one, several where it polls several futures at once.
pub(crate) type Wait = Box<[ChainId]>;

/// Nothing cloned the waker, so that nothing will wake the task.
pub(crate) const NOTHING: WaitId = (1 << 14) - 1;

/// In a part of a timeline: a waker was cloned at an unknown place, so that the place before no longer holds.
pub(crate) const ELSEWHERE: WaitId = NOTHING - 1;

/// The most waits.
const MOST_WAITS: usize = ELSEWHERE as usize - 1;
/// The most chains, and functions in all of them.
const MOST_CHAINS: usize = 1 << 15;
const MOST_RETURNS: usize = 1 << 20;
/// The most times that stacks are followed in vain.
const MOST_IN_VAIN: u32 = 10_000;

static CHAINS: Mutex<Chains> =
    Mutex::new(Chains { all: Interned::new(), index: Index::new(), in_vain: 0 });
static WAITS: Mutex<Interned<Wait>> = Mutex::new(Interned::new());
/// The number of waits that began at a place that isn't kept.
static NOT_KEPT: AtomicU64 = AtomicU64::new(0);
/// `true` once no more chains are kept.
static IS_FULL: AtomicBool = AtomicBool::new(false);
/// `true` once there were more chains than are kept.
static ARE_TOO_MANY: AtomicBool = AtomicBool::new(false);

/// The chains, which live as long as the process.
struct Chains {
    all: Interned<&'static Chain>,
    index: Index,
    /// The number of times that a stack was followed in vain: it could not be followed, or the chain was known.
    in_vain: u32,
}

/// Different values, by number.
struct Interned<T> {
    numbers: Option<Map<T, u32>>,
    all: Vec<T>,
    /// The sum of the sizes of the values.
    size: usize,
}

impl<T: Clone + Hash + Eq> Interned<T> {
    const fn new() -> Self {
        Self { numbers: None, all: Vec::new(), size: 0 }
    }

    fn number<Q: Hash + Eq + ?Sized>(&self, value: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        self.numbers.as_ref()?.get(value).copied()
    }

    /// Adds a value that isn't there, and returns its number.
    fn add(&mut self, value: T, size: usize) -> u32 {
        let number = self.all.len() as u32;
        self.numbers.get_or_insert_default().insert(value.clone(), number);
        self.all.push(value);
        self.size += size;
        number
    }
}

/// Returns whether no more chains are kept: there are too many, or too many stacks were followed in vain.
#[inline]
pub(super) fn is_full() -> bool {
    IS_FULL.load(Ordering::Relaxed)
}

/// Returns whether there were more chains than are kept.
#[inline]
pub(super) fn are_too_many() -> bool {
    ARE_TOO_MANY.load(Ordering::Relaxed)
}

/// Returns the number of a chain, and of the wait for it alone; `None` if there are too many.
pub(super) fn intern_chain(chain: Chain) -> Option<(ChainId, WaitId)> {
    let size = chain.returns.len();
    let mut chains = lock(&CHAINS);
    let chains = &mut *chains;
    if let Some(id) = chains.all.number(&chain) {
        // Two threads may follow a chain at the same time. A chain that the index has no room for would be followed at
        // each wait.
        chains.followed_in_vain();
        return Some((id, intern_wait(&[id])));
    }
    if chains.all.all.len() >= MOST_CHAINS || chains.all.size >= MOST_RETURNS {
        IS_FULL.store(true, Ordering::Relaxed);
        ARE_TOO_MANY.store(true, Ordering::Relaxed);
        return None;
    }
    let chain: &'static Chain = Box::leak(Box::new(chain));
    let id = chains.all.add(chain, size);
    let alone = intern_wait(&[id]);
    chains.index.add(Known { chain, id, alone });
    Some((id, alone))
}

/// Notes that a stack could not be followed.
pub(super) fn followed_in_vain() {
    lock(&CHAINS).followed_in_vain();
}

impl Chains {
    /// Counts a stack that was followed in vain. After too many no more are followed, as that takes long.
    fn followed_in_vain(&mut self) {
        self.in_vain += 1;
        if self.in_vain >= MOST_IN_VAIN {
            IS_FULL.store(true, Ordering::Relaxed);
        }
    }
}

/// Returns the number of a wait; [`UNKNOWN`] if there are too many.
pub(super) fn intern_wait(wait: &[ChainId]) -> WaitId {
    let mut waits = lock(&WAITS);
    let wait: Wait = wait.into();
    let number = match waits.number(&wait) {
        Some(number) => number,
        None if waits.all.len() >= MOST_WAITS => return UNKNOWN,
        None => waits.add(wait, 1),
    };
    WaitId::try_from(number + 1).unwrap_or(UNKNOWN)
}

/// Counts a wait whose place isn't kept.
pub(super) fn not_kept() {
    NOT_KEPT.fetch_add(1, Ordering::Relaxed);
}

/// The chains and waits that were seen so far in this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) chains: Vec<&'static Chain>,
    /// Each wait is at its number less one.
    pub(crate) waits: Vec<Wait>,
    /// The number of waits that began at a place that isn't kept.
    pub(crate) not_kept: u64,
}

impl Places {
    /// Returns the instrumented functions of the chains of a wait, in their order.
    pub(crate) fn calls(&self, wait: WaitId) -> Vec<&'static Function> {
        let wait = usize::from(wait).checked_sub(1).and_then(|index| self.waits.get(index));
        let mut calls = Vec::new();
        for &chain in wait.map_or(&[][..], |wait| wait) {
            if let Some(chain) = self.chains.get(chain as usize) {
                calls.extend_from_slice(chain.calls());
            }
        }
        calls
    }

    /// Returns those after the first `chains` and `waits`.
    #[cfg(has_black_box)]
    pub(crate) fn after(chains: usize, waits: usize) -> Self {
        let waits = lock(&WAITS).all.get(waits..).unwrap_or_default().to_vec();
        let chains = lock(&CHAINS).all.all.get(chains..).unwrap_or_default().to_vec();
        Self { chains, waits, not_kept: NOT_KEPT.load(Ordering::Relaxed) }
    }

    pub(crate) fn now() -> Self {
        // Copied first, so that the chains of each wait are there.
        let waits = lock(&WAITS).all.clone();
        let chains = lock(&CHAINS).all.all.clone();
        Self { chains, waits, not_kept: NOT_KEPT.load(Ordering::Relaxed) }
    }
}
