//! Workers that are busy all the time, though few polls are long.

use std::time::Duration;

use super::Facts;
use super::evidence::{Evidence, Explanation, Finding};
use crate::analysis::computed::ComputedIn;
use crate::analysis::culprits::{LongPollBlame, Unattributed};
use crate::analysis::locations::LocationRow;
use crate::analysis::long_polls::LongPoll;
use crate::analysis::own_time::own_ns;
use crate::analysis::place::Place;
use crate::analysis::poll::{PollAt, length_ns};
use crate::analysis::recording::ENOUGH_RECORDED_NS;
use crate::analysis::statement::{
    Statement, called_from, capitalized, function_name, n_tasks_of, no_long_poll,
    off_worker_sentence, setting,
};
use crate::analysis::waits::place_label;
use crate::analysis::workers;
use crate::trace::timeline::{Poll, Timeline, Wait};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{count, human, percent, share};

/// The share of running time above which the workers are called busy, without the time that is blamed on nobody.
const BUSY: f64 = 0.9;

/// The same where there are too few workers, and it is known in which function they compute. Workers that wait for a
/// processor of a busy machine are parked at times, however much there is to do.
const LOADED: f64 = 0.75;

/// The largest part of the workers' work that long polls may have taken, as 1/n. If they took more, they are what kept
/// the workers busy.
const MOST_IN_LONG_POLLS: u128 = 10;

/// The least share of the workers' time for which a location is named. In a program of a millisecond the workers are
/// busy with their own start, for which no task is to blame.
const NAMED: f64 = 0.01;

/// A location is named only if it held workers for `long_poll`, or for this time if it is shorter.
const ENOUGH_HELD: Duration = Duration::from_millis(10);

/// The share of a location's polls below which the polls of each of its tasks must be if no task dominates.
const EVEN: f64 = 0.05;

/// The most time that a worker needs between two polls. Beyond it, the worker looks for tasks, or starts.
const BETWEEN_POLLS_NS: u64 = 20_000;

/// The average length of polls that are likely to do nothing.
const SHORT_NS: u64 = 2_000;

/// The same where most polls come about as the task woke itself in the one before. In a program that isn't optimised these
/// take longer.
const IDLE_NS: u64 = 20_000;

/// Workers that were busy for nearly all of 10 ms or more, or for three quarters if they were too few, and spent at most a tenth of
/// that in long polls.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BusyWorkers {
    /// The location that took most of the workers' time, without the time that is blamed on nobody.
    pub row: LocationRow,
    /// The time that its polls held workers, without the time that is blamed on nobody, in ns.
    pub own_ns: u64,
    /// The function in which polls computed most, if it has a quarter or more of their CPU time. `None` if polls
    /// computed for less than a third of the time, as they were blocked or only scheduled.
    pub computed: Option<ComputedIn>,
    /// The number of workers.
    pub workers: usize,
    /// The share of the workers' time that they were running, from 0 to 1.
    pub busy_share: f64,
    /// The share of the workers' time that the location took, from 0 to 1: [`own_ns`](Self::own_ns), and a part of the
    /// work between polls by the number of its polls.
    pub taken_share: f64,
    /// The share of that time which is work between polls, from 0 to 1.
    pub between_share: f64,
    /// The line at which most of its polls ended: `src/shop.rs:17, yield_now`. `None` if that isn't known, or if its
    /// polls are not short and most of the time was in them.
    pub polls_end_at: Option<String>,
    /// `true` if most of its polls came about as the polled task had woken itself in the poll before, which ended in a
    /// function of the program that awaits nothing, and its polls are short or most of the time was between them.
    pub tasks_wake_themselves: bool,
    /// The number of tasks that were ready on average.
    pub ready_tasks: f64,
    /// `true` if there are too few workers: more tasks were ready than there are workers, and no single task dominates.
    pub are_too_few: bool,
    /// The time that long polls held workers by their own doing, in ns.
    pub long_polls_ns: u64,
    /// The polls that were long, but are blamed on nobody.
    pub unattributed: Unattributed,
    /// The length from which on a poll is called long.
    pub long_poll: Duration,
    /// The longest of the long polls on threads that are no workers, if there were any.
    pub off_worker: Option<LongPoll>,
}

