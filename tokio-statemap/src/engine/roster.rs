//! Who is who: what dropped records said about tasks that still live and threads that still run.
//!
//! Bounded by the tasks that live; that is what lets a flight recorder run for ever and still name
//! a task that was spawned an hour ago.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use crate::clock::KeepU64;
use crate::engine::record::{Kind, Record, unpack_ready};
use crate::engine::store::{Segment, StreamId};

/// A map by ids that are dense enough to be their own hash: `hashbrown` looks at the upper bits
/// too, so they are spread there.
pub(crate) type IdMap<V> = HashMap<u64, V, BuildHasherDefault<SpreadId>>;

/// Spreads an integer by one multiplication.
#[derive(Debug, Default)]
pub(crate) struct SpreadId(KeepU64);

impl std::hash::Hasher for SpreadId {
    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0.0 = value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.0
    }
}

/// The index of a spawn location in [`crate::engine::locations::Locations`].
pub(crate) type LocationId = u32;

#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    tasks: IdMap<Member>,
    streams: HashMap<StreamId, Stream>,
    /// Tasks whose termination was dropped before their spawn was: while a runtime shuts down
    /// the one can be seen before the other.
    gone: VecDeque<u64>,
    /// The tasks that were marked as polled last, so that a poll seldom costs a look-up.
    polled: Polled,
    has_absorbed: bool,
    /// Empty but while it learns; kept for its memory, as hooks do the dropping.
    terminated: Vec<u64>,
}

/// A task that lived when the last of its dropped records was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) location: Option<LocationId>,
    pub(crate) parent: Option<u64>,
    pub(crate) polled: bool,
}

/// A thread, as its last dropped record left it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) worker: Option<u32>,
    /// The polls that it is in, the inner last.
    pub(crate) polls: Vec<u64>,
    /// Whether it is parked, if it was ever seen to park or unpark.
    pub(crate) parked: Option<bool>,
    pub(crate) location: Option<LocationId>,
    pub(crate) ready_for_ns: Option<u64>,
    pub(crate) stopped: bool,
    terminated: Option<u64>,
}

const GONE_MOST: usize = 1024;

impl Roster {
    /// Whether anything was ever dropped.
    pub(crate) fn has_absorbed(&self) -> bool {
        self.has_absorbed
    }

