//! The 16 bytes that an event is kept as.

/// One event, or a note about the next one: when, what, and about whom.
///
/// The upper 4 bits of `word` are the [`Kind`], the rest is its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) ticks: u64,
    word: u64,
}

/// What a record says. The notes are not events: they are neither counted nor limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Of the task.
    Spawn = 0,
    /// Of the task.
    PollStart = 1,
    /// Of the task; with how long it had been ready ([`pack_ready`]).
    PollStartReady = 2,
    /// Of the task.
    PollEnd = 3,
    /// Of the task.
    Terminate = 4,
    ThreadStart = 5,
    ThreadStop = 6,
    Park = 7,
    Unpark = 8,
    /// Of the task; with the index of its location ([`pack_spawn`]).
    SpawnAt = 9,
    /// A note: the next `Spawn` or `Who` is from this location, by its index.
    Location = 10,
    /// A note: from here on the thread is the worker `payload - 1`, or none with 0.
    Role = 11,
    /// A note: the task of the next `PollStart` had been ready for so many ns.
    Ready = 12,
    /// A note: the task was spawned at the location just noted, before recording started.
    Who = 13,
    /// A note: the thread that this stream belongs to ended.
    End = 14,
    /// A note, in blocks that several streams share: the next records are of this stream.
    Stream = 15,
}

const KINDS: [Kind; 16] = [
    Kind::Spawn,
    Kind::PollStart,
    Kind::PollStartReady,
    Kind::PollEnd,
    Kind::Terminate,
    Kind::ThreadStart,
    Kind::ThreadStop,
    Kind::Park,
    Kind::Unpark,
    Kind::SpawnAt,
    Kind::Location,
    Kind::Role,
    Kind::Ready,
    Kind::Who,
    Kind::End,
    Kind::Stream,
];

const PAYLOAD_BITS: u32 = 60;
const PAYLOAD: u64 = (1 << PAYLOAD_BITS) - 1;

/// Set in the payload of a root future's records; the rest is its number.
pub(crate) const ROOT: u64 = 1 << (PAYLOAD_BITS - 1);

impl Record {
    #[inline]
    pub(crate) fn new(ticks: u64, kind: Kind, payload: u64) -> Self {
        Self { ticks, word: (kind as u64) << PAYLOAD_BITS | payload & PAYLOAD }
    }

    /// The same of a payload that is known to fit: a task's number, of which there are not so many,
    /// or what the functions here packed.
    #[inline]
    pub(crate) fn event(ticks: u64, kind: Kind, payload: u64) -> Self {
        debug_assert!(payload <= PAYLOAD);
        Self { ticks, word: (kind as u64) << PAYLOAD_BITS | payload }
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        // `new` is the only maker, so the index is in bounds.
        KINDS[(self.word >> PAYLOAD_BITS) as usize % KINDS.len()]
    }

    #[inline]
    pub(crate) fn payload(self) -> u64 {
        self.word & PAYLOAD
    }

    /// The task, if this starts a poll of it that `next` ends.
    #[inline]
    pub(crate) fn whole_poll(self, next: Option<&Self>) -> Option<u64> {
        let end = next.filter(|next| next.kind() == Kind::PollEnd)?;
        self.starts_poll_to(*end).then_some(end.payload())
    }

    /// The task's termination, if this starts its last poll: it is next, and then the poll ends.
    #[inline]
    pub(crate) fn last_poll(self, rest: &[Self]) -> Option<Self> {
        let [termination, end, ..] = *rest else { return None };
        let is_last = termination.kind() == Kind::Terminate
            && self.whole_poll(Some(&end)) == Some(termination.payload());
        is_last.then_some(termination)
    }

    /// Whether this starts a poll that `end` ends, which is an end.
    #[inline]
    pub(crate) fn starts_poll_to(self, end: Self) -> bool {
        const START: u64 = Kind::PollStart as u64;
        const START_READY: u64 = (Kind::PollStartReady as u64) << READY_ID_BITS;
        const END: u64 = Kind::PollEnd as u64;
        // The same task, so that only the kind differs.
        self.word == end.word.wrapping_sub((END - START) << PAYLOAD_BITS)
            || self.word >> READY_BITS == START_READY | end.payload()
                && end.payload() >> READY_ID_BITS == 0
    }

