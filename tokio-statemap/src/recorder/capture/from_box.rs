//! A capture from a black box: what a capture of its recorder would have had in the last round.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::recorder::black_box::format::{
    ChainInBox, Change, Cpu, Head, MAGIC, Module, Place, Round,
};
use crate::recorder::black_box::journal::{cut_gap, next_frame, note_windows};
use crate::recorder::black_box::{is_begin_of_box, lives, open, paths};
use crate::recorder::calls::Function;
use crate::recorder::capture::{Calls, Capture, SourcePlace, up_to_end};
use crate::recorder::chains::table::{Chain, Places};
use crate::recorder::clock::{Piece, TickScale};
use crate::recorder::lost::Lost;
use crate::recorder::memory::Memory;
use crate::recorder::memory::eviction::Eviction;
use crate::recorder::record::Record;
use crate::recorder::store::segment::{Segment, events_of, last_event};
use crate::recorder::store::tap::{TappedRun, segments};
use crate::recorder::watch::cpu::CpuSamples;
use crate::recorder::watch::{Sample, Samples};
use crate::recorder::window::Windows;
use crate::util::map::Map;
use crate::util::plain::{Bytes, Plain};

/// A black box that was read.
#[derive(Debug)]
pub(crate) struct Boxed {
    pub(crate) capture: Capture,
    pub(crate) pid: u32,
    pub(crate) program: Option<String>,
    /// `true` if the process lives; `None` if that can't be known.
    pub(crate) lives: Option<bool>,
    pub(crate) modules: Vec<Module>,
}

/// The most bytes of a file that are read.
const MOST_BYTES: u64 = 4 << 30;

/// The most windows, some more than a recorder keeps one by one.
const MOST_WINDOWS: usize = 1 << 14;

/// No program runs for longer, from the beginning of the era.
const MOST_UTC: Duration = Duration::from_secs(1 << 40);

/// The number of times that a box is read while its process changes files.
const ATTEMPTS: usize = 5;

