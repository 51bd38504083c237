//! What hooks have to do: those of one recorder, and those of whatever recorder.
//!
//! Most programs have one recorder. So that a hook of theirs needn't go from its closure to its recorder
//! to learn that there is nothing to do, or which thread is meant, all recorders have one static in
//! common, which says it at once. Where there are several, it may say that each is to be asked.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::util::sync::lock;

/// What the hooks of one recorder have to do.
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
    FastPath,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Off, Self::On, Self::Full, Self::FastPath];
}

/// What the hooks of whatever recorder have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    /// What [`Mode::Off`] says, of every recorder.
    Off,
    /// What [`Mode::Full`] says, of the only recorder there is.
    Full,
    /// What [`Mode::FastPath`] says, of the only recorder there is.
    FastPath(WindowId),
    /// Each recorder is to be asked.
    CheckEach,
}

/// A window of recording of one recorder: never 0, and never used again. An recorder has one from the
/// start, though nothing is recorded yet.
///
/// This is what hooks know an recorder by: what a thread was before a window began, say which worker,
/// it needn't be any more, and so it has to ask for all that anew.
pub(crate) type WindowId = u64;

/// [`Common`]: 0 if off, the number of the window if plain, its complement if full.
static COMMON: OwnLine<AtomicI64> = OwnLine(AtomicI64::new(0));
const CHECK_EACH: i64 = i64::MIN;

/// In a line of a cache that nothing else is in: what every hook of every thread reads must not be
/// taken from it by whoever writes what happens to be linked beside it. Lines are of 64 bytes, or
/// of 128, or fetched by twos.
#[repr(align(128))]
struct OwnLine<T>(T);

/// All recorders there are, each by its last window.
static RECORDERS: Mutex<Vec<(WindowId, Mode)>> = Mutex::new(Vec::new());

/// What the hooks of whatever recorder have to do now.
#[inline]
pub(crate) fn common() -> Common {
    decode(COMMON.0.load(Ordering::Relaxed))
}

#[inline]
fn decode(common: i64) -> Common {
    match common {
        window @ 1.. => Common::FastPath(window as u64),
        0 => Common::Off,
        CHECK_EACH => Common::CheckEach,
        _ => Common::Full,
    }
}

/// Whether there is only one recorder, and it is full since this window. No window is 0, and so none is
/// full since then.
#[inline]
pub(crate) fn is_only_and_full(window: WindowId) -> bool {
    COMMON.0.load(Ordering::Relaxed) == full(window)
}

fn full(window: WindowId) -> i64 {
    !(window as i64)
}

/// The mode of one recorder, and its last window.
#[derive(Debug)]
pub(crate) struct RecorderMode(AtomicU64);

/// So much of it is the mode, the rest the window.
const MODE_BITS: u32 = 2;

impl RecorderMode {
    /// That of a new recorder: off.
    pub(crate) fn new() -> Self {
        let window = new_window();
        let mut recorders = lock(&RECORDERS);
        recorders.push((window, Mode::Off));
        publish(&recorders);
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
        let recorders = lock(&RECORDERS);
        let (window, mode) = self.get_both();
        if let Some(next) = change(mode) {
            self.set(recorders, (window, next));
        }
    }

    /// Begins another window, in this mode.
    pub(crate) fn begin_window(&self, mode: Mode) {
        self.set(lock(&RECORDERS), (new_window(), mode));
    }

    fn set(&self, mut recorders: MutexGuard<'_, Vec<(WindowId, Mode)>>, next: (WindowId, Mode)) {
        let (window, mode) = next;
        let before = self.0.swap(pack(window, mode), Ordering::AcqRel) >> MODE_BITS;
        recorders.iter_mut().filter(|(window, _)| *window == before).for_each(|one| *one = next);
        publish(&recorders);
    }
}

fn new_window() -> WindowId {
    static WINDOWS: AtomicU64 = AtomicU64::new(1);
    WINDOWS.fetch_add(1, Ordering::Relaxed)
}

fn pack(window: WindowId, mode: Mode) -> u64 {
    window << MODE_BITS | mode as u64
}

impl Drop for RecorderMode {
    fn drop(&mut self) {
        let mut recorders = lock(&RECORDERS);
        recorders.retain(|&(window, _)| window != self.window());
        publish(&recorders);
    }
}

fn publish(recorders: &[(WindowId, Mode)]) {
    COMMON.0.store(in_common(recorders), Ordering::Release);
}

fn in_common(recorders: &[(WindowId, Mode)]) -> i64 {
    match *recorders {
        [(window, Mode::FastPath)] => window as i64,
        [(window, Mode::Full)] => full(window),
        _ if recorders.iter().all(|&(_, mode)| mode == Mode::Off) => 0,
        _ => CHECK_EACH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_among_others_is_asked_itself() {
        let (one, other) = (RecorderMode::new(), RecorderMode::new());
        assert_ne!(one.window(), other.window());
        one.change(|_| Some(Mode::FastPath));
        assert_eq!((one.get(), other.get()), (Mode::FastPath, Mode::Off));
        assert_eq!(common(), Common::CheckEach);
        one.change(|mode| (mode == Mode::On).then_some(Mode::Full));
        assert_eq!(one.get(), Mode::FastPath);
    }

    #[test]
    fn what_all_have_in_common_is_said_of_one() {
        let said = |recorders: &[(WindowId, Mode)]| decode(in_common(recorders));
        assert_eq!(said(&[]), Common::Off);
        assert_eq!(said(&[(3, Mode::FastPath)]), Common::FastPath(3));
        assert_eq!(said(&[(3, Mode::Full)]), Common::Full);
        assert_eq!(in_common(&[(3, Mode::Full)]), full(3));
        assert_ne!(in_common(&[]), full(0));
        assert_eq!(said(&[(3, Mode::On)]), Common::CheckEach);
        assert_eq!(said(&[(3, Mode::Off), (4, Mode::Off)]), Common::Off);
        assert_eq!(said(&[(3, Mode::Off), (4, Mode::FastPath)]), Common::CheckEach);
    }

    #[test]
    fn no_window_is_taken_for_another() {
        let mode = RecorderMode::new();
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
