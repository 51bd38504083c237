//! A reader of Perfetto traces that knows only the published schema: the numbers of the fields and their types.
//!
//! It shares no code with the writer, and rejects fields that it doesn't know.

mod wire;

use std::collections::BTreeMap;

use wire::{Fields, Value, fields};

/// The content of a trace.
#[derive(Debug, Default)]
pub struct Trace {
    /// The tracks, by their ids.
    pub tracks: BTreeMap<u64, Track>,
    /// All slices, in the order in which they began.
    pub slices: Vec<Slice>,
    /// The times and values of each counter, by the id of its track.
    pub counters: BTreeMap<u64, Vec<(u64, u64)>>,
    /// The UTC time at time zero, in ns since the Unix epoch.
    pub start_ns: u64,
}

/// A track.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// The name.
    pub name: String,
    /// The id of the parent track.
    pub parent: Option<u64>,
    /// `true` if it is a counter.
    pub is_counter: bool,
}

/// A slice of a track, or an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The id of the track.
    pub track: u64,
    /// The name.
    pub name: String,
    /// The category.
    pub category: String,
    /// The start and the end, in ns.
    pub time_ns: (u64, u64),
    /// The number of slices around it.
    pub depth: usize,
    /// The arguments, by name.
    pub arguments: BTreeMap<String, Argument>,
    /// The flows that begin in it, and those that end in it.
    pub flows: (Vec<u64>, Vec<u64>),
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number.
    Number(u64),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(String),
}

/// The interned strings, by field and number.
type Interned = BTreeMap<(u32, u64), String>;

/// An event, as it stands in the file.
#[derive(Debug)]
struct Event {
    at_ns: u64,
    kind: u64,
    track: u64,
    counter_value: Option<u64>,
    slice: Slice,
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Panics
    ///
    /// If it isn't a trace, or has an unknown field, an event of an unknown track or name, or a slice without an end.
    pub fn read(bytes: &[u8]) -> Self {
        let mut trace = Self::default();
        let (mut interned, mut events) = (Interned::new(), Vec::new());
        for (number, packet) in fields(bytes) {
            assert_eq!(number, 1, "a trace has packets only");
            trace.packet(packet.bytes(), &mut interned, &mut events);
        }
        trace.replay(events);
        trace
    }

    fn packet(&mut self, bytes: &[u8], interned: &mut Interned, events: &mut Vec<Event>) {
        let packet = Fields::read(bytes, &[6, 8, 10, 11, 12, 13, 60]);
        assert_eq!(packet.number(10), Some(1), "the sequence");
        let flags = packet.number(13).expect("the flags");
        if flags & 1 != 0 {
            interned.clear();
        } else {
            assert_eq!(flags & 2, 2, "it needs what is interned");
        }
        for (field, entry) in packet.bytes(12).into_iter().flat_map(fields) {
            assert!([1, 2, 3, 29].contains(&field), "interned {field}");
            let entry = Fields::read(entry.bytes(), &[1, 2]);
            let number = entry.number(1).filter(|number| *number > 0).expect("a number");
            let known = interned.insert((field, number), entry.text(2).expect("a name"));
            assert_eq!(known, None, "{field}: {number} is there twice");
        }
        if let Some(snapshot) = packet.bytes(6) {
            let snapshot = Fields::read(snapshot, &[1, 2]);
            assert_eq!(snapshot.number(2), Some(6), "BOOTTIME is that of the timestamps");
            let clocks = snapshot.all(1).map(|clock| Fields::read(clock.bytes(), &[1, 2]));
            let clocks: BTreeMap<_, _> = clocks.map(|c| (c.number(1), c.number(2))).collect();
            assert_eq!(clocks[&Some(6)], Some(0));
            self.start_ns = clocks[&Some(1)].expect("the time");
        }
        if let Some(track) = packet.bytes(60) {
            let track = Fields::read(track, &[1, 2, 5, 8, 11, 12]);
            let described = Track {
                name: track.text(2).expect("a name"),
                parent: track.number(5),
                is_counter: track.bytes(8).is_some(),
            };
            let id = track.number(1).expect("an id");
            let is_new = self.tracks.insert(id, described).is_none();
            assert!(is_new, "a track is described twice");
        }
        if let Some(event) = packet.bytes(11) {
            let at_ns = packet.number(8).expect("a time");
            events.push(Event::read(event, at_ns, interned));
        }
    }

