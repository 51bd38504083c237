//! Records: the 16 bytes that an event is kept as, the contents of their payloads, and the reading of both.

mod queue;
pub(crate) mod reader;
mod switches;
mod woken_by;

pub(crate) use queue::Queue;
pub(crate) use switches::Switches;
pub(crate) use woken_by::{WOKEN_BY_BITS, WokenBy, for_recorder, pack_root, pack_spawned};

/// The index of a spawn location in [`Locations`](crate::recorder::hot::locations::Locations).
pub(crate) type LocationId = u32;

/// The number of the place where a task waits, from 1 on, as [`table`](crate::recorder::chains::table) gives it. It
/// fits into 14 bits.
pub(crate) type WaitId = u16;

/// No wait, or one that isn't known.
pub(crate) const UNKNOWN: WaitId = 0;

/// One event, or a note about the next one: its time, its kind and a payload.
///
/// The upper bits of `word` are the code of its [`Kind`], the rest is its payload. How many bits
/// each has depends on the kind: see [`Kind`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) ticks: u64,
    word: u64,
}

/// The bits of a kind's code, and of the payload beside it.
const CODE_BITS: u32 = 8;
pub(crate) const PAYLOAD_BITS: u32 = u64::BITS - CODE_BITS;
const PAYLOAD: u64 = (1 << PAYLOAD_BITS) - 1;

/// The bits of the code of a kind whose payload is a task id and another value. Such a kind takes up all codes that
/// begin as its own does, so that its payload can be longer.
const PACKED_CODE_BITS: u32 = 4;
const PACKED_PAYLOAD_BITS: u32 = u64::BITS - PACKED_CODE_BITS;
const PACKED_PAYLOAD: u64 = (1 << PACKED_PAYLOAD_BITS) - 1;
/// The number of these codes.
const PACKED_CODES: u8 = 1 << (CODE_BITS - PACKED_CODE_BITS);

/// The codes from here on are of kinds with a packed payload, up to the notes.
const FIRST_PACKED: u8 = FIRST_NOTE - 3 * PACKED_CODES;
/// The codes from here on are notes.
const FIRST_NOTE: u8 = 1 << (CODE_BITS - 1);

/// Set in the payload of a root future's records; the rest is its number.
pub(crate) const ROOT: u64 = 1 << (PAYLOAD_BITS - 1);

/// Declares [`Kind`] and the table of its codes, with one row per kind.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $code:expr,)+) => {
        /// The kind of a record. Notes are not events: they are neither counted nor limited.
        ///
        /// A new event takes the next code below [`FIRST_PACKED`], which leaves room for 80; a new
        /// note the next code from [`FIRST_NOTE`] on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kind {
            $($(#[$doc])* $kind = $code,)+
        }

        impl Kind {
            const ALL: &[Self] = &[$(Self::$kind),+];
        }
    };
}

kinds! {
    /// The spawn of the task.
    Spawn = 0,
    /// The start of a poll of the task.
    PollStart = 1,
    /// The end of a poll of the task.
    PollEnd = 2,
    /// The termination of the task.
    Terminate = 3,
    ThreadStart = 4,
    ThreadStop = 5,
    Park = 6,
    Unpark = 7,

    /// The start of a poll of the task, with the time for which it had been ready ([`pack_ready`]).
    PollStartReady = FIRST_PACKED,
    /// The spawn of the task, with the index of its location ([`pack_spawn`]).
    SpawnAt = FIRST_PACKED + PACKED_CODES,
    /// The end of a poll of the task that ends in waiting, with where it waits ([`pack_wait`]).
    PollEndAt = FIRST_PACKED + 2 * PACKED_CODES,

    /// The next `Spawn` or `LateOrigin` is from this location, by its index.
    Location = FIRST_NOTE,
    /// From here on the thread is the worker `payload - 1`, or none with 0.
    Role = FIRST_NOTE + 1,
    /// The time for which the task of the next `PollStart` had been ready, in ns.
    Ready = FIRST_NOTE + 2,
    /// The task was spawned at the location just noted, before recording started.
    LateOrigin = FIRST_NOTE + 3,
    /// The thread that this stream belongs to ended.
    End = FIRST_NOTE + 4,
    /// In chunks that several streams share: the next records are of this stream.
    Stream = FIRST_NOTE + 5,
    /// A reading: the time for which the thread was ready to run but didn't run, in ns, in all. If it is there, it is
    /// before the two below it.
    RunDelay = FIRST_NOTE + 6,
    /// A reading: the thread's switches and major page faults, in all ([`Switches::pack`]).
    Switches = FIRST_NOTE + 7,
    /// The end of a reading: the thread's CPU time, in all, in ns.
    CpuTime = FIRST_NOTE + 8,
    /// The time from the record before which the next reading stands to that reading, in ns.
    Late = FIRST_NOTE + 9,
    /// The blocking pool's queue ([`Queue`]). If a task of the pool ended, its
    /// `Terminate` is next.
    Queue = FIRST_NOTE + 10,
    /// The poll that ends next ends in waiting, at this place ([`WaitId`]).
    Waits = FIRST_NOTE + 11,
    /// The name of the task in the next `Named`, by its number.
    Name = FIRST_NOTE + 12,
    /// The task has the name just noted.
    Named = FIRST_NOTE + 13,
    /// The source of the wake for the next start of a poll ([`WokenBy`]).
    WokenBy = FIRST_NOTE + 14,
}