pub(super) fn find(timeline: &Timeline, facts: &Facts<'_>) -> Option<BusyWorkers> {
    let Facts { recording, workers, rows, .. } = *facts;
    let (running_ns, time_ns) = (workers::running_ns(workers), workers::time_ns(workers));
    let busy_share = share(running_ns, time_ns)?;
    // The share is smaller without the time that is left out below.
    if busy_share <= LOADED {
        return None;
    }
    let unattributed = unattributed_ns(timeline, facts);
    let own_ns = |row: &LocationRow| {
        let unattributed_ns = unattributed.get(&row.place).copied().unwrap_or_default();
        row.held_ns.saturating_sub(unattributed_ns).saturating_sub(dropped_ns(row))
    };
    let (mut held_ns, mut all_own_ns, mut polls) = (0_u128, 0_u128, 0_u128);
    for row in rows {
        held_ns += u128::from(row.held_ns);
        all_own_ns += u128::from(own_ns(row));
        polls += u128::from(row.worker_polls);
    }
    // While the machine held the workers up, they were neither busy nor idle.
    let left_out_ns = held_ns - all_own_ns;
    let (worked_ns, rest_ns) =
        (running_ns.saturating_sub(left_out_ns), time_ns.saturating_sub(left_out_ns));
    let worked_share = share(worked_ns, rest_ns)?;
    if worked_share <= LOADED {
        return None;
    }
    let mut long_polls_ns: u64 = 0;
    for culprit in &facts.blame.culprits {
        long_polls_ns = long_polls_ns.saturating_add(culprit.own_ns);
    }
    // It isn't known who is to blame for long polls that are not kept in detail.
    let all_dropped_ns: u128 = rows.iter().map(|row| u128::from(dropped_ns(row))).sum();
    let most_ns = worked_ns / MOST_IN_LONG_POLLS;
    let is_by_long_polls = u128::from(long_polls_ns) > most_ns
        || long_polls_ns > 0 && all_dropped_ns > most_ns
        || !facts.blame.unexplained.is_empty();
    if is_by_long_polls {
        return None;
    }
    // The work between polls is shared out by the number of polls.
    let most_ns = polls * u128::from(BETWEEN_POLLS_NS);
    let between_ns = running_ns.saturating_sub(held_ns).min(most_ns);
    let between = |row: &LocationRow| between_ns * u128::from(row.worker_polls) / polls.max(1);
    let taken = |row: &LocationRow| u128::from(own_ns(row)) + between(row);
    let mut row = rows.first()?;
    for other in rows {
        if taken(other) > taken(row) {
            row = other;
        }
    }
    let enough_ns = u128::from(ENOUGH_RECORDED_NS) * workers.len() as u128;
    let is_enough = share(taken(row), rest_ns)? >= NAMED
        && recording.recorded_ns >= ENOUGH_RECORDED_NS
        && rest_ns >= enough_ns
        && taken(row) >= recording.long_poll.min(ENOUGH_HELD).as_nanos();
    // Another location may have taken more time, in long polls that are not kept in detail.
    let is_most = rows
        .iter()
        .all(|other| std::ptr::eq(other, row) || u128::from(dropped_ns(other)) <= taken(row));
    if !is_enough || !is_most {
        return None;
    }
    let ready_tasks = facts.ready_ns as f64 / recording.recorded_ns.max(1) as f64;
    // The polls of single tasks are only known in what is kept.
    let kept = facts.kept_rows.iter().find(|kept| kept.place == row.place);
    let is_even = kept.is_some_and(|kept| {
        share(kept.most_polls_of_a_task, kept.worker_polls).is_some_and(|share| share < EVEN)
    });
    let between_share = share(between(row), taken(row))?;
    let are_below =
        |most_ns| between_share > 0.5 || row.held_ns / row.worker_polls.max(1) < most_ns;
    let polls = if are_below(IDLE_NS) {
        ManyPolls::find(timeline, row.place)
    } else {
        ManyPolls::default()
    };
    let tasks_wake_themselves = polls.are_by_own_wakes;
    let polls_end_at = polls.end_at.filter(|_| tasks_wake_themselves || are_below(SHORT_NS));
    let are_too_few = is_even
        && !tasks_wake_themselves
        && ready_tasks >= workers.len() as f64
        && between(row) < u128::from(own_ns(row))
        // Tasks that became ready while the machine held the workers up are no load.
        && left_out_ns <= rest_ns;
    let computed = facts.computed.most(worked_ns).filter(|most| {
        // Beside tasks that only wake themselves, a function must have most of the time to be what keeps the workers busy.
        between_share < 0.5 && (!tasks_wake_themselves || most.share > 0.5)
    });
    let computed = computed.cloned();
    if worked_share <= BUSY && !(are_too_few && computed.is_some()) {
        return None;
    }
    Some(BusyWorkers {
        row: *row,
        own_ns: own_ns(row),
        computed,
        workers: workers.len(),
        busy_share,
        taken_share: share(taken(row), time_ns)?,
        between_share,
        polls_end_at,
        tasks_wake_themselves,
        ready_tasks,
        are_too_few,
        long_polls_ns,
        unattributed: facts.blame.unattributed,
        long_poll: recording.long_poll,
        off_worker: facts.off_worker.clone(),
    })
}

