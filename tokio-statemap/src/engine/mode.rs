//! What hooks have to do: those of one engine, and those of whatever engine.
//!
//! Most programs have one engine. So that a hook of theirs needn't go from its closure to its engine
//! to learn that there is nothing to do, or which lane is meant, all engines have one static in
//! common, which says it at once. Where there are several, it may say that each is to be asked.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};

use crate::sync::lock;

/// What the hooks of one engine have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Nothing is recorded.
    Off,
    /// Everything is.
    On,
    /// `max_events` are there, and `keep = "first"`: events are only counted.
    Full,
    /// Everything is recorded, by the TSC, and no task lives whose spawn was not: most hooks need to
    /// do no more than to add a record to their thread's buffer.
    Plain,
}

/// What the hooks of whatever engine have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    /// What [`Mode::Off`] says, of every engine.
    Off,
    /// What [`Mode::Full`] says, of the only engine there is.
    Full,
    /// What [`Mode::Plain`] says, of the only engine there is.
    Plain(EngineId),
    /// Each engine is to be asked.
    Each,
}

/// Never 0, and never used again.
pub(crate) type EngineId = u64;

/// [`Common`]: 0 if off, the number of the engine if plain, its complement if full.
static COMMON: OwnLine<AtomicI64> = OwnLine(AtomicI64::new(0));
const EACH: i64 = i64::MIN;

/// In a line of a cache that nothing else is in: what every hook of every thread reads must not be
/// taken from it by whoever writes what happens to be linked beside it. Lines are of 64 bytes, or
/// of 128, or fetched by twos.
#[repr(align(128))]
struct OwnLine<T>(T);

/// All engines there are.
static ENGINES: Mutex<Vec<(EngineId, Mode)>> = Mutex::new(Vec::new());

/// What the hooks of whatever engine have to do now.
#[inline]
pub(crate) fn common() -> Common {
    decode(COMMON.0.load(Ordering::Relaxed))
}

#[inline]
fn decode(common: i64) -> Common {
    match common {
        id @ 1.. => Common::Plain(id as u64),
        0 => Common::Off,
        EACH => Common::Each,
        _ => Common::Full,
    }
}

/// Whether this is the only engine there is, and full. No engine is 0, and so it isn't full.
#[inline]
pub(crate) fn is_only_and_full(engine: EngineId) -> bool {
    COMMON.0.load(Ordering::Relaxed) == full(engine)
}

fn full(engine: EngineId) -> i64 {
    !(engine as i64)
}

/// The mode of one engine.
#[derive(Debug)]
pub(crate) struct EngineMode {
    id: EngineId,
    mode: AtomicU8,
}

impl EngineMode {
    /// That of a new engine: off.
    pub(crate) fn new() -> Self {
        static IDS: AtomicU64 = AtomicU64::new(1);
        let id = IDS.fetch_add(1, Ordering::Relaxed);
        let mut engines = lock(&ENGINES);
        engines.push((id, Mode::Off));
        say(&engines);
        Self { id, mode: AtomicU8::new(Mode::Off as u8) }
    }

    pub(crate) fn engine_id(&self) -> EngineId {
        self.id
    }

    #[inline]
    pub(crate) fn get(&self) -> Mode {
        const ALL: [Mode; 4] = [Mode::Off, Mode::On, Mode::Full, Mode::Plain];
        ALL[usize::from(self.mode.load(Ordering::Relaxed)) % ALL.len()]
    }

    /// Changes it, if `change` says to what.
    pub(crate) fn change(&self, change: impl FnOnce(Mode) -> Option<Mode>) {
        let mut engines = lock(&ENGINES);
        let Some(next) = change(self.get()) else { return };
        self.mode.store(next as u8, Ordering::Release);
        engines.iter_mut().filter(|(id, _)| *id == self.id).for_each(|(_, mode)| *mode = next);
        say(&engines);
    }
}

impl Drop for EngineMode {
    fn drop(&mut self) {
        let mut engines = lock(&ENGINES);
        engines.retain(|&(id, _)| id != self.id);
        say(&engines);
    }
}

fn say(engines: &[(EngineId, Mode)]) {
    COMMON.0.store(in_common(engines), Ordering::Release);
}

fn in_common(engines: &[(EngineId, Mode)]) -> i64 {
    match *engines {
        [(id, Mode::Plain)] => id as i64,
        [(id, Mode::Full)] => full(id),
        _ if engines.iter().all(|&(_, mode)| mode == Mode::Off) => 0,
        _ => EACH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_among_others_is_asked_itself() {
        let (one, other) = (EngineMode::new(), EngineMode::new());
        assert_ne!(one.engine_id(), other.engine_id());
        one.change(|_| Some(Mode::Plain));
        assert_eq!((one.get(), other.get()), (Mode::Plain, Mode::Off));
        assert_eq!(common(), Common::Each);
        one.change(|mode| (mode == Mode::On).then_some(Mode::Full));
        assert_eq!(one.get(), Mode::Plain);
    }

    #[test]
    fn what_all_have_in_common_is_said_of_one() {
        let said = |engines: &[(EngineId, Mode)]| decode(in_common(engines));
        assert_eq!(said(&[]), Common::Off);
        assert_eq!(said(&[(3, Mode::Plain)]), Common::Plain(3));
        assert_eq!(said(&[(3, Mode::Full)]), Common::Full);
        assert_eq!(in_common(&[(3, Mode::Full)]), full(3));
        assert_ne!(in_common(&[]), full(0));
        assert_eq!(said(&[(3, Mode::On)]), Common::Each);
        assert_eq!(said(&[(3, Mode::Off), (4, Mode::Off)]), Common::Off);
        assert_eq!(said(&[(3, Mode::Off), (4, Mode::Plain)]), Common::Each);
    }
}