/// Reads the box of which `path` is a file, while its process runs or afterwards.
///
/// The error says what is wrong.
pub(crate) fn read(path: &Path) -> Result<Boxed, String> {
    let both = paths(path);
    let paths: Vec<&Path> = match &both {
        Some([first, second]) => vec![first, second],
        None => vec![path],
    };
    for attempt in 1..=ATTEMPTS {
        let mut contents = Vec::new();
        let mut problem = None;
        for path in &paths {
            match bytes(path).and_then(|bytes| content(&bytes)) {
                Ok(content) => contents.push(content),
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        contents.sort_by_key(|content| content.head.number);
        if let [older, newer] = &contents[..] {
            let is_next = older.head.number + 1 == newer.head.number;
            let is_whole = older.rounds_up_to() == Some(newer.head.rounds_before);
            if !is_next || !is_whole {
                // It went on to another file meanwhile, or the end of the older one is damaged.
                if is_next && attempt < ATTEMPTS {
                    continue;
                }
                let has_newer = !newer.rounds.is_empty();
                contents.remove(usize::from(!has_newer));
            }
        }
        if contents.iter().all(|content| content.rounds.is_empty()) {
            let damaged =
                "nothing can be read from it: the process ended too early, or it is damaged";
            return Err(problem.unwrap_or_else(|| damaged.to_owned()));
        }
        return boxed(contents, lives(path)).ok_or_else(|| "it is damaged".to_owned());
    }
    Err("its process changes files too fast; try again".to_owned())
}

/// The content of a file.
struct Content {
    head: Head,
    memory: Memory,
    eviction: Eviction,
    rounds: Vec<Round>,
}

impl Content {
    /// Returns the number of rounds in this and in all earlier files.
    fn rounds_up_to(&self) -> Option<u64> {
        self.head.rounds_before.checked_add(self.rounds.len() as u64)
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let unread = |error: std::io::Error| format!("can't be read: {error}");
    let file = open(path).map_err(unread)?;
    let found = file.metadata().map_err(unread)?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(
            "this is no file of a black box: it isn't a regular file of at most 4 GB".to_owned()
        );
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}

fn content(bytes: &[u8]) -> Result<Content, String> {
    let mut from = Bytes(bytes);
    if from.take(MAGIC.len()) != Some(&MAGIC) {
        if bytes.is_empty() {
            return Err(
                "nothing was written to it: the process ended at once, or there was no room"
                    .to_owned(),
            );
        }
        return Err(match is_begin_of_box(bytes) {
            true => "this black box is of another version of tokio-statemap".to_owned(),
            false => "this is no black box: its first 16 bytes are others".to_owned(),
        });
    }
    let mut head =
        Bytes(next_frame(&mut from).ok_or("its first part, from byte 16 on, isn't whole")?);
    let read = <(Head, Memory, Eviction)>::read(&mut head);
    let (head, memory, eviction) = read.ok_or("its first part, from byte 16 on, is damaged")?;
    let mut rounds = Vec::new();
    // What is cut off there was being written when the process ended.
    while let Some(frame) = next_frame(&mut from) {
        let Some(round) = Round::read(&mut Bytes(frame)) else { break };
        rounds.push(round);
    }
    Ok(Content { head, memory, eviction, rounds })
}

/// The state up to the last round that was read.
#[derive(Default)]
struct State {
    records: Vec<Record>,
    runs: Vec<TappedRun>,
    windows: Windows,
    pieces: Vec<Piece>,
    steal: Vec<(u64, u64)>,
    locations: Vec<Place>,
    roots: Vec<Option<Place>>,
    names: Vec<String>,
    chains: Vec<ChainInBox>,
    waits: Vec<Vec<u32>>,
    samples: Vec<Sample>,
    beside: Vec<Sample>,
    cpu: Cpu,
    modules: Vec<Module>,
    missed: u64,
    /// The moment of the last round.
    now: u64,
    last: Round,
}

impl State {
    fn add(&mut self, mut round: Round) -> Option<()> {
        self.records.append(&mut round.records);
        self.runs.append(&mut round.runs);
        note_windows(&mut self.windows, &round.windows);
        if round.missed > 0 {
            cut_gap(&mut self.windows, self.now, round.now);
        }
        if self.windows.all.len() > MOST_WINDOWS {
            return None;
        }
        self.now = round.now;
        apply(&mut self.pieces, &mut round.pieces)?;
        apply(&mut self.steal, &mut round.steal)?;
        apply(&mut self.locations, &mut round.locations)?;
        apply(&mut self.roots, &mut round.roots)?;
        apply(&mut self.names, &mut round.names)?;
        apply(&mut self.chains, &mut round.chains)?;
        apply(&mut self.waits, &mut round.waits)?;
        apply(&mut self.samples, &mut round.samples)?;
        apply(&mut self.beside, &mut round.beside)?;
        if let Some(cpu) = round.cpu.take() {
            self.cpu = cpu;
        }
        if let Some(modules) = round.modules.take() {
            self.modules = modules;
        }
        self.missed = self.missed.checked_add(round.missed)?;
        self.last = round;
        Some(())
    }
}

fn apply<T>(to: &mut Vec<T>, change: &mut Change<T>) -> Option<()> {
    if change.keep > to.len() {
        return None;
    }
    to.truncate(change.keep);
    to.append(&mut change.then);
    Some(())
}

fn boxed(contents: Vec<Content>, lives: Option<bool>) -> Option<Boxed> {
    let mut state = State::default();
    let mut first = None;
    for Content { head, memory, eviction, rounds } in contents {
        if first.is_none() {
            state.windows = head.windows.clone();
            state.now = head.from;
        }
        first.get_or_insert((head, memory, eviction));
        for round in rounds {
            state.add(round)?;
        }
    }
    let (Head { origin, dropped_before, .. }, memory, mut eviction) = first?;
    let State { records, runs, windows, last: round, .. } = state;
    if windows.all.is_empty() {
        return None;
    }
    memory.live_tasks.window_is_one_of(&windows.all)?;
    let are_in_order = windows.all.is_sorted_by(|a, b| a.from <= b.from)
        && windows.all.iter().all(|window| window.to.is_none_or(|to| to >= window.from));
    if !are_in_order || origin.utc_at_zero > MOST_UTC {
        return None;
    }
    let mut segments = segments(&records, &runs)?;
    drop(records);
    segments.append(&mut eviction.staged);
    Segment::sort_in_order(&mut segments);
    let mut texts = Texts::default();
    let scale = TickScale::of_box(state.pieces, round.rate?)?;
    let (up_to_end, end) = up_to_end(&windows.all, last_event(&segments), round.now);
    let stored = events_of(&segments);
    let mut capture = Capture {
        lost: Lost {
            refused_events: round.refused,
            dropped_events: dropped_before.checked_add(state.missed)?,
            reentrant_events: round.reentrant,
        },
        config: origin.config,
        runtime: origin.runtime,
        version: origin.version,
        utc_at_zero: origin.utc_at_zero,
        scale,
        zero: origin.zero,
        windows: up_to_end,
        recorded: Vec::new(),
        windows_before: windows.before.clone(),
        begin: origin.zero,
        detail: origin.zero,
        end,
        pinned: Vec::new(),
        ended: Vec::new(),
        root_locations: state.roots.iter().map(|at| Some(texts.place(at.as_ref()?))).collect(),
        locations: state.locations.iter().map(|at| texts.place(at)).collect(),
        samples: Samples {
            all: state.samples,
            beside: state.beside,
            dropped: round.dropped_samples,
            no_stacks: round.no_stacks,
        },
        cpu: CpuSamples {
            stacks: state.cpu.stacks.into_iter().map(|(stack, n)| (stack.into(), n)).collect(),
            others: state.cpu.others,
        },
        cpu_limit: round.cpu_limit,
        steal: state.steal,
        clock: round.account,
        waiting: Vec::new(),
        local: Vec::new(),
        places: Places {
            chains: state.chains.iter().map(|chain| texts.chain(chain)).collect(),
            waits: state.waits.into_iter().map(Into::into).collect(),
            not_kept: round.not_kept,
        },
        sees_wakers: round.sees_wakers,
        misses_ready_times: round.misses_ready_times,
        names: state.names.into_iter().map(Arc::from).collect(),
        calls: Calls { functions: Vec::new(), uncounted: 0, recorded: 0, workers: 0 },
        #[cfg(feature = "tracing")]
        spans: crate::recorder::spans::SpansSeen::default(),
        memory,
        segments,
    };
    // It has no more than it should have.
    capture.limit((stored, u64::MAX), round.is_full, end, &windows.all);
    let all = eviction.pinned.iter().map(Arc::clone);
    // A record that was written late may be from before a pinned window.
    let (pinned, late): (Vec<_>, Vec<_>) = all.partition(|pin| pin.from < capture.begin);
    if pinned.first().is_some_and(|first| first.from < capture.zero) {
        return None;
    }
    for pin in late {
        let dropped = &mut capture.lost.dropped_events;
        *dropped = dropped.checked_add(pin.events)?;
    }
    capture.add_pinned(&pinned, eviction.done_until(), &eviction.pinned.ended());
    Some(Boxed { capture, pid: origin.pid, program: origin.program, lives, modules: state.modules })
}

/// Texts that live as long as this process, as those of a program do.
#[derive(Default)]
struct Texts(Map<String, &'static str>);

impl Texts {
    fn text(&mut self, text: &str) -> &'static str {
        self.0.get_or_insert_with(text.to_owned(), || String::leak(text.to_owned()))
    }

    fn place(&mut self, place: &Place) -> SourcePlace {
        SourcePlace { file: self.text(&place.file), line: place.line, column: place.column }
    }

    fn chain(&mut self, ChainInBox { addresses, calls }: &ChainInBox) -> &'static Chain {
        let mut functions: Vec<&'static Function> = Vec::new();
        for (name, file, line) in calls {
            let function = Function::named(self.text(name), self.text(file), *line, 0);
            functions.push(Box::leak(Box::new(function)));
        }
        Box::leak(Box::new(Chain::of_box(addresses, functions)))
    }
}
