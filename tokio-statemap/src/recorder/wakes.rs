//! The wakes that made tasks ready: when they came, and who woke the tasks.
//!
//! A wake notes both in a table of fixed size, from which the next poll of the task takes them. So a wake costs two
//! stores, and nothing is locked or allocated. Tokio's own measure of the time reads the system's clock at each wake
//! and each poll, which takes much longer.
//!
//! Tokio calls the hook before a poll while a wake still counts for that poll. So a wake that is found at the end of a
//! poll may be one that no other poll follows: the next wake replaces its time. And of two wakes within a poll, either
//! may be the one that the next poll follows.
//!
//! Two tasks have the same place in the table if their ids are a multiple of 65 536 apart. If one of them is woken
//! while the other is ready, it isn't known since when the other is ready. But no task gets the time of another task.
//! It doesn't get the one who woke the other task, either: beside that stands a check of the time's word.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::recorder::clock::{self, Clock};
use crate::recorder::record::{WOKEN_BY_BITS, for_recorder};

/// The number of places, as a power of two.
const PLACE_BITS: u32 = 16;
/// The number of bits for the time in a word. Above them are bits of the task's id that its place doesn't imply. They
/// tell two ids apart if these differ by less than 2^36.
const TIME_BITS: u32 = 44;
/// A time is in units of this many ticks, as a power of two. At 3 GHz, times of up to 6 hours are told apart, to 43 ns.
const UNIT_BITS: u32 = 3;
const TIME: u64 = (1 << TIME_BITS) - 1;
/// A bit of a time: the wake used up the last waker of the task.
const BY_LAST: u64 = 4;
/// A bit of a time: the wake used up a waker of the task.
const BY_VALUE: u64 = 8;
/// The bits of a time that say which moment it is: [`BETWEEN_POLLS`], [`IN_POLL`], or [`POLL_END`]. They are never 0,
/// so no word is.
const OF_WHAT: u64 = 3;
/// A wake between two polls.
const BETWEEN_POLLS: u64 = 1;
/// A wake in a poll.
const IN_POLL: u64 = 2;
/// The end of a poll in which a wake came.
const POLL_END: u64 = 3;

static SLOTS: [Slot; 1 << PLACE_BITS] = [const { Slot::new() }; 1 << PLACE_BITS];

/// A place for the first wake since a task's last poll began.
#[derive(Debug)]
// Aligned, so that it is in one cache line.
#[repr(align(16))]
pub(crate) struct Slot {
    /// The time of the wake, with the task; 0 if there was none.
    woken: AtomicU64,
    /// The source of the wake, packed, and above it the [`check`] of the word. [`IS_POLLED`] in a poll until a wake
    /// comes.
    by: AtomicU64,
}

/// The waker that a wake used up, as bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsedUp(u64);

impl UsedUp {
    /// None: it was called by reference.
    pub(crate) const NOTHING: Self = Self(0);
    /// One of several, as far as is known.
    pub(crate) const ONE: Self = Self(BY_VALUE);
    /// The last one of the task.
    pub(crate) const LAST: Self = Self(BY_VALUE | BY_LAST);

    #[inline]
    pub(crate) const fn bits(self) -> usize {
        self.0 as usize
    }
}

/// The wake that made a task ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wake {
    pub(crate) since: ReadySince,
    pub(crate) used_up: UsedUp,
    /// The source of the wake, packed with its recorder; 0 if that isn't known.
    by: u64,
}

impl Wake {
    /// Returns who woke it, as in a note of this recorder; 0 if that isn't known.
    #[inline]
    pub(crate) fn by(self, recorder: u64) -> u64 {
        for_recorder(self.by, recorder)
    }

    /// Returns for how long the task has been ready at `ticks`.
    #[inline]
    pub(crate) fn ready_for(self, ticks: u64, clock: &Clock) -> Duration {
        Duration::from_nanos(clock.rate().length_ns(self.since.ticks_until(ticks)))
    }
}

/// A moment at which a task became ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadySince(u64);

/// Notes that a task was woken or spawned. `who` returns who did that, packed.
#[inline]
pub(crate) fn woken(task: u64, used_up: UsedUp, who: impl FnOnce() -> u64) {
    slot(task).woken(task, used_up, who);
}

