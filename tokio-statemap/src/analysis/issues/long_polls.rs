//! Long polls as issues: one for each culprit, and one for each spawn location of whose long polls too little is kept.

use std::time::Duration;

use super::Facts;
use super::evidence::{Evidence, Explanation, Finding};
use crate::analysis::culprits::Culprit;
use crate::analysis::delay::is_harm;
use crate::analysis::locations::LocationRow;
use crate::analysis::statement::{
    Statement, beside_sentence, called_from, capitalized, delay_sentence, function_name,
    let_go_sentence, place_name, setting, tasks_of, unknown_holder_sentence, waited_in_sentence,
};
use crate::analysis::whole_run;
use crate::util::quantity::{count, human, moment, own_and_wall};

/// Polls that held workers over `long_poll` by their own doing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LongPollIssue {
    /// The function or location to blame. `None` if no poll is kept in detail, or not the longest: then only the spawn
    /// location is known.
    pub culprit: Option<Culprit>,
    /// The spawn location of most of the tasks.
    pub row: LocationRow,
    /// `true` if it held the runtime up: see [`Culprit::did_harm`]. Otherwise little was delayed.
    pub did_harm: bool,
    /// The length from which on a poll is called long.
    pub long_poll: Duration,
    /// For the first issue of the kind, the number of others that are to blame for long polls; otherwise 0.
    pub others: usize,
    /// The index of the culprit.
    index: Option<usize>,
    /// The delay of others, or else the time that workers were held, in the whole run, in ns.
    pub(in crate::analysis) harm_ns: u128,
}

/// Finds all of them, the worst first; those that did harm come before the others.
pub(super) fn find(facts: &Facts<'_>) -> Vec<LongPollIssue> {
    let blame = facts.blame;
    let (mut index, mut rows) = (0, &blame.unexplained[..]);
    let mut found = Vec::new();
    loop {
        let next = blame.culprits.get(index);
        match (rows, next) {
            ([row, rest @ ..], _) if whole_run::is_worse(row, next) => {
                found.push(LongPollIssue::without_culprit(facts, *row));
                rows = rest;
            }
            (_, Some(culprit)) => {
                found.extend(LongPollIssue::from_culprit(facts, index, culprit));
                index += 1;
            }
            (_, None) => break,
        }
    }
    // The sort is stable.
    crate::util::sort::by_key(&mut found, |polls| !polls.did_harm);
    let others = found.len().saturating_sub(1);
    if let Some(first) = found.first_mut() {
        first.others = others;
    }
    found
}

impl LongPollIssue {
    fn from_culprit(facts: &Facts<'_>, index: usize, culprit: &Culprit) -> Option<Self> {
        let long_poll = facts.recording.long_poll;
        Some(Self {
            row: *facts.rows.iter().find(|row| row.place == culprit.place)?,
            did_harm: culprit.did_harm(long_poll),
            long_poll,
            others: 0,
            index: Some(index),
            harm_ns: culprit.harm_ns(),
            culprit: Some(culprit.clone()),
        })
    }

    fn without_culprit(facts: &Facts<'_>, row: LocationRow) -> Self {
        let long_poll = facts.recording.long_poll;
        let longest_ns = row.longest_ns.min(row.long_polls_ns);
        let harm_ns = u128::from(row.long_polls_ns);
        let did_harm = is_harm(harm_ns, longest_ns, long_poll);
        Self { culprit: None, row, did_harm, long_poll, others: 0, index: None, harm_ns }
    }
}

