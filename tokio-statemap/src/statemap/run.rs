//! The description of a run, beyond its rows, in definitions of separate tags.
//!
//! A renderer takes a definition for the meaning of its tag, whatever members it has, and no datum has these tags. (The
//! reference renderer copies all definitions into its SVG, and lists those of a state next to it when it is clicked:
//! these are of the last state, which has no tags.) The first, [`TAG`], follows the metadata and has the facts about
//! the whole run. Those behind it are parts, [`TAG`] and a number from 1: lists, which continue from one part to the
//! next.
//!
//! | member | entries |
//! | --- | --- |
//! | `gaps` | `[from, to]` of a time of which nothing is known: recording was stopped, or it is before `recentNs` |
//! | `handovers` | `[thread, time, worker]`: `block_in_place` handed the worker over |
//! | `blockingThreads` | `[thread, started, stopped]`, the last `null` if unknown |
//! | `parks` | the number of parks of each worker, in the order of the rows |
//! | `data` | not a list: the number of data before this part, and behind the last one, that it describes |
//! | `apart` | `[datum, ns]`: the index of one of these data, from 0, and its distance to the one before: see below |
//! | `ranOn` | `[thread, worker]`, the last `null` for a thread that is no worker |
//! | `polls` | in pairs: an index into `ranOn`, and the number of successive `running` data that it is for |
//! | `wokenBy` | `[who, polls]`: who woke the task, and the number of successive `running` data that it is for: see below |
//! | `cut` | `[poll, side]`: the index of one of these polls, from 0; left is 1, right is 2, in sum |
//! | `parents` | `[parent, tasks]`: an id, `main` … or `null`, and the number of successive tasks that it is for |
//! | `causes` | `[thread, start, onCpu, blocked, runDelay, stolen, majorFaults, unknown]` of a long poll |
//! | `functions` | `[function, file, line, origin]`, each once; file and line are `null` if unknown |
//! | `profile` | `[name, file, line, column, calls, completed, cancelled, polls, total, own, ended]`: see below |
//! | `requests` | `[name, target, fields, count, times, total, running, own, parts, slowest]`: see below |
//! | `requestSpans` | `[request, task, opened, parts]`: see below |
//! | `waits` | `[wait, [[function, caller, name, call], …]]`: see below |
//! | `chains` | `[[[address, function, …], …], [[name, file, line], …]]`: see below |
//! | `unnamed` | `[wait, [chain, …]]`: see below |
//! | `names` | `[task, name]` of a task with a name |
//! | `carried` | `[task, since]` of a task that has waited since before the run's first data, or, at the end, since a gap after its last poll |
//! | `localTasks` | `[id, polledIn, [file, line, column], name, since, wait, wokenBy]` of a task of a `LocalSet`: see below |
//! | `calls` | `[task, [[entered, arguments], …]]`: the instrumented calls that it waits in at the end |
//! | `samples` | `[thread, pollStart, at, blockedIn, isComplete, functions]`: see below |
//! | `beside` | the same as `samples`: what another thread did while a poll waited for a lock; at the end of the run, where tasks wait for the blocking pool, what its threads did |
//! | `cpu` | `[samples, cpu, functions]` of a stack that polls computed in: see below |
//! | `runLocations` | `[place, isRoot, tasks, workerPolls, held, offWorker, longPolls, longHeld, readySum, polls, ready]`: see below |
//! | `runLongest` | `[task, location, start, length, worker, isCut]` of one of the run's longest polls: see below |
//! | `runStretches` | `[held, polls, longest, longestAt, spawned, terminated]`: see below |
//! | `runWorkers` | `[index, running, parked, parks, polls]` of a worker in the whole run |
//! | `runStopped` | `[from, to]` of a time in which recording was stopped, in the whole run: see below |
//!
//! In `wokenBy`, `who` is a task, as in `parents`, `"runtime"`, `"blocking"` for a blocking task, `"thread"`, or `null`
//! if it isn't known. A part has the list for all of its polls, or for none of them.
//!
//! Causes are sorted by thread and start. The times of a cause, in ns, add up to the length of its poll. Samples are
//! sorted by thread, start and time. Their `blockedIn` is `null` if the thread wasn't blocked, and their functions, the
//! innermost first, are indices into `functions` of this part and those before. Only tasks have causes and samples.
//!
//! The first definition leaves out values that are zero or unknown. `version` is that of the program. `runDelayNs` and
//! `stolenNs` were taken from the threads' time by the machine. `cpuLimit` is `[millis, stops, stoppedNs]`. `clock` has
//! changes of the clock: `[jumps, jumpedNs, wentBack, lostSource]`. `stacks` tells whether samples were taken.
//! `droppedSamples` is the number of missing samples; `noStacks` counts samples without functions by reason: `{reason:
//! samples, …}`. Its `rareLooks` counts looks at threads that came later than usual. `exhaustedPool` is `[threads, mostWaiting, waitedNs, longestNs, tasks, ranNs, otherLocations,
//! location]` of the blocking pool, with a location of `[file, line, column]` or `null`. `poolQueue` has `[time,
//! waiting]` for each change of that pool's queue. All of these are of the whole run, even in a part of it.
//!
//! If `recentNs` is there, the last events are kept from then on; data before it surrounds the longest polls of the
//! run.
//!
//! `cpu` has the number of samples in which a stack was seen, and the CPU time for which they stand. Its functions are
//! like those of samples. An empty list stands for all other stacks, and `null` for those outside of polls. It is of
//! the whole run, even in a part of it. Only tasks have the list.
//!
//! The profile is of calls of async functions, in a part of the run still those of the whole. `ended` is `null`, or the
//! total, own and waiting times of a call, each as `[mean, p50, p90, p99, longest]`. If there is a profile, the first
//! definition has `profile`, too: `[recorded, workers, uncountedCalls]`. Only tasks have the list.
//!
//! The requests are what spans of `tracing` took, also those of the whole run. `times` is `[mean, p50, p90, p99, longest]`.
//! `parts` are those of the spans whose surroundings are kept, and `slowest` those of the slowest of these: `[spans, length,
//! running, ready, waiting, elsewhere, unknown, [[state, place, length], …]]`, of which the five times before the places
//! add up to `length`. If there are requests, the first definition has `requests`, too: `[open, cut, lost]`, the spans that
//! aren't in the list. `requestSpans` has the longest spans of each, at most ten, the longest first: the index in
//! `requests`, the task that was in the span last or `null`, the time when the span opened, and its own parts. Only tasks
//! have the two lists.
//!
//! If older events were dropped, the first definition has `wholeRun`, the sums of all recorded events: `[begin, end,
//! recorded, tasks, polls, cutPolls, runningPolls, missedEvents, stretch]`. The lists that begin with `run` belong to
//! it. A location's `place` is `[file, line, column]` or `null`. Its `polls` and `ready` are histograms, in pairs: the
//! difference between the bound of a step and the one before, and the number of values in the step. The longest polls
//! are sorted by falling length. Their `location` and the `longestAt` of stretches are indices into `runLocations`;
//! `longestAt` is `null` if no poll began. A stretch is `stretch` ns long, the first begins at `begin`; there are at
//! most 2000 stretches and 1000 longest polls. A `runStopped` of `[from, to, recorded, periods]` stands for several
//! periods, with the recorded time between them; there are at most 1000. Both files have `runStopped`, only workers
//! `runWorkers`, and only tasks the others. A part of the run has none of them.
//!
//! A wait is the functions that a task waits in. Each has its index in `functions`, the position in this list of its
//! caller (`null` for the outermost), and the name of the call and its index among the instrumented calls, or `null`.
//! The tags of the state `waiting` have its number as `wait`, and its lines as `waitsAt`; 16383 is for a task whose
//! waker nothing took. The first definition has `waitsNotKept`, the number of waits with unknown functions, if there
//! are any.
//!
//! A task of a `LocalSet` waits in polls of the task `polledIn`. Its spawn location is `null` if it isn't known. So is who
//! woke it last.
//!
//! A program without symbols knows the functions that its tasks wait in only by address, and can't tell which of them
//! to name. So it writes whole `chains`, and their indices for each wait (`unnamed`). The addresses of a chain are
//! numbers that tell them apart, the innermost first, each with the indices of its functions, the inlined ones first.
//! Behind them are the instrumented calls, the outermost first.
//!
//! Times are those of the run. A number over 2^53 is a string of digits.
//!
//! Two changes of an entity at the same time are written 1 ns apart. So a datum that is 1 ns after the one before is at
//! the same time, unless `apart` says otherwise.