/// Returns the wake that made the task ready whose poll starts, and forgets it. `None` if it isn't known.
#[inline]
pub(crate) fn poll_starts(task: u64) -> Option<Wake> {
    slot(task).poll_starts(task)
}

/// Called as a poll of the task ends. If the task was woken in that poll, it is ready from now on.
#[inline]
pub(crate) fn poll_ends(task: u64) {
    slot(task).poll_ends(task);
}

/// Called as the task ends in its poll.
#[inline]
pub(crate) fn task_ends(task: u64) {
    // If so, it was polled only to be aborted.
    let by = &slot(task).by;
    if by.load(Ordering::Relaxed) == forgotten(task) {
        by.store(0, Ordering::Relaxed);
    }
}

/// Notes that nothing can wake this task any more. Its poll has ended.
#[inline]
pub(crate) fn nothing_wakes(task: u64) {
    let slot = slot(task);
    // Another task that has the same place may have been woken.
    if slot.woken.load(Ordering::Relaxed) == 0 {
        slot.by.store(forgotten(task), Ordering::Relaxed);
    }
}

/// Returns whether no task is known to have been polled again after [`nothing_wakes`], except to be aborted. If a waker
/// were cloned unseen, or a wake not seen, a task would be.
#[inline]
pub(crate) fn are_all_seen() -> bool {
    !ONE_WAS_NOT_SEEN.load(Ordering::Relaxed)
}

/// Notes that some clones or wakes can't be seen.
pub(crate) fn one_is_not_seen() {
    ONE_WAS_NOT_SEEN.store(true, Ordering::Relaxed);
}

static ONE_WAS_NOT_SEEN: AtomicBool = AtomicBool::new(false);

/// Returns the slot of a task. Tasks with consecutive ids have places far apart, as neighbours would share a cache
/// line.
#[inline]
fn slot(task: u64) -> &'static Slot {
    &SLOTS[place(task)]
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

impl Slot {
    const fn new() -> Self {
        Self { woken: AtomicU64::new(0), by: AtomicU64::new(0) }
    }

    /// See [`woken`].
    #[inline]
    pub(crate) fn woken(&self, task: u64, used_up: UsedUp, who: impl FnOnce() -> u64) {
        let there = self.woken.load(Ordering::Relaxed);
        if task_of(there) == Some(key(task)) {
            match there & OF_WHAT {
                // Only the first wake makes the task ready.
                BETWEEN_POLLS => {}
                // Either wake may be the one that counts.
                IN_POLL => {
                    if self.by_either(there, who()) == 0 {
                        self.by.store(check(there), Ordering::Relaxed);
                    }
                }
                _ => {
                    let who = self.by_either(there, who());
                    self.note(word(task, BETWEEN_POLLS), who);
                }
            }
        } else {
            let of_what = match self.by.load(Ordering::Relaxed) {
                // The poll may clone another waker after that.
                IS_POLLED => IN_POLL,
                by => {
                    look_for_missed(by, task);
                    BETWEEN_POLLS | used_up.0
                }
            };
            let who = who();
            self.note(word(task, of_what), who);
        }
    }

    /// Returns who woke the task, if it is both `who` and the one noted with this word; 0 if they aren't the same.
    #[inline]
    fn by_either(&self, word: u64, who: u64) -> u64 {
        if self.by(word) == who { who } else { 0 }
    }

    #[inline]
    fn note(&self, word: u64, who: u64) {
        self.by.store(who | check(word), Ordering::Relaxed);
        self.woken.store(word, Ordering::Relaxed);
    }

    /// See [`poll_starts`].
    #[inline]
    pub(crate) fn poll_starts(&self, task: u64) -> Option<Wake> {
        let word = self.woken.load(Ordering::Relaxed);
        if task_of(word) != Some(key(task)) {
            // A wake of another task stays there, and so does the note that nothing should wake this task.
            if word == 0 && self.by.load(Ordering::Relaxed) & BY_WHOM != FORGOTTEN {
                self.by.store(IS_POLLED, Ordering::Relaxed);
            }
            return None;
        }
        self.woken.store(0, Ordering::Relaxed);
        let by = self.by(word);
        self.by.store(IS_POLLED, Ordering::Relaxed);
        Some(Wake {
            since: ReadySince(word & TIME),
            used_up: UsedUp(word & (BY_VALUE | BY_LAST)),
            by,
        })
    }