impl Finding for LongPollIssue {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "long polls",
            noun: "poll",
            meaning: "A task ran for so long between two awaits that others could not be polled.",
            advice: self.culprit.as_ref().and_then(|culprit| culprit.advice).unwrap_or(
                "Use the async counterpart of what blocks, or spawn_blocking; call yield_now in long loops.",
            ),
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        let Some(culprit) = &self.culprit else {
            return Evidence {
                place: Some(self.row.place),
                number: self.row.long_polls,
                total_ns: self.row.long_polls_ns,
                is_dropped: true,
                ..Evidence::default()
            };
        };
        Evidence {
            frame: culprit.frame.as_ref(),
            place: Some(culprit.place),
            number: culprit.polls,
            total_ns: culprit.own_ns,
            lengths: Some(&culprit.lengths),
            delay: Some(culprit.delay),
            culprit: self.index,
            ..Evidence::default()
        }
    }

    fn is_certain(&self) -> bool {
        self.did_harm
    }

    fn statement(&self) -> Statement {
        let mut said = Statement::new(self.headline());
        match &self.culprit {
            Some(culprit) => self.add_culprit(culprit, &mut said),
            None => {
                said.add(self.kept());
                let they = if self.row.long_polls == 1 { "it" } else { "they" };
                said.add(format!(
                    "What {they} did, and which tasks waited meanwhile, isn't known."
                ));
                if self.row.off_worker_ns == 0 {
                    let longest = human(self.row.longest_ns);
                    said.add(format!("The longest took {longest} of wall time."));
                }
            }
        }
        said.add(match self.others {
            0 => String::new(),
            1 => "Another function or location had such polls, too.".to_owned(),
            n => format!("{n} other functions or locations had such polls, too."),
        });
        said
    }
}

impl LongPollIssue {
    /// Returns who held the runtime up, how, and in how many polls.
    fn headline(&self) -> String {
        let (row, over) = (&self.row, setting(self.long_poll));
        let sum_of = |culprit: &Culprit| match culprit.polls {
            1 => String::new(),
            _ => format!(", {} in all", human(culprit.own_ns)),
        };
        if let Some(culprit @ Culprit { frame: Some(frame), .. }) = &self.culprit {
            let (name, cause) = (function_name(frame), &culprit.blocking_cause);
            let begin = match self.did_harm {
                true => format!("{name} held the runtime up: it {cause}"),
                false => format!("Little was held up: {name} {cause}"),
            };
            let sum = sum_of(culprit);
            let polls = match (self.is_all_kept(), is_some_of_location(culprit)) {
                (false, _) => format!("in {} over {over}", count(culprit.polls, "poll")),
                // Some polls of a location are those of another function, or were not sampled.
                (true, true) => {
                    let (seen, all) = (culprit.polls, culprit.location_polls);
                    format!("seen in {seen} of the {all} polls over {over}")
                }
                (true, false) if culprit.polls < row.polls => {
                    let polls = count(culprit.polls, "poll");
                    format!("in {polls} over {over} (of {})", row.polls)
                }
                (true, false) => format!("in {} over {over}", polls_of(culprit.polls, row.polls)),
            };
            return format!("{begin}, {polls}{sum}.");
        }
        let kept = self.culprit.as_ref().filter(|_| self.is_all_kept());
        let (long, ran) = match kept {
            Some(culprit) => (culprit.polls, format!("ran over {over}{}", sum_of(culprit))),
            None => (
                row.long_polls,
                format!("ran over {over}, {} of wall time in all", human(row.long_polls_ns)),
            ),
        };
        let tasks = tasks_of(row.place);
        let polls = match (long, row.polls) {
            (1, 1) => "the only poll".to_owned(),
            (long, all) => polls_of(long, all),
        };
        match self.did_harm {
            true => format!("{} held the runtime up: {polls} {ran}.", capitalized(&tasks)),
            false => format!("Little was held up: {polls} of {tasks} {ran}."),
        }
    }