/// The properties that most polls of the tasks of a location share.
#[derive(Default)]
struct ManyPolls {
    end_at: Option<String>,
    are_by_own_wakes: bool,
}

impl ManyPolls {
    fn find(timeline: &Timeline, place: Place) -> Self {
        let (mut polls, mut by_wait) = (0_u64, vec![0_u64; timeline.places.waits.len()]);
        let mut by_own_wakes: u64 = 0;
        for task in timeline.tasks.seen() {
            if Place::of_task(task) != place {
                continue;
            }
            for poll in &task.polls {
                polls += 1;
                by_own_wakes += u64::from(poll.woken_by() == Some(WokenBy::Task(task.key)));
                if let Some(n) = poll.wait().and_then(|wait| by_wait.get_mut(wait.index())) {
                    *n += 1;
                }
            }
        }
        let end_at = timeline.all_waits().find(|(id, _)| 2 * by_wait[id.index()] > polls);
        // A task may wake itself by a channel that it both sends to and receives from. Then it awaits that.
        let awaits_nothing = |wait: &Wait| wait.lines().iter().all(|line| line.awaits.is_none());
        Self {
            are_by_own_wakes: 2 * by_own_wakes > polls
                && end_at.is_some_and(|(_, wait)| awaits_nothing(wait)),
            end_at: end_at.map(|(_, wait)| place_label(wait)),
        }
    }
}

/// Returns how long a location's long polls that are not kept in detail held workers, in ns. The machine may account
/// for this time.
fn dropped_ns(row: &LocationRow) -> u64 {
    row.long_polls_ns.saturating_sub(row.kept_long_polls_ns)
}

/// Returns how much of the long polls of each location is blamed on nobody, in ns: the time that the machine took, and
/// all of the polls in which no function was seen.
fn unattributed_ns(timeline: &Timeline, facts: &Facts<'_>) -> Map<Place, u64> {
    let LongPollBlame { unattributed_at, unseen_at, .. } = facts.blame;
    let mut by_place = Map::default();
    let mut add = |(task, poll): PollAt, part_ns: fn(&Timeline, &Poll) -> u64| {
        let task = &timeline.tasks.seen()[task];
        let sum_ns: &mut u64 = by_place.get_or_default(Place::of_task(task));
        *sum_ns = sum_ns.saturating_add(part_ns(timeline, &task.polls[poll]));
    };
    for &at in unattributed_at.iter() {
        add(at, |timeline, poll| length_ns(timeline, poll) - own_ns(timeline, poll));
    }
    for &at in unseen_at.iter() {
        add(at, length_ns);
    }
    by_place
}