    /// See [`poll_ends`].
    #[inline]
    pub(crate) fn poll_ends(&self, task: u64) {
        let there = self.woken.load(Ordering::Relaxed);
        if task_of(there) == Some(key(task)) {
            // A wake that came as the poll began may not have seen that it began.
            let by = if there & OF_WHAT == IN_POLL { self.by(there) } else { 0 };
            self.note(word(task, POLL_END), by);
        } else if there == 0 {
            let by = self.by.load(Ordering::Relaxed);
            if by != IS_POLLED {
                look_for_missed(by, task);
            }
            self.by.store(0, Ordering::Relaxed);
        }
    }

    /// Returns who woke the task of this word, packed; 0 if another thread has written there since.
    #[inline]
    fn by(&self, word: u64) -> u64 {
        let there = self.by.load(Ordering::Relaxed);
        let is_of_word = there & !BY_WHOM == check(word);
        if is_of_word { there & BY_WHOM } else { 0 }
    }
}

const BY_WHOM: u64 = (1 << WOKEN_BY_BITS) - 1;
/// No one has this number.
const IS_POLLED: u64 = BY_WHOM;

/// No one has this number, either. It is there after [`nothing_wakes`], with a part of the task's id.
const FORGOTTEN: u64 = BY_WHOM - 1;

#[inline]
fn forgotten(task: u64) -> u64 {
    key(task) << WOKEN_BY_BITS | FORGOTTEN
}

/// Called as a task is woken or its poll ends, with what is there: if that says that nothing should wake the task, a
/// wake was missed.
#[inline]
fn look_for_missed(by: u64, task: u64) {
    if by & BY_WHOM == FORGOTTEN && by == forgotten(task) {
        one_is_not_seen();
    }
}

/// Returns the bits that tell a word from others, above the bits of who woke the task.
#[inline]
fn check(word: u64) -> u64 {
    (word ^ word >> TIME_BITS) << WOKEN_BY_BITS
}

impl ReadySince {
    /// Returns how long ago that was at `ticks`, in ticks.
    #[inline]
    pub(crate) fn ticks_until(self, ticks: u64) -> u64 {
        let units = (ticks >> UNIT_BITS).wrapping_sub(self.0) & TIME;
        // Another processor's counter may be ahead by a little.
        if units > TIME / 2 { 0 } else { units << UNIT_BITS }
    }
}

#[inline]
fn place(task: u64) -> usize {
    const ODD: u16 = 40_503;
    usize::from((task as u16).wrapping_mul(ODD))
}

/// Returns the part of a task's id that a word has.
#[inline]
fn key(task: u64) -> u64 {
    task >> PLACE_BITS & (u64::MAX >> TIME_BITS)
}

/// Returns that part from a word; `None` if the word is of no task.
#[inline]
fn task_of(word: u64) -> Option<u64> {
    (word != 0).then_some(word >> TIME_BITS)
}