impl Kind {
    const fn is_packed(self) -> bool {
        self as u8 >= FIRST_PACKED && (self as u8) < FIRST_NOTE
    }

    const fn payload_mask(self) -> u64 {
        if self.is_packed() { PACKED_PAYLOAD } else { PAYLOAD }
    }

    /// Returns the code, at its place in a record's word.
    const fn word(self) -> u64 {
        (self as u64) << PAYLOAD_BITS
    }
}

/// The kind of each code. Codes without a kind are filled in, and never read.
static BY_CODE: [Kind; 1 << CODE_BITS] = {
    let mut by_code = [Kind::End; 1 << CODE_BITS];
    let mut i = 0;
    while i < Kind::ALL.len() {
        let kind = Kind::ALL[i];
        let first = kind as usize;
        let codes = if kind.is_packed() { PACKED_CODES as usize } else { 1 };
        let mut code = first;
        while code < first + codes {
            by_code[code] = kind;
            code += 1;
        }
        i += 1;
    }
    by_code
};

impl Record {
    #[inline]
    pub(crate) fn new(ticks: u64, kind: Kind, payload: u64) -> Self {
        Self { ticks, word: kind.word() | payload & kind.payload_mask() }
    }

    /// Creates a record with a payload that is known to fit: a task id, which Tokio counts up from 1, or a payload that
    /// the functions here packed.
    #[inline]
    pub(crate) fn event(ticks: u64, kind: Kind, payload: u64) -> Self {
        debug_assert!(payload <= kind.payload_mask());
        Self { ticks, word: kind.word() | payload }
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        BY_CODE[(self.word >> PAYLOAD_BITS) as usize]
    }

    /// Returns the payload of a kind whose payload isn't packed.
    #[inline]
    pub(crate) fn payload(self) -> u64 {
        self.word & PAYLOAD
    }

    /// Returns the payload of a kind whose payload is packed.
    #[inline]
    pub(crate) fn packed_payload(self) -> u64 {
        self.word & PACKED_PAYLOAD
    }

    // These don't use the table of kinds, as they are called for each record that is evicted.

    /// Returns the task, if it is the end of a poll.
    #[inline]
    pub(crate) fn poll_end(self) -> Option<u64> {
        if self.word >> PAYLOAD_BITS == Kind::PollEnd as u64 {
            Some(self.payload())
        } else if self.is_poll_end_at() {
            Some(self.packed_payload() >> LOCATION_BITS)
        } else {
            None
        }
    }

    /// Returns where a task waits, from the end of its poll; `None` if the record doesn't say.
    #[inline]
    pub(crate) fn wait(self) -> Option<WaitId> {
        self.is_poll_end_at().then_some(self.word as WaitId)
    }

    #[inline]
    fn is_poll_end_at(self) -> bool {
        self.word >> PACKED_PAYLOAD_BITS == Kind::PollEndAt.word() >> PACKED_PAYLOAD_BITS
    }

