//! The chains of functions at which tasks wait, by number, so that a record can hold one.
//!
//! They belong to the process, not to a recorder, as addresses mean the same everywhere in it.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::recorder::calls::Function;
use crate::recorder::waits::stack::Return;
use crate::util::map::Map;
use crate::util::sync::lock;

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
        // That of its functions stands for them.
        (self.depth, &self.returns, self.calls_hash).hash(hasher);
    }
}

/// The number of a chain: its index.
pub(crate) type ChainId = u32;

/// The chains at which a task waits: mostly one, several where it polls several futures at once.
pub(crate) type Wait = Box<[ChainId]>;

/// The number of a [`Wait`], from 1 on. It fits into 14 bits.
pub(crate) type WaitId = u16;

/// No wait, or one that isn't known.
pub(crate) const UNKNOWN: WaitId = 0;

/// Nothing cloned the waker, so that nothing will wake the task.
pub(crate) const NOTHING: WaitId = (1 << 14) - 1;

/// The most waits.
const MOST_WAITS: usize = NOTHING as usize - 1;
/// The most chains, and functions in all of them.
const MOST_CHAINS: usize = 1 << 15;
const MOST_RETURNS: usize = 1 << 20;

static CHAINS: Mutex<Chains> = Mutex::new(Chains { all: Interned::new(), alike: None });
static WAITS: Mutex<Interned<Wait>> = Mutex::new(Interned::new());
/// The number of waits that began at a place that isn't kept.
static NOT_KEPT: AtomicU64 = AtomicU64::new(0);

/// The chains, and those that can't be told apart without a look at the stack.
struct Chains {
    all: Interned<Arc<Chain>>,
    /// The chains by depth and hash of the calls.
    alike: Option<Map<(u32, u64), Vec<ChainId>>>,
}

/// Different values, by number.
struct Interned<T> {
    numbers: Option<Map<T, u32>>,
    all: Vec<T>,
    /// The sum of their sizes.
    size: usize,
}

impl<T: Clone + Hash + Eq> Interned<T> {
    const fn new() -> Self {
        Self { numbers: None, all: Vec::new(), size: 0 }
    }

    /// The number of `value`, and the one value that has it; `None` if it is another one and there is no room.
    fn get(&mut self, value: T, size: usize, is_full: bool) -> Option<(u32, &T)> {
        let next = self.all.len() as u32;
        let numbers = self.numbers.get_or_insert_default();
        let number = match numbers.get(&value) {
            Some(&number) => number,
            None if is_full => return None,
            None => {
                numbers.insert(value.clone(), next);
                self.all.push(value);
                self.size += size;
                next
            }
        };
        Some((number, &self.all[number as usize]))
    }
}

/// The number of a chain, and the one that has it; `None` if there are too many.
pub(super) fn intern_chain(chain: Chain) -> Option<(ChainId, Arc<Chain>)> {
    let size = chain.returns.len();
    let mut chains = lock(&CHAINS);
    let is_full = chains.all.all.len() >= MOST_CHAINS || chains.all.size >= MOST_RETURNS;
    let (number, chain) = chains.all.get(Arc::new(chain), size, is_full)?;
    let chain = Arc::clone(chain);
    let alike = chains.alike.get_or_insert_default();
    let alike = alike.get_or_default((chain.depth, chain.calls_hash));
    if !alike.contains(&number) {
        alike.push(number);
    }
    Some((number, chain))
}

/// A chain of this depth and these calls that some thread has seen, for which `is_it` returns `true`.
pub(super) fn find_chain(
    depth: u32,
    calls_hash: u64,
    is_it: impl Fn(&Chain) -> bool,
) -> Option<(ChainId, Arc<Chain>)> {
    let chains = lock(&CHAINS);
    let alike = chains.alike.as_ref()?.get(&(depth, calls_hash))?;
    let found = alike.iter().find(|&&id| is_it(&chains.all.all[id as usize]))?;
    Some((*found, Arc::clone(&chains.all.all[*found as usize])))
}

/// Returns the number of a wait; [`UNKNOWN`] if there are too many.
pub(super) fn intern_wait(wait: &[ChainId]) -> WaitId {
    let mut waits = lock(&WAITS);
    let is_full = waits.all.len() >= MOST_WAITS;
    match waits.get(wait.into(), 1, is_full) {
        Some((number, _)) => WaitId::try_from(number + 1).unwrap_or(UNKNOWN),
        None => UNKNOWN,
    }
}

/// Counts a wait whose place isn't kept.
pub(super) fn not_kept() {
    NOT_KEPT.fetch_add(1, Ordering::Relaxed);
}

/// All that was seen so far in this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) chains: Vec<Arc<Chain>>,
    /// Each at its number less one.
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

    pub(crate) fn now() -> Self {
        // First, so that the chains of each wait are there.
        let waits = lock(&WAITS).all.clone();
        let chains = lock(&CHAINS).all.all.clone();
        Self { chains, waits, not_kept: NOT_KEPT.load(Ordering::Relaxed) }
    }
}