    /// Sorts events by time, as Perfetto does, and builds slices from them.
    fn replay(&mut self, mut events: Vec<Event>) {
        events.sort_by_key(|event| event.at_ns);
        let mut open: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for event in events {
            let track = self.tracks.get(&event.track).expect("its track is described");
            assert_eq!(track.is_counter, event.kind == 4, "{}", track.name);
            let open = open.entry(event.track).or_default();
            match event.kind {
                1 | 3 => {
                    self.slices.push(Slice { depth: open.len(), ..event.slice });
                    if event.kind == 1 {
                        open.push(self.slices.len() - 1);
                    }
                }
                2 => {
                    let begun = open.pop().unwrap_or_else(|| panic!("{}: an end", track.name));
                    self.slices[begun].time_ns.1 = event.at_ns;
                }
                4 => {
                    let value = event.counter_value.expect("a value");
                    self.counters.entry(event.track).or_default().push((event.at_ns, value));
                }
                other => panic!("an event of type {other}"),
            }
        }
        for (track, open) in open {
            assert!(open.is_empty(), "{}: {open:?} never ends", self.tracks[&track].name);
        }
    }

    /// Returns the names from the outermost track to this one, separated by ` / `.
    ///
    /// # Panics
    ///
    /// If this track or one of its parents isn't in the trace.
    pub fn path(&self, track: u64) -> String {
        let track = &self.tracks[&track];
        match track.parent {
            Some(parent) => format!("{} / {}", self.path(parent), track.name),
            None => track.name.clone(),
        }
    }

    /// Returns the slices of a track.
    pub fn slices_of(&self, track: u64) -> impl Iterator<Item = &Slice> {
        self.slices.iter().filter(move |slice| slice.track == track)
    }

    /// Returns the flows, as pairs of indices of slices.
    ///
    /// # Panics
    ///
    /// If a flow has more or less than two ends, or goes back in time.
    pub fn flows(&self) -> Vec<(usize, usize)> {
        let mut flows: BTreeMap<u64, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (index, slice) in self.slices.iter().enumerate() {
            slice.flows.0.iter().for_each(|flow| flows.entry(*flow).or_default().0.push(index));
            slice.flows.1.iter().for_each(|flow| flows.entry(*flow).or_default().1.push(index));
        }
        let ends = flows.into_values().map(|ends| match (&ends.0[..], &ends.1[..]) {
            (&[from], &[to]) if from < to => (from, to),
            other => panic!("a flow from and to {other:?}"),
        });
        ends.collect()
    }

    /// Summarizes the trace, to compare it with what another reader found: the values of each counter, the number of
    /// flows, and for each track the number of slices, the sum of their lengths, and the sum of their `own_ns`.
    pub fn summary(&self) -> serde_json::Value {
        let mut slices: BTreeMap<String, [u64; 3]> = BTreeMap::new();
        for slice in &self.slices {
            let sums = slices.entry(self.path(slice.track)).or_default();
            sums[0] += 1;
            sums[1] += slice.time_ns.1 - slice.time_ns.0;
            if let Some(Argument::Number(own_ns)) = slice.arguments.get("own_ns") {
                sums[2] += own_ns;
            }
        }
        let counters = self.counters.iter().map(|(track, values)| (self.path(*track), values));
        let counters: BTreeMap<_, _> = counters.collect();
        serde_json::json!({ "slices": slices, "counters": counters, "flows": self.flows().len() })
    }
}

impl Event {
    fn read(bytes: &[u8], at_ns: u64, interned: &Interned) -> Self {
        let event = Fields::read(bytes, &[3, 4, 9, 10, 11, 30, 47, 48]);
        let named = |field: u32, number: u64| match interned.get(&(field, number)) {
            Some(name) => name.clone(),
            None => panic!("{number} of {field} isn't interned"),
        };
        let kind = event.number(9).expect("a type");
        let (name, category) = (event.number(10), event.number(3));
        assert_eq!(name.is_some(), kind == 1 || kind == 3, "{event:?}");
        let arguments = event.all(4).map(|argument| {
            let argument = Fields::read(argument.bytes(), &[1, 2, 3, 17]);
            let name = named(3, argument.number(1).expect("its name"));
            let value = match (argument.number(2), argument.number(3), argument.number(17)) {
                (Some(value), None, None) => Argument::Bool(value == 1),
                (None, Some(number), None) => Argument::Number(number),
                (None, None, Some(text)) => Argument::Text(named(29, text)),
                other => panic!("{name} is {other:?}"),
            };
            (name, value)
        });
        let fixed = |field| event.all(field).map(Value::fixed).collect();
        let track = event.number(11).expect("a track");
        let slice = Slice {
            track,
            name: name.map_or_else(String::new, |name| named(2, name)),
            category: category.map_or_else(String::new, |category| named(1, category)),
            time_ns: (at_ns, at_ns),
            depth: 0,
            arguments: arguments.collect(),
            flows: (fixed(47), fixed(48)),
        };
        Self { at_ns, kind, track, counter_value: event.number(30), slice }
    }
}