    /// Returns whether it is the start of a poll with the time for which the task had been ready.
    #[inline]
    pub(crate) fn is_poll_start_ready(self) -> bool {
        self.word >> PACKED_PAYLOAD_BITS == Kind::PollStartReady.word() >> PACKED_PAYLOAD_BITS
    }

    /// Returns the task, if this record starts a poll of it that `next` ends.
    #[inline]
    pub(crate) fn whole_poll(self, next: Option<&Self>) -> Option<u64> {
        let task = next?.poll_end()?;
        self.starts_poll_of(task).then_some(task)
    }

    /// Returns the task's termination, if this record starts the task's last poll: if the termination is next, and then
    /// the end of the poll.
    #[inline]
    pub(crate) fn last_poll(self, rest: &[Self]) -> Option<Self> {
        let [termination, end, ..] = *rest else { return None };
        let is_last = termination.kind() == Kind::Terminate
            && self.whole_poll(Some(&end)) == Some(termination.payload());
        is_last.then_some(termination)
    }

    /// Returns whether this starts a poll of this task.
    #[inline]
    pub(crate) fn starts_poll_of(self, task: u64) -> bool {
        const START_READY: u64 = Kind::PollStartReady.word() >> READY_BITS;
        self.word == Kind::PollStart.word() | task
            || self.word >> READY_BITS == START_READY | task && task >> PACKED_ID_BITS == 0
    }

    /// Returns who woke the task of the next start of a poll, packed, if it is a note of that.
    #[inline]
    pub(crate) fn woken_by(self) -> Option<u64> {
        (self.word >> PAYLOAD_BITS == Kind::WokenBy as u64).then(|| self.payload())
    }

    /// Returns whether the records differ at most in their times.
    #[inline]
    pub(crate) fn equals_but_for_time(self, other: Self) -> bool {
        self.word == other.word
    }

    /// Returns the task of a record that is an event of a task.
    #[inline]
    pub(crate) fn task(self) -> Option<u64> {
        match self.kind() {
            Kind::Spawn | Kind::PollStart | Kind::PollEnd | Kind::Terminate => Some(self.payload()),
            Kind::SpawnAt => Some(unpack_spawn(self.packed_payload()).0),
            Kind::PollStartReady => Some(unpack_ready(self.packed_payload()).0),
            Kind::PollEndAt => self.poll_end(),
            _ => None,
        }
    }

    /// Returns whether it counts as an event.
    #[inline]
    pub(crate) fn is_event(self) -> bool {
        self.word < Kind::Location.word()
    }
}

/// Returns the records without the first, if that is a note of who woke the task of the first poll.
#[inline]
pub(crate) fn after_note(records: &[Record]) -> &[Record] {
    match records {
        [first, rest @ ..] if first.woken_by().is_some() => rest,
        _ => records,
    }
}

/// Returns how many of `records` are events.
#[inline(never)]
pub(crate) fn events_in(records: &[Record]) -> u64 {
    records.iter().filter(|record| record.is_event()).count() as u64
}

/// The bits of a task id in a packed payload. Below it is the value that stands beside it.
const PACKED_ID_BITS: u32 = 36;
pub(crate) const LOCATION_BITS: u32 = PACKED_PAYLOAD_BITS - PACKED_ID_BITS;
const READY_BITS: u32 = PACKED_PAYLOAD_BITS - PACKED_ID_BITS;
const EXPONENT_BITS: u32 = 5;
const MANTISSA_BITS: u32 = READY_BITS - EXPONENT_BITS;

/// Returns a task id and how long the task had been ready, in one payload. The time is a floating-point number with 19
/// bits of mantissa, so it is accurate to 4 ppm (28 ns of 7 ms). `None` if either doesn't fit.
#[inline]
pub(crate) fn pack_ready(id: u64, ready_for_ns: u64) -> Option<u64> {
    let bits = u64::BITS - ready_for_ns.leading_zeros();
    let exponent = bits.saturating_sub(MANTISSA_BITS);
    let fits = id >> PACKED_ID_BITS == 0 && exponent >> EXPONENT_BITS == 0;
    fits.then(|| {
        let ready = u64::from(exponent) << MANTISSA_BITS | ready_for_ns >> exponent;
        id << READY_BITS | ready
    })
}