/// Returns the word of a task for the current time.
#[inline]
fn word(task: u64, of_what: u64) -> u64 {
    key(task) << TIME_BITS
        | clock::ticks() >> UNIT_BITS & TIME & !(OF_WHAT | BY_LAST | BY_VALUE)
        | of_what
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::WokenBy;

    // No task of another test has these ids or their places.
    const FIRST: u64 = 0xabcd_ef000;

    #[test]
    fn the_first_wake_counts_until_the_next_poll() {
        let task = FIRST + 1;
        assert_eq!(poll_starts(task), None);
        let before = clock::ticks();
        woken(task, UsedUp::NOTHING, || 0);
        let after = clock::ticks();
        woken(task, UsedUp::NOTHING, || 0);
        let since = poll_starts(task).unwrap().since;
        let now = after + 1_000_000;
        let waited = since.ticks_until(now);
        let exact = now - after..=now - before;
        assert!(
            waited + 128 >= *exact.start() && waited <= *exact.end() + 128,
            "{waited} {exact:?}"
        );
        assert_eq!(poll_starts(task), None, "it is taken once");
    }

    #[test]
    fn a_task_that_is_woken_in_its_poll_is_ready_from_the_end_on() {
        let task = FIRST + 2;
        poll_ends(task);
        assert_eq!(poll_starts(task), None, "it wasn't woken");
        woken(task, UsedUp::NOTHING, || 0);
        std::thread::sleep(std::time::Duration::from_millis(1));
        let end = clock::ticks();
        poll_ends(task);
        assert!(poll_starts(task).unwrap().since.ticks_until(end + 1_000_000) <= 1_000_128);
        // It may have been a wake for the poll that ends.
        poll_starts(task);
        woken(task, UsedUp::NOTHING, || 0);
        poll_ends(task);
        std::thread::sleep(std::time::Duration::from_millis(1));
        let wake = clock::ticks();
        woken(task, UsedUp::NOTHING, || 0);
        woken(task, UsedUp::NOTHING, || 0);
        assert!(poll_starts(task).unwrap().since.ticks_until(wake + 1_000_000) <= 1_000_128);
    }

    #[test]
    fn the_first_that_wakes_is_who_woke() {
        let (task, other) = (FIRST + 7, FIRST + 8);
        let wake = |by: WokenBy| woken(task, UsedUp::NOTHING, || by.pack().unwrap());
        let by = || poll_starts(task).and_then(|wake| WokenBy::unpack(wake.by(1)));
        wake(WokenBy::Task(other));
        wake(WokenBy::Thread);
        assert_eq!(by(), Some(WokenBy::Task(other)));
        // A wake in a poll counts for the wait for the next poll, too.
        wake(WokenBy::Runtime);
        std::thread::sleep(std::time::Duration::from_millis(1));
        poll_ends(task);
        assert_eq!(by(), Some(WokenBy::Runtime));
        // The first of these may have done nothing.
        for (next, expected) in
            [(WokenBy::Thread, None), (WokenBy::Runtime, Some(WokenBy::Runtime))]
        {
            wake(WokenBy::Runtime);
            poll_ends(task);
            wake(next);
            assert_eq!(by(), expected);
            wake(WokenBy::Runtime);
            wake(next);
            poll_ends(task);
            assert_eq!(by(), expected);
        }
        // After a poll, only the first did something.
        poll_ends(task);
        wake(WokenBy::Runtime);
        wake(WokenBy::Thread);
        assert_eq!(by(), Some(WokenBy::Runtime));
        // A poll began and ended while someone was about to note that it woke the task, as this poll began or before.
        poll_ends(task);
        wake(WokenBy::Runtime);
        poll_ends(task);
        assert_eq!(by(), None);
        woken(task, UsedUp::NOTHING, || 0);
        assert_eq!(by(), None);
        // Another thread was about to write there, for a task that has the same place.
        wake(WokenBy::Runtime);
        slot(task).by.store(WokenBy::Thread.pack().unwrap(), Ordering::Relaxed);
        assert_eq!(by(), None);
    }

    #[test]
    fn no_time_is_another_tasks() {
        let (task, other) = (FIRST + 3, FIRST + 3 + (1 << PLACE_BITS));
        woken(task, UsedUp::NOTHING, || 0);
        woken(other, UsedUp::NOTHING, || 0);
        assert_eq!(poll_starts(task), None);
        poll_ends(task);
        assert!(poll_starts(other).is_some());
        for near in [FIRST + 4, FIRST + 5, FIRST + 6 + 0xfff0] {
            woken(near, UsedUp::NOTHING, || 0);
            assert_eq!(poll_starts(FIRST + 3), None);
        }
    }

    #[test]
    fn each_of_so_many_tasks_has_a_place() {
        let mut places: Vec<_> = (77..77 + (1 << PLACE_BITS)).map(place).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 1 << PLACE_BITS);
    }

    #[test]
    fn a_counter_that_is_a_little_ahead_is_no_time() {
        let since = ReadySince(1000);
        assert_eq!(since.ticks_until((1000 << UNIT_BITS) - 1), 0);
        assert_eq!(since.ticks_until(1010 << UNIT_BITS), 10 << UNIT_BITS);
        assert_eq!(
            ReadySince(TIME).ticks_until(5 << UNIT_BITS),
            6 << UNIT_BITS,
            "times begin anew"
        );
    }
}
