//! The contents of a black box.
//!
//! A box is two files, which are written in turn. Each begins with a [`Head`], what was known when the file was begun, and
//! goes on with a [`Round`] for each time that the background thread wrote to it. All of these are frames: a length, a
//! hash, and the bytes. A frame that is cut off, because the process was killed while it was written, is the end.
//!
//! Once a file is full, the other is begun anew. So there is a whole file, or a part of one and a whole one before it,
//! unless there is no room for two.

use std::time::Duration;

use crate::config::CollectorConfig;
use crate::recorder::clock::{Account, Piece, Rate};
use crate::recorder::machine::CpuLimit;
use crate::recorder::record::Record;
use crate::recorder::store::tap::TappedRun;
use crate::recorder::watch::cpu::Sampled;
use crate::recorder::watch::{BlockedIn, NoStacks, Sample};
use crate::recorder::window::{Window, Windows};
use crate::util::plain::{Plain, plain};

/// The first bytes of each file: a name, and the version of what follows.
pub(crate) const MAGIC: [u8; 16] = *b"tokio-statemap\0\x02";

/// The state at the beginning of a file. Two things follow it: the [`Memory`](crate::recorder::memory::Memory) of all earlier
/// records that were dropped, and those that are kept ([`Eviction`](crate::recorder::memory::eviction::Eviction)). These are the
/// records around the longest polls, and those of the time just before this file.
#[derive(Debug)]
pub(crate) struct Head {
    /// The number of this file, from 0: of two files the one with the higher number is the newer.
    pub(crate) number: u64,
    pub(crate) origin: Origin,
    /// The moment of the last round in an earlier file, in ticks; 0 if there is none.
    pub(crate) from: u64,
    /// The number of events that were dropped, and of rounds in earlier files.
    pub(crate) dropped_before: u64,
    pub(crate) rounds_before: u64,
    /// The windows that the memory refers to.
    pub(crate) windows: Windows,
}

/// The recorder that a box is of.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) pid: u32,
    /// The program's file.
    pub(crate) program: Option<String>,
    /// The name of the runtime, and the program's version.
    pub(crate) runtime: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) config: CollectorConfig,
    /// The time at which recording was first started, in ticks, and UTC then.
    pub(crate) zero: u64,
    pub(crate) utc_at_zero: Duration,
}

/// A list that only grows, or changes in its last part: what to keep of what was written before, and what follows.
#[derive(Debug)]
pub(crate) struct Change<T> {
    pub(crate) keep: usize,
    pub(crate) then: Vec<T>,
}

impl<T> Default for Change<T> {
    fn default() -> Self {
        Self { keep: 0, then: Vec::new() }
    }
}

/// The changes since the round before.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// The moment up to which records are complete, in ticks.
    pub(crate) now: u64,
    pub(crate) records: Vec<Record>,
    pub(crate) runs: Vec<TappedRun>,
    pub(crate) refused: u64,
    pub(crate) reentrant: u64,
    /// The number of events that the box had no room for.
    pub(crate) missed: u64,
    /// The windows that are new, or ended.
    pub(crate) windows: Vec<Window>,
    pub(crate) is_full: bool,
    pub(crate) pieces: Change<Piece>,
    pub(crate) rate: Option<Rate>,
    pub(crate) account: Account,
    pub(crate) steal: Change<(u64, u64)>,
    pub(crate) cpu_limit: Option<CpuLimit>,
    pub(crate) sees_wakers: bool,
    pub(crate) misses_ready_times: bool,
    pub(crate) locations: Change<Place>,
    pub(crate) roots: Change<Option<Place>>,
    pub(crate) names: Change<String>,
    pub(crate) chains: Change<ChainInBox>,
    pub(crate) waits: Change<Vec<u32>>,
    /// The number of waits whose place isn't kept.
    pub(crate) not_kept: u64,
    pub(crate) samples: Change<Sample>,
    pub(crate) beside: Change<Sample>,
    pub(crate) dropped_samples: u64,
    pub(crate) no_stacks: NoStacks,
    /// The samples of what polls compute, if they changed.
    pub(crate) cpu: Option<Cpu>,
    /// The program and its libraries, if they changed.
    pub(crate) modules: Option<Vec<Module>>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A chain of functions at which a task waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChainInBox {
    /// The return addresses, the innermost first.
    pub(crate) addresses: Vec<u64>,
    /// The instrumented functions: name, file, and line.
    pub(crate) calls: Vec<(String, String, u32)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) stacks: Vec<(Vec<u64>, Sampled)>,
    pub(crate) others: Sampled,
}

/// The program, or a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub(crate) path: Option<String>,
    pub(crate) is_program: bool,
    /// The difference between its addresses in memory and in the file.
    pub(crate) base: u64,
    /// Its addresses in memory: the first, and the one after the last.
    pub(crate) range: (u64, u64),
    pub(crate) build_id: Option<String>,
}

plain! {
    Head { number, origin, from, dropped_before, rounds_before, windows }
    Origin { pid, program, runtime, version, config, zero, utc_at_zero }
    Round {
        now, records, runs, refused, reentrant, missed, windows, is_full, pieces, rate, account, steal, cpu_limit,
        sees_wakers, misses_ready_times, locations, roots, names, chains, waits, not_kept, samples, beside, dropped_samples,
        no_stacks, cpu, modules,
    }
    Change<T> { keep, then }
    Place { file, line, column }
    ChainInBox { addresses, calls }
    Cpu { stacks, others }
    Module { path, is_program, base, range, build_id }
    TappedRun { stream, sequence, records }
    CpuLimit { millis, stops, stopped_ns }
    Sampled { samples, cpu_ns }
    Sample { stream, start_ticks, ticks, blocked, addresses, is_complete }
    BlockedIn { number, descriptor }
}

impl Plain for CollectorConfig {
    fn write(&self, into: &mut Vec<u8>) {
        let Self {
            buffer_capacity,
            max_events,
            keep,
            trace_target,
            include_spawn_location,
            schedule_latency,
            long_poll,
            stacks,
            wakes,
            black_box: _,
        } = self;
        (*buffer_capacity, *max_events, *long_poll).write(into);
        (*keep, *trace_target).write(into);
        (*include_spawn_location, *schedule_latency, *stacks, *wakes).write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut crate::util::plain::Bytes<'_>) -> Option<Self> {
        let (buffer_capacity, max_events, long_poll) = <_>::read(from)?;
        let (keep, trace_target) = <_>::read(from)?;
        let (include_spawn_location, schedule_latency, stacks, wakes) = <_>::read(from)?;
        Some(Self {
            buffer_capacity,
            max_events,
            keep,
            trace_target,
            include_spawn_location,
            schedule_latency,
            long_poll,
            stacks,
            wakes,
            ..Self::default()
        })
    }
}
