//! What one thread keeps for one collector, and how a hook finds it.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use crate::engine::Engine;
use crate::engine::locations::KnownLocations;
use crate::engine::record::{Kind, Record};
use crate::engine::ring::Ring;
use crate::engine::store::StreamId;

/// What one thread keeps for one collector: its ring, and what it needn't ask again.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) ring: Ring,
    pub(crate) locations: KnownLocations,
    /// The worker that was noted last.
    pub(crate) worker: Option<u32>,
    /// Whether the thread may be another worker by now, or none any more.
    pub(crate) worker_is_stale: bool,
    /// Tasks whose location was noted though their spawn was not recorded, by their lower bits.
    pub(crate) introduced: [u64; Self::INTRODUCED],
    /// The window of recording that this was in.
    pub(crate) introduced_in: u32,
}

impl Lane {
    pub(crate) const INTRODUCED: usize = 64;

    pub(crate) fn new(ring: Ring) -> Box<Self> {
        Box::new(Self {
            ring,
            locations: KnownLocations::new(),
            worker: None,
            worker_is_stale: true,
            introduced: [u64::MAX; Self::INTRODUCED],
            introduced_in: 0,
        })
    }

    /// Makes it the lane of another thread.
    pub(crate) fn hand_on(&mut self, stream: StreamId, engine: &Engine) {
        let moved = self.ring.hand_on(stream, &engine.store);
        engine.after_drain(moved);
        self.worker = None;
        self.worker_is_stale = true;
        self.introduced = [u64::MAX; Self::INTRODUCED];
    }

    /// Adds a record; a full ring is emptied first.
    #[inline]
    pub(crate) fn push(&mut self, engine: &Engine, ticks: u64, kind: Kind, payload: u64) {
        if let Err(record) = self.ring.push(Record::new(ticks, kind, payload)) {
            self.push_to_full(engine, record);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_to_full(&mut self, engine: &Engine, record: Record) {
        let moved = self.ring.outlet().drain(&engine.store);
        if self.ring.push(record).is_err() && record.is_event() {
            self.ring.refuse(); // it can't be: the ring is empty now
        }
        engine.after_drain(moved);
    }
}

/// Why a hook found no lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoLane {
    /// The thread is ending and its thread-local values are gone.
    Gone,
    /// A hook runs on this thread already, below this one.
    Busy,
}

thread_local! {
    static LANES: RefCell<Lanes> = const { RefCell::new(Lanes { last: None, others: Vec::new() }) };
}

/// The lanes of one thread: one for each collector whose hooks ran here.
struct Lanes {
    last: Option<Entry>,
    others: Vec<Entry>,
}

struct Entry {
    engine_id: u64,
    engine: Weak<Engine>,
    lane: Option<Box<Lane>>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let (Some(engine), Some(lane)) = (self.engine.upgrade(), self.lane.take()) {
            engine.retire(lane);
        }
    }
}

/// Calls `f` with this thread's lane of `engine`.
#[inline]
pub(crate) fn with<R>(engine: &Arc<Engine>, f: impl FnOnce(&mut Lane) -> R) -> Result<R, NoLane> {
    LANES
        .try_with(|lanes| {
            let mut lanes = lanes.try_borrow_mut().map_err(|_| NoLane::Busy)?;
            // `f` is called in one place, so that it is compiled into it.
            if lanes.last.as_ref().is_none_or(|entry| entry.engine_id != engine.id) {
                lanes.find(engine);
            }
            match &mut lanes.last {
                Some(Entry { lane: Some(lane), .. }) => Ok(f(lane)),
                _ => Err(NoLane::Gone),
            }
        })
        .map_err(|_| NoLane::Gone)?
}

/// Gives this thread's lane of `engine` back: the thread is about to end.
///
/// Its end would do so too, but Tokio's threads wait there for one another, each with its ring.
pub(crate) fn give_back(engine: &Engine) {
    let taken = LANES.try_with(|lanes| {
        let mut lanes = lanes.try_borrow_mut().ok()?;
        if lanes.last.as_ref().is_some_and(|entry| entry.engine_id == engine.id) {
            return lanes.last.take();
        }
        let place = lanes.others.iter().position(|entry| entry.engine_id == engine.id)?;
        Some(lanes.others.swap_remove(place))
    });
    // Only now, as it may call hooks.
    drop(taken);
}

impl Lanes {
    /// Makes the lane of `engine` the last one used, or makes it.
    #[cold]
    #[inline(never)]
    fn find(&mut self, engine: &Arc<Engine>) {
        // Collectors come and go on a thread that runs tests: what they left is taken out.
        self.others.retain(|entry| entry.engine.strong_count() > 0);
        let place = self.others.iter().position(|entry| entry.engine_id == engine.id);
        let entry = match place {
            Some(place) => self.others.swap_remove(place),
            None => Entry {
                engine_id: engine.id,
                engine: Arc::downgrade(engine),
                lane: Some(engine.new_lane()),
            },
        };
        if let Some(before) = self.last.replace(entry) {
            self.others.push(before);
        }
    }
}
