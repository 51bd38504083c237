//! Writes packets, and each name only once.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use super::fields::{PACKET, clock, event, interned, packet, track};
use super::proto::Message;
use crate::util::clean::clean;

/// All packets belong to one sequence.
const SEQUENCE: u64 = 1;

/// The number of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track(u64);

impl Track {
    /// Creates the track with a reserved number.
    pub(super) fn new(number: u64) -> Self {
        Self(number)
    }
}

/// The number of a text that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text(u64);

/// The order of the children of a track.
#[derive(Clone, Copy, Debug)]
pub(super) enum Children {
    None,
    /// Sorted by rank.
    Ranked,
    /// Sorted by first event.
    ByTime,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Begin,
    End,
    Instant,
}

/// Writes a trace to `W`, packet by packet.
pub(super) struct Trace<W: Write> {
    w: BufWriter<W>,
    packet: Message,
    /// The data that was interned since the last packet.
    new: Message,
    is_begun: bool,
    categories: Names,
    event_names: Names,
    argument_names: Names,
    strings: Names,
    tracks: u64,
    flows: u64,
}

/// Names and their numbers.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, u64>,
    last: u64,
}

impl Names {
    /// Returns the number of a name. A new name is added to `new` as `field`.
    fn number(&mut self, field: u32, name: &str, new: &mut Message) -> u64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.add(field, name, new);
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn add(&mut self, field: u32, name: &str, new: &mut Message) -> u64 {
        self.last += 1;
        let number = self.last;
        new.message(field, |entry| {
            entry.number(interned::ID, number);
            entry.text(interned::VALUE, clean(name).as_bytes());
        });
        number
    }
}

impl<W: Write> Trace<W> {
    /// Begins a trace whose time zero is `start`, since the Unix epoch.
    pub(super) fn begin(w: W, start: Duration) -> io::Result<Self> {
        let mut trace = Self {
            w: BufWriter::with_capacity(1 << 16, w),
            packet: Message::default(),
            new: Message::default(),
            is_begun: false,
            categories: Names::default(),
            event_names: Names::default(),
            argument_names: Names::default(),
            strings: Names::default(),
            tracks: 0,
            flows: 0,
        };
        let start_ns = u64::try_from(start.as_nanos()).unwrap_or(u64::MAX);
        trace.packet(|packet| {
            packet.message(packet::CLOCK_SNAPSHOT, |snapshot| {
                for (id, at_ns) in [(clock::BOOTTIME, 0), (clock::REALTIME, start_ns)] {
                    snapshot.message(clock::CLOCKS, |clock| {
                        clock.number(clock::ID, id);
                        clock.number(clock::TIMESTAMP, at_ns);
                    });
                }
                snapshot.number(clock::PRIMARY, clock::BOOTTIME);
            });
        })?;
        Ok(trace)
    }

    /// Reserves `count` consecutive numbers of tracks, and returns the first one.
    pub(super) fn reserve_tracks(&mut self, count: u64) -> u64 {
        let first = self.tracks + 1;
        self.tracks += count;
        first
    }

    /// Reserves `count` numbers of flows, and returns the first one.
    pub(super) fn reserve_flows(&mut self, count: u64) -> u64 {
        let first = self.flows + 1;
        self.flows += count;
        first
    }

    /// Writes a new track.
    pub(super) fn track(
        &mut self,
        name: &str,
        parent: Option<Track>,
        rank: u64,
        children: Children,
    ) -> io::Result<Track> {
        let number = self.reserve_tracks(1);
        self.reserved_track(number, name, parent, rank, children)
    }

    /// Writes the track with a reserved `number`.
    pub(super) fn reserved_track(
        &mut self,
        number: u64,
        name: &str,
        parent: Option<Track>,
        rank: u64,
        children: Children,
    ) -> io::Result<Track> {
        self.describe(number, name, parent, rank, |track| match children {
            Children::None => {}
            Children::Ranked => track.number(track::CHILD_ORDERING, track::EXPLICIT),
            Children::ByTime => track.number(track::CHILD_ORDERING, track::CHRONOLOGICAL),
        })
    }

    /// Writes a new counter track.
    pub(super) fn counter(&mut self, name: &str, parent: Track, rank: u64) -> io::Result<Track> {
        let number = self.reserve_tracks(1);
        self.describe(number, name, Some(parent), rank, |track| {
            track.message(track::COUNTER, |of| of.number(track::COUNTER_UNIT, track::UNIT_COUNT));
        })
    }

    fn describe(
        &mut self,
        number: u64,
        name: &str,
        parent: Option<Track>,
        rank: u64,
        fill: impl FnOnce(&mut Message),
    ) -> io::Result<Track> {
        self.packet(|packet| {
            packet.message(packet::TRACK_DESCRIPTOR, |track| {
                track.number(track::UUID, number);
                track.text(track::NAME, clean(name).as_bytes());
                if let Some(Track(parent)) = parent {
                    track.number(track::PARENT, parent);
                    track.number(track::RANK, rank);
                }
                fill(track);
            });
        })?;
        Ok(Track(number))
    }