use crate::config::TraceTarget;
use crate::trace::timeline::{FrameOrigin, SamplingState};

/// The tag of the first definition. The tag of a part has a space and its number behind it.
pub(super) const TAG: &str = "tokio-statemap";
/// The version of the description.
pub(super) const FORMAT: u64 = 1;
/// The largest whole number that any reader of JSON distinguishes from its neighbours.
pub(super) const LARGEST_NUMBER: u64 = 1 << 53;
/// The largest value in `apart`. No clock is so coarse that a distance can be larger.
pub(super) const MOST_APART: u64 = 255;

/// The waker of a task, if it was no task.
pub(super) const RUNTIME: &str = "runtime";
pub(super) const BLOCKING: &str = "blocking";
pub(super) const THREAD: &str = "thread";

pub(super) fn trace_target_name(target: TraceTarget) -> &'static str {
    match target {
        TraceTarget::Tasks => "tasks",
        TraceTarget::Workers => "workers",
        TraceTarget::Both => "both",
        TraceTarget::None => "none",
    }
}

pub(super) fn sampling_name(state: SamplingState) -> &'static str {
    match state {
        SamplingState::On => "on",
        SamplingState::Off => "off",
        SamplingState::NotBuilt => "notBuilt",
        SamplingState::NotSupported => "notSupported",
    }
}

pub(super) fn origin_name(origin: FrameOrigin) -> &'static str {
    match origin {
        FrameOrigin::Program => "program",
        FrameOrigin::Dependency => "dependency",
        FrameOrigin::Std => "std",
        FrameOrigin::Runtime => "runtime",
        FrameOrigin::System => "system",
    }
}
