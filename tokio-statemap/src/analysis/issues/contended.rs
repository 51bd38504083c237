//! A line at which tasks queue: for a lock, a permit, room in a channel, or an answer.

use super::Facts;
use super::awaited::Awaited;
use super::evidence::{Evidence, Explanation, Finding};
use super::held_by::HeldBy;
use super::last_wait::LastWaits;
use super::meanwhile::Meanwhile;
use super::never_finished::{NeverFinished, WhyNever};
use super::spots::{Spot, Spots};
use super::woken_by::{Chain, WaitSet};
use crate::analysis::statement::Statement;
use crate::analysis::waits::{Holder, WaitRow, Waits, for_each_wait, line_of};
use crate::symbols::StackFrame;
use crate::trace::timeline::{Shutdown, Timeline, Wait, WaitId};
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{count, human, human_sum};

/// A line at which tasks queued for a lock, for permits, for room in a channel, or for an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contended {
    /// Where they waited for it: `src/shop.rs:17, Mutex::lock`.
    pub at: String,
    /// The number of waits.
    pub times: u64,
    /// The time that these took in sum, in ns.
    pub total_ns: u128,
    /// The longest one, in ns.
    pub longest_ns: u64,
    /// The number of tasks that waited there at the end.
    pub now: u64,
    /// For how long no wait had ended there at the end, in ns: see [`WaitRow::none_ended_for_ns`].
    pub none_ended_for_ns: Option<u64>,
    /// Other such lines at which no wait had ended for long, those with the longest waits in sum.
    pub none_ended_at: Vec<String>,
    /// Where its holders waited meanwhile, if they did so at one line for most of the time that they held it.
    pub holder: Option<Holder>,
    /// Who may hold it, if no wait ends any more.
    held_by: Option<HeldBy>,
    /// The tasks that used to end the waits, if no wait ends any more.
    chain: Option<Chain>,
    /// `true` if it is for permits, and no task is known that may have one.
    is_held_by_none: bool,
    /// The function and the line.
    frame: StackFrame,
    meanwhile: Meanwhile,
    spots: Vec<Spot>,
}

/// A wait of less than this is no reason to look at a lock.
const LONG_NS: u64 = 10_000_000;

/// The most further lines that are named.
const MOST_LINES: usize = 3;

/// So many waits for an answer must have ended before, or nobody may answer there.
const LEAST_ANSWERS: u64 = 3;

/// Finds the line, if on average one task or more waited there.
pub(super) fn find(
    timeline: &Timeline,
    facts: &Facts<'_>,
    (waits, last): (&Waits, &LastWaits<'_>),
    has_long_polls: bool,
) -> Option<Contended> {
    let shutdown = Shutdown::from_timeline(timeline);
    let places = Places::new(timeline);
    // The waits are those that are kept in detail.
    let kept_ns = u128::from(facts.recording.kept_ns());
    let is_queue = |row: &&WaitRow| places.is_queue(last, row);
    let mut rows = waits.lines.iter();
    let row = rows.find(|row| row.total_ns >= kept_ns && is_queue(row))?;
    let mut none_ended_at = Vec::new();
    let is_other = |other: &&WaitRow| {
        !std::ptr::eq(*other, row) && other.none_ended_for_ns.is_some() && is_queue(other)
    };
    for other in waits.lines.iter().filter(is_other).take(MOST_LINES) {
        none_ended_at.push(other.label());
    }
    let all = places.at(row);
    let (mut held_by, mut chain, mut is_held_by_none) = (None, None, false);
    if let Some(none_ended_for_ns) = row.none_ended_for_ns {
        let long_ns = none_ended_for_ns / 2;
        held_by = all.iter().find_map(|&(_, wait)| HeldBy::find(last, wait, long_ns));
        if held_by.is_none() {
            chain = Chain::find(timeline, shutdown, all);
            is_held_by_none = chain.is_none()
                && all.iter().all(|&(_, wait)| {
                    Awaited::queue(wait) == Some(Awaited::Permit) && !HeldBy::may_be_any(last, wait)
                });
        }
    }
    Some(Contended {
        at: row.label(),
        times: row.times,
        total_ns: row.total_ns,
        longest_ns: row.longest_ns,
        now: row.now,
        none_ended_for_ns: row.none_ended_for_ns,
        none_ended_at,
        holder: row.holder.clone(),
        held_by,
        chain,
        is_held_by_none,
        frame: row.at.clone(),
        meanwhile: Meanwhile::new(facts, has_long_polls),
        spots: spots(timeline, shutdown, all),
    })
}

/// The waits that are at one line alone, by that line.
struct Places<'a>(Map<(&'a StackFrame, Option<&'a str>), Vec<(WaitId, &'a Wait)>>);

