//! What hooks have to do: those of one engine, and those of whatever engine.
//!
//! Most programs have one engine. So that a hook of theirs needn't go from its closure to its engine
//! to learn that there is nothing to do, or which lane is meant, all engines have one static in
//! common, which says it at once. Where there are several, it may say that each is to be asked.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

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
    /// Everything is recorded, by the TSC: most hooks need to do no more than to add a record to their
    /// thread's buffer.
    Plain,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Off, Self::On, Self::Full, Self::Plain];
}

/// What the hooks of whatever engine have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    /// What [`Mode::Off`] says, of every engine.
    Off,
    /// What [`Mode::Full`] says, of the only engine there is.
    Full,
    /// What [`Mode::Plain`] says, of the only engine there is.
    Plain(WindowId),
    /// Each engine is to be asked.
    Each,
}

/// A window of recording of one engine: never 0, and never used again. An engine has one from the
/// start, though nothing is recorded yet.
///
/// This is what hooks know an engine by: what a thread was before a window began, say which worker,
/// it needn't be any more, and so it has to ask for all that anew.
pub(crate) type WindowId = u64;

/// [`Common`]: 0 if off, the number of the window if plain, its complement if full.
static COMMON: OwnLine<AtomicI64> = OwnLine(AtomicI64::new(0));
const EACH: i64 = i64::MIN;

/// In a line of a cache that nothing else is in: what every hook of every thread reads must not be
/// taken from it by whoever writes what happens to be linked beside it. Lines are of 64 bytes, or
/// of 128, or fetched by twos.
#[repr(align(128))]
struct OwnLine<T>(T);

/// All engines there are, each by its last window.
static ENGINES: Mutex<Vec<(WindowId, Mode)>> = Mutex::new(Vec::new());

/// What the hooks of whatever engine have to do now.
#[inline]
pub(crate) fn common() -> Common {
    decode(COMMON.0.load(Ordering::Relaxed))
}

#[inline]
fn decode(common: i64) -> Common {
    match common {
        window @ 1.. => Common::Plain(window as u64),
        0 => Common::Off,
        EACH => Common::Each,
        _ => Common::Full,
    }
}

/// Whether there is only one engine, and it is full since this window. No window is 0, and so none is
/// full since then.
#[inline]
pub(crate) fn is_only_and_full(window: WindowId) -> bool {
    COMMON.0.load(Ordering::Relaxed) == full(window)
}

fn full(window: WindowId) -> i64 {
    !(window as i64)
}

/// The mode of one engine, and its last window.
#[derive(Debug)]
pub(crate) struct EngineMode(AtomicU64);

/// So much of it is the mode, the rest the window.
const MODE_BITS: u32 = 2;

impl EngineMode {
    /// That of a new engine: off.
    pub(crate) fn new() -> Self {
        let window = new_window();
        let mut engines = lock(&ENGINES);
        engines.push((window, Mode::Off));
        say(&engines);
        Self(AtomicU64::new(pack(window, Mode::Off)))
    }

    #[inline]
    pub(crate) fn window(&self) -> WindowId {
        self.get_both().0
    }

    #[inline]
    pub(crate) fn get(&self) -> Mode {
        self.get_both().1
    }

    #[inline]
    pub(crate) fn get_both(&self) -> (WindowId, Mode) {
        let both = self.0.load(Ordering::Acquire);
        let mode = (both & ((1 << MODE_BITS) - 1)) as usize;
        (both >> MODE_BITS, Mode::ALL[mode % Mode::ALL.len()])
    }

    /// Changes it, if `change` says to what.
    pub(crate) fn change(&self, change: impl FnOnce(Mode) -> Option<Mode>) {
        let engines = lock(&ENGINES);
        let (window, mode) = self.get_both();
        if let Some(next) = change(mode) {
            self.set(engines, (window, next));
        }
    }

    /// Begins another window, in this mode.
    pub(crate) fn begin_window(&self, mode: Mode) {
        self.set(lock(&ENGINES), (new_window(), mode));
    }

    fn set(&self, mut engines: MutexGuard<'_, Vec<(WindowId, Mode)>>, next: (WindowId, Mode)) {
        let (window, mode) = next;
        let before = self.0.swap(pack(window, mode), Ordering::AcqRel) >> MODE_BITS;
        engines.iter_mut().filter(|(window, _)| *window == before).for_each(|one| *one = next);
        say(&engines);
    }
}

fn new_window() -> WindowId {
    static WINDOWS: AtomicU64 = AtomicU64::new(1);
    WINDOWS.fetch_add(1, Ordering::Relaxed)
}

fn pack(window: WindowId, mode: Mode) -> u64 {
    window << MODE_BITS | mode as u64
}

impl Drop for EngineMode {
    fn drop(&mut self) {
        let mut engines = lock(&ENGINES);
        engines.retain(|&(window, _)| window != self.window());
        say(&engines);
    }
}

fn say(engines: &[(WindowId, Mode)]) {
    COMMON.0.store(in_common(engines), Ordering::Release);
}

fn in_common(engines: &[(WindowId, Mode)]) -> i64 {
    match *engines {
        [(window, Mode::Plain)] => window as i64,
        [(window, Mode::Full)] => full(window),
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
        assert_ne!(one.window(), other.window());
        one.change(|_| Some(Mode::Plain));
        assert_eq!((one.get(), other.get()), (Mode::Plain, Mode::Off));
        assert_eq!(common(), Common::Each);
        one.change(|mode| (mode == Mode::On).then_some(Mode::Full));
        assert_eq!(one.get(), Mode::Plain);
    }

    #[test]
    fn what_all_have_in_common_is_said_of_one() {
        let said = |engines: &[(WindowId, Mode)]| decode(in_common(engines));
        assert_eq!(said(&[]), Common::Off);
        assert_eq!(said(&[(3, Mode::Plain)]), Common::Plain(3));
        assert_eq!(said(&[(3, Mode::Full)]), Common::Full);
        assert_eq!(in_common(&[(3, Mode::Full)]), full(3));
        assert_ne!(in_common(&[]), full(0));
        assert_eq!(said(&[(3, Mode::On)]), Common::Each);
        assert_eq!(said(&[(3, Mode::Off), (4, Mode::Off)]), Common::Off);
        assert_eq!(said(&[(3, Mode::Off), (4, Mode::Plain)]), Common::Each);
    }

    #[test]
    fn no_window_is_taken_for_another() {
        let mode = EngineMode::new();
        let mut windows = vec![mode.window()];
        for next in Mode::ALL {
            mode.begin_window(next);
            assert_eq!(mode.get_both(), (mode.window(), next));
            assert!(!windows.contains(&mode.window()));
            windows.push(mode.window());
            mode.change(|_| Some(Mode::Off));
            assert_eq!(mode.get_both(), (*windows.last().unwrap(), Mode::Off));
        }
    }
}