/// Returns the id and the time that [`pack_ready`] packed.
#[inline]
pub(crate) fn unpack_ready(payload: u64) -> (u64, u64) {
    let ready = payload & ((1 << READY_BITS) - 1);
    let mantissa = ready & ((1 << MANTISSA_BITS) - 1);
    (payload >> READY_BITS, mantissa << (ready >> MANTISSA_BITS))
}

/// Returns a task id and the index of its location, in one payload. `None` if either doesn't fit.
#[inline]
pub(crate) fn pack_spawn(id: u64, location: u32) -> Option<u64> {
    let fits = id >> PACKED_ID_BITS == 0 && location >> LOCATION_BITS == 0;
    fits.then(|| id << LOCATION_BITS | u64::from(location))
}

/// Returns a task id and where the task waits, in one payload. `None` if the id doesn't fit.
#[inline]
pub(crate) fn pack_wait(id: u64, wait: WaitId) -> Option<u64> {
    pack_spawn(id, u32::from(wait))
}

/// Returns the worker in the payload of a `Role` note.
#[inline]
pub(crate) fn unpack_worker(payload: u64) -> Option<u32> {
    payload.checked_sub(1).and_then(|worker| u32::try_from(worker).ok())
}

/// Returns the id and the index that [`pack_spawn`] packed.
#[inline]
pub(crate) fn unpack_spawn(payload: u64) -> (u64, u32) {
    (payload >> LOCATION_BITS, (payload & ((1 << LOCATION_BITS) - 1)) as u32)
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Record { ticks, word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back_with_its_payload() {
        for &kind in Kind::ALL {
            for payload in [0, 1, ROOT, PAYLOAD] {
                let record = Record::new(7, kind, payload);
                assert_eq!((record.kind(), record.payload()), (kind, payload));
                assert_eq!(record.is_event(), (kind as u8) < Kind::Location as u8);
            }
            // No bit of a payload that is too long gets into the kind.
            assert_eq!(Record::new(7, kind, u64::MAX).kind(), kind);
            if kind.is_packed() {
                for payload in [0, 1, 1 << (PACKED_PAYLOAD_BITS - 1), PACKED_PAYLOAD] {
                    let record = Record::event(7, kind, payload);
                    assert_eq!((record.kind(), record.packed_payload()), (kind, payload));
                    assert!(record.is_event());
                }
            }
        }
        assert_eq!(size_of::<Record>(), 16);
    }

    #[test]
    fn each_code_is_of_one_kind() {
        let mut taken = [false; 1 << CODE_BITS];
        for &kind in Kind::ALL {
            let codes = if kind.is_packed() { PACKED_CODES } else { 1 };
            // A packed kind's code is the first of those that begin with the same bits.
            assert_eq!(kind as u8 % codes, 0, "{kind:?}");
            for code in kind as u8..=kind as u8 + (codes - 1) {
                assert!(!std::mem::replace(&mut taken[usize::from(code)], true), "{kind:?}");
                assert_eq!(BY_CODE[usize::from(code)], kind);
            }
        }
    }

    #[test]
    fn there_is_room_for_64_kinds_of_event() {
        let packed = Kind::ALL.iter().filter(|kind| kind.is_packed()).count();
        assert!(usize::from(FIRST_PACKED) + packed >= 64);
    }

    #[test]
    fn ready_times_are_good_to_4_ppm() {
        for shift in 0..49 {
            for ns in [1_u64 << shift, (1 << shift) + 1, (2 << shift) - 1] {
                let (id, back) = unpack_ready(pack_ready(123_456_789, ns).unwrap());
                assert_eq!(id, 123_456_789);
                assert!(back <= ns && (ns - back) as f64 <= ns as f64 * 4e-6, "{ns} {back}");
            }
        }
    }

    #[test]
    fn a_start_and_the_end_of_the_same_task_are_a_poll() {
        let record = |kind, payload| Record::new(1, kind, payload);
        for id in [1, 77, (1 << PACKED_ID_BITS) - 1] {
            let end = record(Kind::PollEnd, id);
            let ready = record(Kind::PollStartReady, pack_ready(id, 12_345).unwrap());
            for start in [record(Kind::PollStart, id), ready] {
                assert_eq!(start.whole_poll(Some(&end)), Some(id));
                assert_eq!(start.whole_poll(Some(&record(Kind::PollEnd, id ^ 2))), None);
                assert_eq!(start.whole_poll(Some(&record(Kind::Terminate, id))), None);
                assert_eq!(start.whole_poll(None), None);
            }
            // These ids don't fit in beside a time.
            let far = record(Kind::PollEnd, (1 << PACKED_ID_BITS) + 4096);
            assert_eq!(record(Kind::PollEnd, 1 << PACKED_ID_BITS).whole_poll(Some(&far)), None);
            assert_eq!(record(Kind::Spawn, id).whole_poll(Some(&end)), None);
            assert_eq!(end.whole_poll(Some(&end)), None);
            for wait in [UNKNOWN, 77, (1 << 14) - 1] {
                let waits = record(Kind::PollEndAt, pack_wait(id, wait).unwrap());
                assert_eq!((waits.task(), waits.wait()), (Some(id), Some(wait)));
                assert_eq!(record(Kind::PollStart, id).whole_poll(Some(&waits)), Some(id));
                assert_eq!(ready.whole_poll(Some(&waits)), Some(id));
                assert_eq!(record(Kind::PollStart, id ^ 2).whole_poll(Some(&waits)), None);
                assert_eq!(waits.whole_poll(Some(&waits)), None);
            }
            assert_eq!(end.wait(), None);
        }
    }

    #[test]
    fn a_last_poll_is_of_one_task_from_start_to_end() {
        let record = |kind, payload| Record::new(1, kind, payload);
        let (end, poll_end) = (record(Kind::Terminate, 7), record(Kind::PollEnd, 7));
        let start = record(Kind::PollStart, 7);
        assert_eq!(start.last_poll(&[end, poll_end, start]), Some(end));
        for rest in [
            [record(Kind::Terminate, 8), poll_end],
            [record(Kind::Spawn, 7), poll_end],
            [end, record(Kind::PollEnd, 8)],
            [poll_end, end],
        ] {
            assert_eq!(start.last_poll(&rest), None);
        }
        assert_eq!(start.last_poll(&[end]), None);
        assert_eq!(poll_end.last_poll(&[end, poll_end]), None);
    }

    #[test]
    fn a_spawn_comes_back_with_its_location() {
        for (id, location) in [(1, 0), ((1 << 36) - 1, (1 << 24) - 1)] {
            assert_eq!(unpack_spawn(pack_spawn(id, location).unwrap()), (id, location));
        }
        assert_eq!((pack_spawn(1 << 36, 0), pack_spawn(0, 1 << 24)), (None, None));
    }

    #[test]
    fn what_does_not_fit_is_not_packed() {
        assert_eq!(pack_ready(1 << PACKED_ID_BITS, 5), None);
        assert_eq!(pack_ready(1, u64::MAX), None);
        // This is the last id that fits.
        let id = (1 << PACKED_ID_BITS) - 1;
        let longest_ns = ((1 << MANTISSA_BITS) - 1) << ((1 << EXPONENT_BITS) - 1);
        let packed = pack_ready(id, longest_ns).unwrap();
        assert_eq!(packed, PACKED_PAYLOAD);
        assert_eq!(unpack_ready(packed), (id, longest_ns));
        assert_eq!(pack_ready(id, longest_ns << 1), None);
        let packed = pack_spawn(id, (1 << LOCATION_BITS) - 1);
        assert_eq!(packed, Some(PACKED_PAYLOAD));
    }

    #[test]
    fn packed_payloads_come_back_out_of_a_record() {
        for id in [1, 1 << (PACKED_ID_BITS - 1), (1 << PACKED_ID_BITS) - 1] {
            let ready = Record::event(1, Kind::PollStartReady, pack_ready(id, 99).unwrap());
            assert_eq!(unpack_ready(ready.packed_payload()), (id, 99));
            let location = (1 << LOCATION_BITS) - 1;
            let spawn = Record::event(1, Kind::SpawnAt, pack_spawn(id, location).unwrap());
            assert_eq!(unpack_spawn(spawn.packed_payload()), (id, location));
        }
    }
}