    /// Whether both say the same, be it at different times.
    #[inline]
    pub(crate) fn says_the_same_as(self, other: Self) -> bool {
        self.word == other.word
    }

    /// Whether it counts as an event.
    #[inline]
    pub(crate) fn is_event(self) -> bool {
        self.word >> PAYLOAD_BITS <= Kind::SpawnAt as u64
    }
}

/// How many of `records` are events.
pub(crate) fn events_in(records: &[Record]) -> u64 {
    records.iter().filter(|record| record.is_event()).count() as u64
}

const READY_BITS: u32 = 24;
const MANTISSA_BITS: u32 = 19;
const READY_ID_BITS: u32 = PAYLOAD_BITS - READY_BITS;

/// A task id and how long it had been ready, in one payload: the time as a floating-point number
/// with 19 bits of mantissa, so good to 4 ppm (28 ns of 7 ms). `None` if either doesn't fit.
#[inline]
pub(crate) fn pack_ready(id: u64, ready_for_ns: u64) -> Option<u64> {
    let bits = u64::BITS - ready_for_ns.leading_zeros();
    let exponent = bits.saturating_sub(MANTISSA_BITS);
    let fits = id >> READY_ID_BITS == 0 && exponent < 1 << (READY_BITS - MANTISSA_BITS);
    fits.then(|| {
        let ready = u64::from(exponent) << MANTISSA_BITS | ready_for_ns >> exponent;
        id << READY_BITS | ready
    })
}

/// The id and the time that [`pack_ready`] packed.
#[inline]
pub(crate) fn unpack_ready(payload: u64) -> (u64, u64) {
    let ready = payload & ((1 << READY_BITS) - 1);
    let mantissa = ready & ((1 << MANTISSA_BITS) - 1);
    (payload >> READY_BITS, mantissa << (ready >> MANTISSA_BITS))
}

const LOCATION_BITS: u32 = 24;

/// A task id and the index of its location, in one payload. `None` if either doesn't fit.
#[inline]
pub(crate) fn pack_spawn(id: u64, location: u32) -> Option<u64> {
    let fits = id >> (PAYLOAD_BITS - LOCATION_BITS) == 0 && location >> LOCATION_BITS == 0;
    fits.then(|| id << LOCATION_BITS | u64::from(location))
}

/// The id and the index that [`pack_spawn`] packed.
#[inline]
pub(crate) fn unpack_spawn(payload: u64) -> (u64, u32) {
    (payload >> LOCATION_BITS, (payload & ((1 << LOCATION_BITS) - 1)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back_with_its_payload() {
        for kind in KINDS {
            for payload in [0, 1, ROOT, PAYLOAD] {
                let record = Record::new(7, kind, payload);
                assert_eq!((record.kind(), record.payload()), (kind, payload));
                assert_eq!(record.is_event(), (kind as u8) < Kind::Location as u8);
            }
        }
        assert_eq!(size_of::<Record>(), 16);
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
        for id in [1, 77, (1 << READY_ID_BITS) - 1] {
            let end = record(Kind::PollEnd, id);
            let ready = record(Kind::PollStartReady, pack_ready(id, 12_345).unwrap());
            for start in [record(Kind::PollStart, id), ready] {
                assert_eq!(start.whole_poll(Some(&end)), Some(id));
                assert_eq!(start.whole_poll(Some(&record(Kind::PollEnd, id ^ 2))), None);
                assert_eq!(start.whole_poll(Some(&record(Kind::Terminate, id))), None);
                assert_eq!(start.whole_poll(None), None);
            }
            // Ids that don't fit in beside a time.
            let far = record(Kind::PollEnd, (1 << READY_ID_BITS) + 4096);
            assert_eq!(record(Kind::PollEnd, 1 << READY_ID_BITS).whole_poll(Some(&far)), None);
            assert_eq!(record(Kind::Spawn, id).whole_poll(Some(&end)), None);
            assert_eq!(end.whole_poll(Some(&end)), None);
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
        assert_eq!(pack_ready(1 << READY_ID_BITS, 5), None);
        assert_eq!(pack_ready(1, u64::MAX), None);
    }
}