    #[cfg(test)]
    pub(crate) fn member(&self, id: u64) -> Option<&Member> {
        self.tasks.get(&id)
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (u64, &Member)> {
        self.tasks.iter().map(|(&id, member)| (id, member))
    }

    pub(crate) fn stream(&self, id: StreamId) -> Option<&Stream> {
        self.streams.get(&id)
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = (StreamId, &Stream)> {
        self.streams.iter().map(|(&id, stream)| (id, stream))
    }

    /// Learns from records that are dropped: those of one stream in their order.
    ///
    /// Terminations come last, whatever the order of the streams: an id is never used again, so
    /// whoever terminated anywhere in `segments` does not live.
    pub(crate) fn absorb(&mut self, segments: &[Segment]) {
        self.has_absorbed |= segments.iter().any(|segment| !segment.records().is_empty());
        let mut terminated = std::mem::take(&mut self.terminated);
        for segment in segments {
            let mut stream = self.streams.remove(&segment.stream).unwrap_or_default();
            let mut ended = false;
            for &record in segment.records() {
                match record.kind() {
                    Kind::Terminate => {
                        stream.terminated = Some(record.payload());
                        terminated.push(record.payload());
                    }
                    Kind::End => ended = true,
                    _ => self.absorb_one(&mut stream, record),
                }
            }
            if !ended {
                self.streams.insert(segment.stream, stream);
            }
        }
        for id in terminated.drain(..) {
            if self.tasks.remove(&id).is_none() {
                if self.gone.len() == GONE_MOST {
                    self.gone.pop_front();
                }
                self.gone.push_back(id);
            }
        }
        self.terminated = terminated;
    }

    fn absorb_one(&mut self, stream: &mut Stream, record: Record) {
        let id = record.payload();
        match record.kind() {
            Kind::Location => stream.location = Some(id as LocationId),
            Kind::Spawn => {
                let (location, parent) = (stream.location.take(), stream.polls.last().copied());
                if let Some(place) = self.gone.iter().position(|&gone| gone == id) {
                    self.gone.remove(place);
                } else {
                    let member = self.tasks.entry(id).or_default();
                    (member.location, member.parent) = (location, parent);
                }
            }
            Kind::Who => {
                let location = stream.location.take();
                self.tasks.entry(id).or_default().location = location;
            }
            Kind::PollStart => stream.polls.push(id),
            Kind::PollStartReady => stream.polls.push(unpack_ready(id).0),
            Kind::PollEnd => {
                if let Some(place) = stream.polls.iter().rposition(|&poll| poll == id) {
                    stream.polls.remove(place);
                }
                if stream.terminated != Some(id) && self.polled.is_news(id) {
                    match self.tasks.entry(id) {
                        Entry::Occupied(mut member) => member.get_mut().polled = true,
                        Entry::Vacant(_) if self.gone.contains(&id) => {}
                        Entry::Vacant(place) => {
                            place.insert(Member { polled: true, ..Member::default() });
                        }
                    }
                }
            }
            Kind::ThreadStop => stream.stopped = true,
            Kind::Park => stream.parked = Some(true),
            Kind::Unpark => stream.parked = Some(false),
            Kind::Role => stream.worker = role(id),
            Kind::Ready => stream.ready_for_ns = Some(id),
            Kind::ThreadStart | Kind::Terminate | Kind::End | Kind::Stream => {}
        }
        if matches!(record.kind(), Kind::PollStart | Kind::PollStartReady) {
            stream.ready_for_ns = None;
        }
    }
}

/// The worker that a `Role` note's payload names.
pub(crate) fn role(payload: u64) -> Option<u32> {
    payload.checked_sub(1).and_then(|worker| u32::try_from(worker).ok())
}

/// A small cache of ids, by their lower bits.
#[derive(Clone, Debug)]
struct Polled(Box<[u64; Self::PLACES]>);

impl Polled {
    const PLACES: usize = 1024;

    /// Whether `id` wasn't here; it is now.
    fn is_news(&mut self, id: u64) -> bool {
        let place = &mut self.0[id as usize % Self::PLACES];
        std::mem::replace(place, id) != id
    }
}

impl Default for Polled {
    fn default() -> Self {
        // No record has this payload: it is wider than 60 bits.
        Self(Box::new([u64::MAX; Self::PLACES]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn segment(stream: StreamId, records: &[(Kind, u64)]) -> Segment {
        let records = (0..).zip(records).map(|(t, &(kind, id))| Record::new(t, kind, id));
        Segment::new(stream, 0, Arc::new(records.collect()))
    }

    #[test]
    fn it_knows_who_lives_where_they_come_from_and_whether_they_ran() {
        let mut roster = Roster::default();
        roster.absorb(&[segment(
            0,
            &[
                (Kind::Role, 3),
                (Kind::PollStart, 5),
                (Kind::Location, 7),
                (Kind::Spawn, 6),
                (Kind::PollEnd, 5),
                (Kind::PollStart, 6),
            ],
        )]);
        let spawned = Member { location: Some(7), parent: Some(5), polled: false };
        assert_eq!(roster.member(6), Some(&spawned));
        assert!(roster.member(5).unwrap().polled);
        let (_, stream) = roster.streams().next().unwrap();
        assert_eq!((stream.worker, &*stream.polls), (Some(2), &[6][..]));
        roster.absorb(&[segment(0, &[(Kind::Terminate, 6), (Kind::PollEnd, 6)])]);
        assert_eq!(roster.member(6), None);
    }

    #[test]
    fn a_termination_counts_whichever_stream_is_dropped_first() {
        let mut roster = Roster::default();
        let dies = segment(0, &[(Kind::PollStart, 9), (Kind::Terminate, 9)]);
        let dies_on = segment(0, &[(Kind::PollEnd, 9)]);
        let born = segment(1, &[(Kind::Spawn, 9)]);
        roster.absorb(&[dies, born.clone()]);
        roster.absorb(&[dies_on]);
        assert_eq!(roster.members().count(), 0);
        // Even in a later round, as when a runtime shuts down.
        roster.absorb(&[segment(0, &[(Kind::Terminate, 10)])]);
        roster.absorb(&[segment(1, &[(Kind::Spawn, 10)])]);
        assert_eq!(roster.members().count(), 0);
    }

    #[test]
    fn threads_that_ended_are_forgotten() {
        let mut roster = Roster::default();
        roster.absorb(&[segment(
            4,
            &[(Kind::ThreadStart, 0), (Kind::ThreadStop, 0), (Kind::End, 0)],
        )]);
        assert_eq!(roster.streams().count(), 0);
    }
}