impl BusyWorkers {
    /// Returns where its tasks woke themselves: ` at src/shop.rs:17`; empty if that isn't known.
    fn own_wakes_at(&self) -> String {
        let at = self.polls_end_at.as_ref();
        at.map_or_else(String::new, |at| format!(" at {}", clean(at)))
    }
}

impl Finding for BusyWorkers {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "busy workers",
            noun: "task",
            meaning: "The workers had no time left.",
            advice: match self.tasks_wake_themselves {
                true => {
                    "Return Pending only after something else has kept the waker: a channel, a timer, Notify."
                }
                false => "Do less, or use more workers or processors.",
            },
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            place: Some(self.row.place),
            number: self.row.tasks,
            total_ns: self.own_ns,
            ..Evidence::default()
        }
    }

    fn statement(&self) -> Statement {
        let (row, busy) = (&self.row, percent(self.busy_share));
        let (tasks, taken) = (n_tasks_of(row.tasks, row.place), percent(self.taken_share));
        let mut said = match (&self.computed, self.are_too_few) {
            (Some(computed), _) => Statement::new(format!(
                "The workers were busy {busy} of the time: {} of what polls computed was in {}.",
                percent(computed.share),
                function_name(&computed.frame),
            )),
            (None, true) => Statement::new(format!(
                "Too few workers for the load: {} {} busy {busy} of the time, and {:.1} tasks were ready on average.",
                count(self.workers as u64, "worker"),
                if self.workers == 1 { "was" } else { "were" },
                self.ready_tasks,
            )),
            (None, false) if self.tasks_wake_themselves => Statement::new(format!(
                "The workers were busy {busy} of the time: {tasks} woke {} again and again{}. That took {taken} of their time.",
                if row.tasks == 1 { "itself" } else { "themselves" },
                self.own_wakes_at(),
            )),
            (None, false) => Statement::new(format!(
                "The workers were busy {busy} of the time: {tasks} took {taken} of their time.",
            )),
        };
        if let Some(computed) = &self.computed {
            said.add(called_from(&computed.callers, computed.are_all_callers));
            said.add(match self.are_too_few {
                true => format!(
                    "{} {} too few for the load: {:.1} tasks were ready on average.",
                    count(self.workers as u64, "worker"),
                    if self.workers == 1 { "is" } else { "are" },
                    self.ready_tasks,
                ),
                false => format!("{} took {taken} of the workers' time.", capitalized(&tasks)),
            });
            if self.tasks_wake_themselves {
                let they = if row.tasks == 1 { "It woke itself" } else { "They woke themselves" };
                said.add(format!("{they} again and again{}.", self.own_wakes_at()));
            }
        }
        if self.are_too_few {
            said.add(match 2.0 * self.taken_share > self.busy_share {
                true => format!("No single task dominates: most of the time went to the {tasks}."),
                false => {
                    format!(
                        "No single task dominates: the {tasks} took {taken} of the workers' time."
                    )
                }
            });
        } else if self.between_share > 0.5 {
            // If polls do less than it takes to schedule them, their number is the cost.
            said.add(format!(
                "They had {} of {}: scheduling them took {} of that time.",
                count(row.worker_polls, "poll"),
                human(self.own_ns / row.worker_polls.max(1)),
                percent(self.between_share),
            ));
            if let Some(at) = self.polls_end_at.as_ref().filter(|_| !self.tasks_wake_themselves) {
                said.add(format!("Most of these polls ended at {}.", clean(at)));
            }
        }
        said.add(match self.long_polls_ns {
            0 => format!("No poll {}.", no_long_poll(&self.unattributed, self.long_poll)),
            ns => format!(
                "Polls over {} took {} of the workers' time, in sum.",
                setting(self.long_poll),
                human(ns)
            ),
        });
        if !self.are_too_few {
            said.add(off_worker_sentence(self.off_worker.as_ref()));
        }
        said
    }
}
