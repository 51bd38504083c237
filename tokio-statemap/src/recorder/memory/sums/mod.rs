//! The sums of the whole run: what tasks and workers did, per spawn location, per worker, and per stretch of time.
//!
//! Records that leave the store are added up before they are dropped
//! ([`LiveTasks::update`](super::live_tasks::LiveTasks)). A capture adds the records that are still there to a copy, so
//! that nothing counts twice or is missing. The memory is bounded by the number of spawn locations. All sums are in
//! ticks, so that the result doesn't depend on how many parts they are added up in.

#[cfg(has_black_box)]
mod boxed;
mod histogram;
mod location;
mod longest;
mod records;
mod rows;
mod stretches;
#[cfg(test)]
mod tests;
mod thread;
mod usual;
mod windows;
mod worker;

use crate::recorder::memory::by_window::Runs;
use crate::recorder::memory::live_tasks::LiveTasks;
pub(crate) use crate::recorder::memory::sums::histogram::Histogram;
pub(crate) use crate::recorder::memory::sums::location::{Key, LocationSums};
pub(crate) use crate::recorder::memory::sums::longest::{Longest, LongestPoll};
pub(crate) use crate::recorder::memory::sums::stretches::Stretches;
use crate::recorder::memory::sums::thread::Thread;
use crate::recorder::memory::sums::worker::Claim;
pub(crate) use crate::recorder::memory::sums::worker::WorkerSums;
use crate::recorder::record::reader::OpenPoll;
use crate::recorder::store::segment::StreamId;
use crate::recorder::window::Window;
use crate::util::heapsort::heapsort;

/// The sums so far. Times are in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    /// Per spawn location.
    pub(crate) rows: Vec<LocationSums>,
    /// The place in `rows` of each location, plus one.
    by_location: Vec<u32>,
    /// The place in `rows` of tasks that were polled recently.
    recent: Option<Box<Recent>>,
    /// By their indices.
    pub(crate) workers: Vec<(u32, WorkerSums)>,
    pub(crate) stretches: Stretches,
    pub(crate) longest: Longest,
    /// The number of polls that began before what was recorded, or continued after it.
    pub(crate) cut_polls: u64,
    /// The number of events that were missed before the sums began anew.
    pub(crate) missed_before: u64,
    /// The number of polls that still ran at the end. It is known only once [finished](Self::finish).
    pub(crate) running_polls: u64,
    /// These polls, with their lengths up to then.
    pub(crate) running: Vec<LongestPoll>,
    /// The number of spawned tasks that lived at the end, or may have. It is known only once finished, too.
    pub(crate) live_tasks: u64,
    /// By their streams.
    threads: Vec<(StreamId, Box<Thread>)>,
    /// The place of the window that was added up last, among the windows that are kept.
    window: usize,
    has_begun: bool,
    /// The time at which that window began.
    window_from: u64,
    /// The time when the sums began anew, in ticks: what workers did before isn't added up.
    reset_at: u64,
    /// Longer polls are long, in ticks. No poll is until this is [known](Self::expect_long_poll).
    long_poll: u64,
    /// `true` if the records that are added up now count. Records that were there at a reset, and hadn't been added up,
    /// don't count. They still tell which polls go on, and which thread is which worker.
    counts: bool,
    /// The claims of the batch that is added up; kept for its memory, as hooks evict.
    claims: Vec<Claim>,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            by_location: Vec::new(),
            recent: None,
            workers: Vec::new(),
            stretches: Stretches::default(),
            longest: Longest::default(),
            cut_polls: 0,
            missed_before: 0,
            running_polls: 0,
            running: Vec::new(),
            live_tasks: 0,
            threads: Vec::new(),
            window: 0,
            has_begun: false,
            window_from: 0,
            reset_at: 0,
            long_poll: UNKNOWN,
            counts: true,
            claims: Vec::new(),
        }
    }
}

/// No poll is this long.
const UNKNOWN: u64 = u64::MAX;

const RECENT: usize = 256;
type Recent = [(u64, u32); RECENT];

impl Sums {
    /// Sets the length from which on a poll is long, in ticks, unless it was set before. It stays the same though the
    /// clock's rate gets better known, so that it doesn't matter in how many parts polls are added up.
    pub(crate) fn expect_long_poll(&mut self, ticks: &dyn Fn() -> u64) {
        if self.long_poll == UNKNOWN {
            self.long_poll = ticks();
        }
    }

    /// Adds up these records, those of each stream in order. They are of the window `window`, and `live_tasks` was
    /// updated from them, except for the tasks that ended.
    ///
    /// Inlined, as hooks evict, and the stack of a hook is bounded; each step is a function of its own for the same
    /// reason.
    #[inline(always)]
    pub(super) fn add(
        &mut self,
        runs: Runs<'_>,
        live_tasks: &LiveTasks,
        windows: &[Window],
        window: usize,
    ) {
        self.enter_window(window, windows);
        for (stream, records) in runs {
            self.add_stream(stream, records, live_tasks);
        }
        self.apply_claims();
        self.apply_roles(live_tasks);
    }

    /// Ends the time for which open polls held workers, if these moved to other threads.
    #[inline(never)]
    fn apply_roles(&mut self, live_tasks: &LiveTasks) {
        for role in live_tasks.roles() {
            for (stream, thread) in &mut self.threads {
                for OpenPoll { start, more, .. } in &mut thread.state.polls {
                    let is_its = *stream != role.stream && more.worker == Some(role.worker);
                    if is_its && role.at > *start {
                        more.held_until = Some(more.held_until.unwrap_or(role.at).min(role.at));
                    }
                }
            }
        }
    }

    /// Applies the claims of threads, in the order of time.
    #[inline(never)]
    fn apply_claims(&mut self) {
        let mut claims = std::mem::take(&mut self.claims);
        for (number, claim) in (0..).zip(&mut claims) {
            claim.number = number;
        }
        let order = |claim: &Claim| (claim.worker, claim.at, claim.number);
        heapsort(&mut claims, &|a, b| order(a) < order(b));
        let from = self.window_from.max(self.reset_at);
        for &claim in &claims {
            self.worker(claim.worker).claimed(claim, from);
        }
        claims.clear();
        self.claims = claims;
    }

    /// Returns when the sums began anew, in ticks; 0 if they never did.
    pub(crate) fn reset_at(&self) -> u64 {
        self.reset_at
    }

    /// Returns the time from which on records are added up, in ticks.
    pub(crate) fn from(&self) -> u64 {
        self.stretches.from
    }
}