    /// Adds the harm, and where to look.
    fn add_culprit(&self, culprit: &Culprit, said: &mut Statement) {
        let is_all_kept = self.is_all_kept();
        said.add(called_from(&culprit.callers, culprit.are_all_callers));
        said.add(waited_in_sentence(&culprit.waited_in));
        said.add(culprit.beside.as_ref().map(beside_sentence).unwrap_or_default());
        said.add(culprit.let_go.as_ref().map(let_go_sentence).unwrap_or_default());
        said.add(unknown_holder_sentence(culprit, culprit.longest.is_running));
        let meanwhile = match (is_all_kept, culprit.polls) {
            (true, _) | (false, 1) => "Meanwhile",
            // The tasks that waited during the other polls are not known.
            (false, _) => "During the polls that are kept",
        };
        said.add(delay_sentence(culprit.delay, culprit.locked_at.as_deref(), meanwhile));
        said.add(the_longest(culprit, is_all_kept));
        if culprit.frame.is_some() {
            said.add(spawned(culprit));
        } else if !culprit.blocking_cause.is_empty() {
            let they = if culprit.polls == 1 { "It" } else { "They" };
            let cause = &culprit.blocking_cause;
            said.add(format!("{they} {cause}, in a function that isn't known."));
        }
        if !is_all_kept && culprit.frame.is_some() {
            said.add(format!(
                "In the whole run, {} of tasks spawned there ran over {}, {} of wall time in all.",
                polls_of(self.row.long_polls, self.row.polls),
                setting(self.long_poll),
                human(self.row.long_polls_ns),
            ));
        }
        said.add(self.kept());
        said.add(match culprit.unseen_polls {
            0 if culprit.frame.is_none() && is_some_of_location(culprit) => {
                "No function was seen in them.".to_owned()
            }
            0 => String::new(),
            n => format!(
                "No function was seen in {} of tasks spawned there, {} in all, so what these did isn't known.",
                count(n, "other long poll"),
                human(culprit.unseen_ns),
            ),
        });
    }

    /// Returns whether all long polls of the location are kept in detail.
    fn is_all_kept(&self) -> bool {
        self.row.kept_long_polls >= self.row.long_polls
    }

    /// Returns how many of the location's long polls are kept in detail; nothing if all are.
    fn kept(&self) -> String {
        match (self.row.kept_long_polls, self.row.long_polls) {
            _ if self.is_all_kept() => String::new(),
            (0, 1) => "That poll isn't kept in detail.".to_owned(),
            (0, _) => "None of these polls is kept in detail.".to_owned(),
            (1, _) => "One of these polls is kept in detail.".to_owned(),
            (n, _) => format!("{n} of these polls are kept in detail."),
        }
    }
}

/// Returns whether tasks of the culprit's spawn locations also had other long polls.
fn is_some_of_location(culprit: &Culprit) -> bool {
    culprit.location_polls > culprit.polls
}

/// Returns where the culprit's tasks were spawned, as a sentence.
pub(super) fn spawned(culprit: &Culprit) -> String {
    let place = place_name(culprit.place);
    if culprit.place.is_root {
        return format!("It is called by the root future of {place}.");
    }
    if culprit.place.location.is_none() {
        return String::new();
    }
    let were = if culprit.polls == 1 { "The task was" } else { "The tasks were" };
    let other_places = match culprit.other_places {
        0 => String::new(),
        1 => " and at another place".to_owned(),
        n => format!(" and at {n} other places"),
    };
    format!("{were} spawned at {place}{other_places}.")
}

/// Returns `14 of 900 polls`.
fn polls_of(long: u64, all: u64) -> String {
    match (long, all) {
        (1, 1) => "one poll".to_owned(),
        (1, all) => format!("one of {all} polls"),
        (long, all) if long >= all => format!("all {long} polls"),
        (long, all) => format!("{long} of {all} polls"),
    }
}

/// Returns `The longest took 25.6 ms, on worker-1 at 0.731 s.`
fn the_longest(culprit: &Culprit, is_all_kept: bool) -> String {
    let longest = &culprit.longest;
    let which = match (is_all_kept, culprit.polls) {
        (_, 1) => "The poll",
        (true, _) => "The longest",
        // The longest poll of the location may be another culprit's.
        (false, _) => "The longest of those kept",
    };
    let took = match (longest.is_running, longest.is_cut) {
        (true, _) => "still ran at the end, after",
        (false, true) => "took at least",
        (false, false) => "took",
    };
    let length = own_and_wall(longest.own_ns, longest.length_ns);
    let worker = match longest.worker {
        Some(worker) => format!(", on worker-{worker}"),
        None => String::new(),
    };
    format!("{which} {took} {length}{worker} at {}.", moment(longest.start_ns))
}
