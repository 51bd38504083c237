//! What one thread keeps for one collector, and how a hook finds it.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use crate::engine::Engine;
use crate::engine::locations::KnownLocations;
use crate::engine::record::{Kind, Record, pack_spawn};
use crate::engine::ring::Ring;
use crate::engine::roster::LocationId;
use crate::engine::store::StreamId;

/// No task has this number.
const NO_TASK: u64 = u64::MAX;

/// What one thread keeps for one collector: its ring, and what it needn't ask again.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) ring: &'static Ring,
    pub(crate) locations: KnownLocations,
    /// The worker that was noted last.
    pub(crate) worker: Option<u32>,
    /// Whether the thread may be another worker by now, or none any more.
    pub(crate) worker_is_stale: bool,
    /// The task whose poll started last.
    pub(crate) polled: u64,
    /// The location of the last spawn: its address, and its number.
    pub(crate) location: (usize, LocationId),
    /// Tasks whose location was noted though their spawn was not recorded, by their lower bits.
    pub(crate) introduced: [u64; Self::INTRODUCED],
    /// The window of recording that this was in.
    pub(crate) introduced_in: u32,
}

impl Lane {
    pub(crate) const INTRODUCED: usize = 64;

    pub(crate) fn new(ring: &'static Ring) -> Box<Self> {
        Box::new(Self {
            ring,
            locations: KnownLocations::new(),
            worker: None,
            worker_is_stale: true,
            polled: NO_TASK,
            location: (0, 0),
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
        self.polled = NO_TASK;
        self.introduced = [u64::MAX; Self::INTRODUCED];
    }

    /// Adds a record; a full ring is emptied first.
    #[inline]
    pub(crate) fn push(&mut self, engine: &Engine, ticks: u64, kind: Kind, payload: u64) {
        let record = Record::new(ticks, kind, payload);
        if !self.ring.push(record) {
            self.push_to_full(engine, record);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_to_full(&mut self, engine: &Engine, record: Record) {
        let moved = self.ring.make_room(&engine.store);
        if !self.ring.push(record) && record.is_event() {
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
    /// What most hooks need of `LANES`, in cells that need no destructor and no look whether it ran.
    static HOT: Hot = const { Hot {
        engine_id: Cell::new(0),
        knows_worker: Cell::new(false),
        polled: Cell::new(NO_TASK),
        location: Cell::new((0, 0)),
        ring: Cell::new(None),
    } };
    static LANES: RefCell<Lanes> = const { RefCell::new(Lanes { last: None, others: Vec::new() }) };
}

/// Of the lane that was used last: enough to add a record to it where nothing else is to be done.
struct Hot {
    /// 0 if there is none, or while more is done with it.
    engine_id: Cell<u64>,
    /// Whether it is noted which worker the thread is.
    knows_worker: Cell<bool>,
    /// The task whose poll started last.
    polled: Cell<u64>,
    /// The location of the last spawn: its address, and its number.
    location: Cell<(usize, LocationId)>,
    ring: Cell<Option<&'static Ring>>,
}

/// Adds a record to this thread's lane of that engine, if the lane is the one used last and has
/// room. If not, nothing was done.
#[inline]
pub(crate) fn push(engine_id: u64, record: Record) -> bool {
    HOT.with(|hot| hot.engine_id.get() == engine_id && hot.push(record))
}

/// The same, but only counts an event that is not kept.
#[inline]
pub(crate) fn refuse(engine_id: u64) -> bool {
    HOT.with(|hot| match hot.ring.get() {
        Some(ring) if hot.engine_id.get() == engine_id => {
            ring.refuse();
            true
        }
        _ => false,
    })
}

/// The same as [`push`] with the start of a poll of task `id`, if it is noted which worker the thread is.
#[inline]
pub(crate) fn push_poll_start(engine_id: u64, id: u64, record: Record) -> bool {
    HOT.with(|hot| {
        let pushed = hot.engine_id.get() == engine_id && hot.knows_worker.get() && hot.push(record);
        if pushed {
            hot.polled.set(id);
        }
        pushed
    })
}

/// The same with the end of task `id`.
///
/// One that isn't polled may be the run loop of a worker, which terminates after `block_in_place`
/// took its worker away: the thread is none from then on.
#[inline]
pub(crate) fn push_end(engine_id: u64, id: u64, record: Record) -> bool {
    HOT.with(|hot| {
        let pushed = hot.engine_id.get() == engine_id && hot.push(record);
        if pushed && hot.polled.get() != id {
            hot.knows_worker.set(false);
        }
        pushed
    })
}

/// The same with a spawn of task `id`, if the location is that of the last one.
#[inline]
pub(crate) fn push_spawn(engine_id: u64, ticks: u64, id: u64, location: usize) -> bool {
    HOT.with(|hot| {
        let (last, number) = hot.location.get();
        if hot.engine_id.get() != engine_id || last != location {
            return false;
        }
        pack_spawn(id, number)
            .is_some_and(|payload| hot.push(Record::event(ticks, Kind::SpawnAt, payload)))
    })
}

impl Hot {
    #[inline]
    fn push(&self, record: Record) -> bool {
        self.ring.get().is_some_and(|ring| ring.push(record))
    }

    /// Lets `f` do what it will with `lane`; nobody else gets at it meanwhile.
    #[inline]
    fn lend<R>(&self, engine_id: u64, lane: &mut Lane, f: impl FnOnce(&mut Lane) -> R) -> R {
        if self.engine_id.replace(0) == engine_id {
            lane.worker_is_stale |= !self.knows_worker.get();
            lane.polled = self.polled.get();
        }
        let result = f(lane);
        self.knows_worker.set(!lane.worker_is_stale);
        self.polled.set(lane.polled);
        self.location.set(lane.location);
        self.ring.set(Some(lane.ring));
        self.engine_id.set(engine_id);
        result
    }
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
        HOT.with(|hot| {
            if hot.engine_id.get() == self.engine_id {
                hot.engine_id.set(0);
            }
        });
        if let (Some(engine), Some(lane)) = (self.engine.upgrade(), self.lane.take()) {
            engine.retire(lane);
        }
    }
}

/// Calls `f` with this thread's lane of `engine`.
///
/// From then on [`push`] finds it.
#[inline]
pub(crate) fn with<R>(engine: &Arc<Engine>, f: impl FnOnce(&mut Lane) -> R) -> Result<R, NoLane> {
    LANES
        .try_with(|lanes| {
            let mut lanes = lanes.try_borrow_mut().map_err(|_| NoLane::Busy)?;
            // `f` is called in one place, so that it is compiled into it.
            if lanes.last.as_ref().is_none_or(|entry| entry.engine_id != engine.id) {
                HOT.with(|hot| hot.engine_id.set(0));
                lanes.find(engine);
            }
            match &mut lanes.last {
                Some(Entry { lane: Some(lane), .. }) => {
                    Ok(HOT.with(|hot| hot.lend(engine.id, lane, f)))
                }
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