impl<'a> Places<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        let mut by_line: Map<_, Vec<(WaitId, &'a Wait)>> = Map::default();
        for (id, wait) in timeline.all_waits() {
            if let [line] = wait.lines()[..] {
                by_line.get_or_default(line_of(line)).push((id, wait));
            }
        }
        Self(by_line)
    }

    fn at(&self, row: &WaitRow) -> &[(WaitId, &'a Wait)] {
        let is_there = |&(&line, _): &(&(&StackFrame, Option<&str>), _)| {
            line == (&row.at, row.awaits.as_deref())
        };
        self.0.iter().find(is_there).map_or(&[], |(_, waits)| waits.as_slice())
    }

    /// Returns whether tasks that wait at this line queue for something that another task must give.
    ///
    /// Channels are full where a pipeline is as fast as its slowest part, and who waits for an answer, or in a library, may do so
    /// for long: they count only if no wait ends any more.
    fn is_queue(&self, last: &LastWaits<'_>, row: &WaitRow) -> bool {
        if row.longest_ns < LONG_NS {
            return false;
        }
        if row.is_for_a_lock() {
            return true;
        }
        if row.none_ended_for_ns.is_none() {
            return false;
        }
        if row.is_for_room() || row.is_for_an_answer() && row.times - row.now >= LEAST_ANSWERS {
            return true;
        }
        let all = self.at(row);
        all.iter().any(|&(_, wait)| Awaited::queue(wait).is_some())
            // Or what is called there waits there itself.
            || all.iter().any(|&(_, wait)| Awaited::at(wait) == Awaited::Task)
                && HeldBy::is_within(last, &row.at)
    }
}

/// Returns the longest of these waits.
fn spots(timeline: &Timeline, shutdown: Shutdown, waits: &[(WaitId, &Wait)]) -> Vec<Spot> {
    let is_at = WaitSet::new(timeline, waits.iter().map(|&(id, _)| id));
    let mut spots = Spots::default();
    for task in timeline.tasks.one_by_one() {
        for_each_wait(timeline, &task, shutdown, &mut |wait, start_ns, length_ns, _| {
            if is_at.has(wait) {
                spots.add(Spot { task: task.key, start_ns, length_ns });
            }
        });
    }
    spots.longest
}

impl Contended {
    /// Returns whether it says who may have what is awaited.
    pub(super) fn names_holder(&self) -> bool {
        self.held_by.is_some() || self.chain.is_some()
    }

    /// Returns whether those tasks wait at one of its lines for what another task must release.
    pub(super) fn is_about(&self, never: &NeverFinished) -> bool {
        let mut lines = self.none_ended_at.iter().chain([&self.at]);
        never.why == WhyNever::Lock && lines.any(|at| Some(at) == never.at.as_ref())
    }

    /// Returns whether it is known that nobody's long polls are why tasks queue.
    pub(in crate::analysis) fn is_by_itself(&self) -> bool {
        self.none_ended_for_ns.is_some() || self.holder.is_some()
    }
}

impl Finding for Contended {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "queue",
            noun: "wait",
            meaning: "Tasks queued at this line for what other tasks had: a lock, a permit, room in a channel, an answer.",
            advice: "Hold no guard, permit or connection across a slow await; give all of them back; put a timeout around the wait.",
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            frame: Some(&self.frame),
            number: self.times,
            total_ns: u64::try_from(self.total_ns).unwrap_or(u64::MAX),
            spots: &self.spots,
            ..Evidence::default()
        }
    }

    fn is_certain(&self) -> bool {
        self.none_ended_for_ns.is_some()
    }

    fn statement(&self) -> Statement {
        let (at, longest) = (clean(&self.at), human(self.longest_ns));
        let mut said = match self.none_ended_for_ns {
            None => {
                let (waits, total) = (count(self.times, "wait"), human_sum(self.total_ns));
                Statement::new(format!(
                    "Tasks queued at {at}: {waits}, {total} in sum, up to {longest}."
                ))
            }
            Some(none_ended_for_ns) => {
                let waited = match self.now {
                    1 => format!("1 task waits at {at}, for {longest} now"),
                    n => format!("{n} tasks wait at {at}, for up to {longest} now"),
                };
                let ended = human(none_ended_for_ns);
                Statement::new(format!("{waited}: no wait there ended in the last {ended}."))
            }
        };
        let mut others = String::new();
        for (nth, at) in self.none_ended_at.iter().enumerate() {
            others.push_str(if nth == 0 { "Nor did any at " } else { ", nor at " });
            others.push_str(&clean(at));
        }
        if !others.is_empty() {
            said.add(format!("{others}."));
        }
        if let Some(held_by) = &self.held_by {
            said.add(held_by.to_string());
        }
        if let Some(chain) = &self.chain {
            said.add(chain.to_string());
        }
        if self.is_held_by_none {
            said.add(
                "No task is known that has one: it may have been forgotten, or is kept elsewhere.",
            );
        }
        if let (Some(holder), None) = (&self.holder, &self.held_by) {
            let (share, at) = (holder.percent(), holder.label());
            said.add(format!(
                "As far as is known, those who held it spent {share} of that time waiting at {}.",
                clean(&at)
            ));
        }
        said.add(self.meanwhile.to_string());
        said
    }
}
