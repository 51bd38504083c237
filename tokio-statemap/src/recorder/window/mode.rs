//! The recording mode: of each recorder, and of all recorders together.
//!
//! Most programs have one recorder. A hook shouldn't have to follow the pointer from its closure to its recorder to
//! find out that there is nothing to do, or which window is current. So one static holds the mode of the only recorder.
//! With several recorders, it tells a hook to check each of them.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::util::sync::lock;

/// The mode of one recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Nothing is recorded.
    Off,
    /// All events are recorded.
    On,
    /// `max_events` are kept, and `keep = "first"`: events are only counted.
    Full,
    /// All events are recorded, and the clock is the TSC: most hooks only add a record to their
    /// thread's buffer.
    FastPath,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Off, Self::On, Self::Full, Self::FastPath];
}

/// The mode of all recorders together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobalMode {
    /// Every recorder is in [`Mode::Off`].
    Off,
    /// There is one recorder, in [`Mode::Full`].
    Full,
    /// There is one recorder, in [`Mode::FastPath`].
    FastPath(WindowId),
    /// The mode of each recorder has to be checked.
    CheckEach,
}

/// Identifies a window of recording of one recorder: never 0, and never reused. A recorder has one
/// from the start, even before recording is started.
///
/// A hook identifies a recorder by it. What a thread knew in an earlier window, such as which worker it is, may have
/// changed since, so it has to be looked up again.
pub(crate) type WindowId = u64;

/// [`GlobalMode`]: 0 for off, the window id for the fast path, its complement for full.
static GLOBAL: OwnLine<AtomicI64> = OwnLine(AtomicI64::new(0));
const CHECK_EACH: i64 = i64::MIN;

/// A value alone in its cache line. Every hook of every thread reads it, so a write to a neighbour
/// that the linker placed next to it must not invalidate the line. Lines are 64 or 128 bytes, or
/// fetched in pairs.
#[repr(align(128))]
struct OwnLine<T>(T);

/// All recorders, each by its current window.
static RECORDERS: Mutex<Vec<(WindowId, Mode)>> = Mutex::new(Vec::new());

/// Returns what the hooks of all recorders do now.
#[inline]
pub(crate) fn global() -> GlobalMode {
    decode(GLOBAL.0.load(Ordering::Relaxed))
}

/// The encoded mode. A hook asks it one question after the other, the usual one first: a `match` on [`GlobalMode`] is
/// compiled to a table of jumps, which takes a hook that has nothing to do twice as many instructions.
#[derive(Clone, Copy)]
pub(crate) struct EncodedMode(i64);

/// Returns what the hooks of all recorders do now.
#[inline]
pub(crate) fn encoded() -> EncodedMode {
    EncodedMode(GLOBAL.0.load(Ordering::Relaxed))
}

impl EncodedMode {
    /// Returns the window, if all hooks take the fast path.
    #[inline]
    pub(crate) fn fast_path(self) -> Option<WindowId> {
        (self.0 > 0).then_some(self.0 as u64)
    }

    #[inline]
    pub(crate) fn is_off(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn is_check_each(self) -> bool {
        self.0 == CHECK_EACH
    }
}

#[inline]
fn decode(global: i64) -> GlobalMode {
    match global {
        window @ 1.. => GlobalMode::FastPath(window as u64),
        0 => GlobalMode::Off,
        CHECK_EACH => GlobalMode::CheckEach,
        _ => GlobalMode::Full,
    }
}

/// Returns whether there is one recorder, and it has been full since `window`. No window is 0, so 0 is never full.
#[inline]
pub(crate) fn is_only_and_full(window: WindowId) -> bool {
    GLOBAL.0.load(Ordering::Relaxed) == full(window)
}

fn full(window: WindowId) -> i64 {
    !(window as i64)
}

/// The mode of one recorder, and its current window.
#[derive(Debug)]
pub(crate) struct RecorderMode(AtomicU64);

/// The mode takes this many bits, the window id the rest.
const MODE_BITS: u32 = 2;

impl RecorderMode {
    /// Creates the mode of a new recorder, which is off.
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

    /// Sets the mode that `change` returns for the current one, if it returns any.
    pub(crate) fn change(&self, change: impl FnOnce(Mode) -> Option<Mode>) {
        let recorders = lock(&RECORDERS);
        let (window, mode) = self.get_both();
        if let Some(next) = change(mode) {
            self.set(recorders, (window, next));
        }
    }

    /// Begins a new window in `mode`.
    pub(crate) fn begin_window(&self, mode: Mode) {
        self.set(lock(&RECORDERS), (new_window(), mode));
    }

    #[inline(never)]
    fn set(&self, mut recorders: MutexGuard<'_, Vec<(WindowId, Mode)>>, next: (WindowId, Mode)) {
        let (window, mode) = next;
        let before = self.0.swap(pack(window, mode), Ordering::AcqRel) >> MODE_BITS;
        for one in recorders.iter_mut() {
            if one.0 == before {
                *one = next;
            }
        }
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
    GLOBAL.0.store(encode(recorders), Ordering::Release);
}

fn encode(recorders: &[(WindowId, Mode)]) -> i64 {
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
    fn one_recorder_among_several_is_checked_itself() {
        let (one, other) = (RecorderMode::new(), RecorderMode::new());
        assert_ne!(one.window(), other.window());
        one.change(|_| Some(Mode::FastPath));
        assert_eq!((one.get(), other.get()), (Mode::FastPath, Mode::Off));
        assert_eq!(global(), GlobalMode::CheckEach);
        one.change(|mode| (mode == Mode::On).then_some(Mode::Full));
        assert_eq!(one.get(), Mode::FastPath);
    }

    #[test]
    fn the_global_mode_is_that_of_the_only_recorder() {
        let mode_of = |recorders: &[(WindowId, Mode)]| decode(encode(recorders));
        assert_eq!(mode_of(&[]), GlobalMode::Off);
        assert_eq!(mode_of(&[(3, Mode::FastPath)]), GlobalMode::FastPath(3));
        assert_eq!(mode_of(&[(3, Mode::Full)]), GlobalMode::Full);
        assert_eq!(encode(&[(3, Mode::Full)]), full(3));
        assert_ne!(encode(&[]), full(0));
        assert_eq!(mode_of(&[(3, Mode::On)]), GlobalMode::CheckEach);
        assert_eq!(mode_of(&[(3, Mode::Off), (4, Mode::Off)]), GlobalMode::Off);
        assert_eq!(mode_of(&[(3, Mode::Off), (4, Mode::FastPath)]), GlobalMode::CheckEach);
    }

    #[test]
    fn window_ids_are_unique() {
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