    /// Writes a text that several events have.
    pub(super) fn string(&mut self, text: &str) -> Text {
        Text(self.strings.number(interned::STRINGS, text, &mut self.new))
    }

    /// Writes a text that isn't needed again, so that no memory is kept for it.
    pub(super) fn string_once(&mut self, text: &str) -> Text {
        Text(self.strings.add(interned::STRINGS, text, &mut self.new))
    }

    /// Returns the number of an argument's name.
    pub(super) fn argument(&mut self, name: &str) -> u64 {
        self.argument_names.number(interned::ARGUMENT_NAMES, name, &mut self.new)
    }

    /// Writes an event of a track, with its name and category unless it is an end.
    pub(super) fn event(
        &mut self,
        kind: Kind,
        track: Track,
        at_ns: u64,
        name: Option<(&str, &str)>,
        fill: impl FnOnce(&mut Event<'_>),
    ) -> io::Result<()> {
        let named = name.map(|(name, category)| {
            let name = self.event_names.number(interned::EVENT_NAMES, name, &mut self.new);
            (name, self.categories.number(interned::CATEGORIES, category, &mut self.new))
        });
        let kind = match kind {
            Kind::Begin => event::BEGIN,
            Kind::End => event::END,
            Kind::Instant => event::INSTANT,
        };
        self.packet(|packet| {
            packet.number(packet::TIMESTAMP, at_ns);
            packet.message(packet::TRACK_EVENT, |event| {
                event.number(event::TYPE, kind);
                event.number(event::TRACK, track.0);
                if let Some((name, category)) = named {
                    event.number(event::CATEGORY, category);
                    event.number(event::NAME, name);
                }
                fill(&mut Event(event));
            });
        })
    }

    /// Writes a slice without arguments.
    pub(super) fn slice(
        &mut self,
        track: Track,
        (from_ns, to_ns): (u64, u64),
        name: &str,
        category: &str,
    ) -> io::Result<()> {
        self.event(Kind::Begin, track, from_ns, Some((name, category)), |_| {})?;
        self.end(track, to_ns)
    }

    /// Writes the end of the slice that began last on a track.
    pub(super) fn end(&mut self, track: Track, at_ns: u64) -> io::Result<()> {
        self.event(Kind::End, track, at_ns, None, |_| {})
    }

    /// Writes the value of a counter from `at_ns` on.
    pub(super) fn count(&mut self, counter: Track, at_ns: u64, value: u64) -> io::Result<()> {
        self.packet(|packet| {
            packet.number(packet::TIMESTAMP, at_ns);
            packet.message(packet::TRACK_EVENT, |event| {
                event.number(event::TYPE, event::COUNTER);
                event.number(event::TRACK, counter.0);
                event.number(event::COUNTER_VALUE, value);
            });
        })
    }

    fn packet(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let flags = if is_first { packet::CLEARED } else { packet::NEEDS_STATE };
        self.packet.clear();
        let new = &mut self.new;
        self.packet.message(PACKET, |packet| {
            packet.number(packet::SEQUENCE, SEQUENCE);
            packet.number(packet::SEQUENCE_FLAGS, flags);
            if !new.is_empty() {
                packet.text(packet::INTERNED_DATA, new.bytes());
                new.clear();
            }
            fill(packet);
        });
        self.w.write_all(self.packet.bytes())
    }

    /// Flushes the buffer.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.w.flush()
    }
}

/// The fields of an event.
pub(super) struct Event<'a>(&'a mut Message);

impl Event<'_> {
    pub(super) fn number(&mut self, argument: u64, number: u64) {
        self.annotate(argument, |of| of.number(event::UINT, number));
    }

    pub(super) fn bool(&mut self, argument: u64, value: bool) {
        self.annotate(argument, |of| of.number(event::BOOL, value.into()));
    }

    pub(super) fn text(&mut self, argument: u64, Text(text): Text) {
        self.annotate(argument, |of| of.number(event::STRING, text));
    }

    /// Marks that a flow continues from here.
    pub(super) fn flow(&mut self, flow: u64) {
        self.0.fixed(event::FLOW, flow);
    }

    /// Marks that a flow ends here.
    pub(super) fn end_flow(&mut self, flow: u64) {
        self.0.fixed(event::TERMINATING_FLOW, flow);
    }

    fn annotate(&mut self, argument: u64, fill: impl FnOnce(&mut Message)) {
        self.0.message(event::ANNOTATION, |of| {
            of.number(event::ARGUMENT, argument);
            fill(of);
        });
    }
}
