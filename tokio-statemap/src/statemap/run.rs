//! What a run's data says beyond its rows, in definitions of tags of its own.
//!
//! A renderer takes a definition for what its tag means, whatever members it has, and these tags are
//! borne by no datum. (The reference renderer copies all definitions into its SVG, and lists those of a
//! state next to it when it is clicked: these are of the last state, which bears no tags.) The first, [`TAG`], stands right behind the metadata and says what is to be known
//! of the whole run. Those behind it are parts, [`TAG`] and a number from 1: lists, which go on from one
//! part to the next.
//!
//! | member | what each entry is |
//! | --- | --- |
//! | `gaps` | `[from, to]` of a stretch of which nothing is known: recording was stopped, or it is before `recentNs` |
//! | `handovers` | `[thread, time, worker]`: `block_in_place` gave the worker away |
//! | `blockingThreads` | `[thread, started, stopped]`, the last `null` if that wasn't seen |
//! | `parks` | how often a worker parked: of each worker in the order of the rows |
//! | `data` | not a list: how many data before this part, and behind the last one, it tells of |
//! | `apart` | `[datum, ns]`: which of these data, from 0, and how long after the one before: see below |
//! | `ranOn` | `[thread, worker]`, the last `null` of a thread that is no worker |
//! | `polls` | by twos: an index into `ranOn`, and how many `running` data in a row it is for |
//! | `cut` | `[poll, where]`: which of these polls, from 0; on the left 1, on the right 2, in sum |
//! | `parents` | `[parent, tasks]`: an id, `main` … or `null`, and of how many tasks in a row |
//! | `causes` | `[thread, start, onCpu, blocked, runDelay, stolen, majorFaults, unknown]` of a long poll |
//! | `functions` | `[function, file, line, origin]`, each once; file and line are `null` if unknown |
//! | `profile` | `[name, file, line, column, calls, completed, cancelled, polls, total, own, ended]`: see below |
//! | `waits` | `[wait, [[function, caller, name, call], …]]`: see below |
//! | `chains` | `[[[address, function, …], …], [[name, file, line], …]]`: see below |
//! | `unnamed` | `[wait, [chain, …]]`: see below |
//! | `names` | `[task, name]` of a task that was given one |
//! | `carried` | `[task, since]` of one that has waited since before the run's first data |
//! | `localTasks` | `[id, polledIn, [file, line, column], name, since, wait]` of a `LocalSet` |
//! | `calls` | `[task, [[entered, arguments], …]]`: the instrumented calls that it waits in at the end |
//! | `samples` | `[thread, pollStart, at, blockedIn, isComplete, functions]`: see below |
//! | `runLocations` | `[place, isRoot, tasks, workerPolls, held, offWorker, longPolls, longHeld, readySum, polls, ready]`: see below |
//! | `runLongest` | `[task, location, start, length, worker, isCut]` of one of the run's longest polls: see below |
//! | `runStretches` | `[held, polls, longest, longestAt, spawned, terminated]`: see below |
//! | `runWorkers` | `[index, running, parked, parks, polls]` of a worker in the whole run |
//! | `runStopped` | `[from, to]` of a time in which recording was stopped, in the whole run: see below |
//!
//! The causes are by thread and start, and those of a poll, in ns, add up to its length. The samples are
//! by thread, start and time; `blockedIn` is `null` of a thread that wasn't blocked, and the functions
//! are indices into `functions` of this part and those before, the innermost first. Only tasks have them.
//!
//! The first definition leaves out what is zero or unknown: `version`, that of the program; `runDelayNs` and `stolenNs`, which the
//! machine took of the threads' time; `cpuLimit`, which is `[millis, stops, stoppedNs]`; `clock`, what became
//! of it: `[jumps, jumpedNs, wentBack, lostSource]`; `stacks`, which says whether samples were taken;
//! `droppedSamples`, how many are missing; `noStacks`, how many have no functions, by reason:
//! `{reason: samples, …}`;
//! `exhaustedPool`, which is `[threads, mostWaiting, waitedNs, longestNs, tasks, ranNs, otherLocations,
//! location]` of the blocking pool, with a location of `[file, line, column]`, or `null`;
//! `poolQueue`, `[time, waiting]` for each change of that pool's queue. They are those of the whole run in a part of
//! it, too.
//!
//! If `recentNs` is there, the last events are kept from then on; what is before it is around the longest polls of
//! the run.
//!
//! The profile is of calls of async functions, and the same in a part of the run. `ended` is `null`, or
//! the total, own and waiting times of a call, each as `[mean, p50, p90, p99, longest]`. The first
//! definition has `profile`, too, if there is one: `[recorded, workers, uncountedCalls]`. Only tasks have
//! the list.
//!
//! If older events were dropped, the first definition has `wholeRun`: `[begin, end, recorded, tasks, polls, cutPolls,
//! runningPolls, missedEvents, stretch]`, the sums of all that was recorded. The lists that begin with `run` are of it, too. A
//! location's `place` is `[file, line, column]`, or `null`; `polls` and `ready` are histograms, by twos: how much greater
//! the bound of a step is than that of the one before, and how many values are in the step. The longest polls are by
//! falling length; their `location` is an index into `runLocations`, and so is the `longestAt` of stretches, which is `null`
//! where no poll began. A stretch is `stretch` ns long, the first begins at `begin`; there are at most 2000 of them, and 1000
//! longest polls. A `runStopped` that is `[from, to, recorded, periods]` stands for several periods, with what was recorded
//! between them; there are at most 1000. Both have `runStopped`, only workers `runWorkers`, and only
//! tasks the others. A part of the run has none of it.
//!
//! A wait is the functions that a task waits in: of each its index in `functions`, the place in this list of
//! what awaits it (`null` of the outermost), the name of the call and its index among the instrumented
//! calls, or `null`. The tags of the state `waiting` have its number as `wait`, and its lines as `waitsAt`;
//! 16383 is that of a task whose waker nothing took. The first definition has `waitsNotKept`, the number of
//! waits of which the functions are not known, if there are any.
//!
//! A program without symbols knows the functions that its tasks wait in by their addresses alone, and can't tell
//! which of them to name. So it writes whole `chains`, and for each wait (`unnamed`) which ones. The addresses of a
//! chain are numbers that tell them apart, the innermost first, each with the functions there, as indices: those
//! that were inlined first. Behind them are the instrumented calls, the outermost first.
//!
//! Times are those of the run. A number over 2^53 is a string of digits.
//!
//! Two changes of an entity at one time are written 1 ns apart. So a datum that is 1 ns after the one
//! before is at the same time, unless `apart` says otherwise.

use crate::config::TraceTarget;
use crate::trace::timeline::{FrameOrigin, SamplingState};

/// The tag of the first definition; that of a part has a space and its number behind it.
pub(super) const TAG: &str = "tokio-statemap";
/// The version of what they say.
pub(super) const FORMAT: u64 = 1;
/// The largest whole number that any reader of JSON tells from its neighbours.
pub(super) const LARGEST_NUMBER: u64 = 1 << 53;
/// The most that `apart` says. Nobody's clock is so coarse that there is more in between.
pub(super) const MOST_APART: u64 = 255;

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
