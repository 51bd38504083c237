//! The sentences of a comparison.

use crate::analysis::Statement;
use crate::analysis::compare::{Change, Comparison, Factor, Line, LineChange, NewLongPolls};
use crate::util::clean::clean;
use crate::util::quantity::{count, human};

impl Comparison {
    /// Returns what changed in a sentence or two, the worst first.
    pub fn verdict(&self) -> String {
        self.statement().to_string()
    }

    pub(crate) fn statement(&self) -> Statement {
        if let Some(which) = self.without_tasks() {
            return Statement::new(format!(
                "Nothing can be compared: no tasks were recorded {which}."
            ));
        }
        let new: Vec<_> = self.new_long_polls().collect();
        let longer: Vec<_> = self.longer().collect();
        let shorter = self.shorter().count();
        let mut said = Statement::new(match (&longer[..], &new[..]) {
            ([], []) => self.nothing_longer(shorter),
            ([], [first, ..]) => first.sentence(),
            ([first, others @ ..], _) => {
                let lines = count(longer.len() as u64, "line");
                let begin = if others.is_empty() { "" } else { " first" };
                format!(
                    "{lines} took longer by more than chance:{begin} {}, {}.",
                    first.line.named(),
                    first.times(),
                )
            }
        });
        let told = usize::from(longer.is_empty() && !new.is_empty());
        match new.len() - told {
            0 => {}
            1 => said.add("There are new long polls, too."),
            n => said.add(format!("{n} functions have new long polls, too.")),
        }
        if shorter > 0 {
            said.add(format!("{} took less.", count(shorter as u64, "line")));
        }
        said
    }

    fn nothing_longer(&self, shorter: usize) -> String {
        let are_compared = self.lines.iter().any(|line| line.polls.factor().is_some());
        match (shorter, are_compared) {
            (_, false) => "There are too few polls to tell whether anything differs.".to_owned(),
            (0, true) if !self.has_changes() => "Nothing differs by more than chance.".to_owned(),
            _ => "Nothing took longer by more than chance.".to_owned(),
        }
    }

    fn without_tasks(&self) -> Option<&'static str> {
        match (self.before.has_tasks, self.after.has_tasks) {
            (true, true) => None,
            (false, true) => Some("before"),
            (true, false) => Some("after"),
            (false, false) => Some("before and after"),
        }
    }

    /// Returns a sentence for each changed line, for the page.
    #[cfg(all(feature = "read", feature = "html"))]
    pub(crate) fn sentences(&self) -> Vec<String> {
        let polls = |line: &&LineChange| line.polls.is_a_change();
        let of_polls = self.lines.iter().filter(polls).map(|line| {
            let Some(figures) = line.before.zip(line.after) else { return line.line.named() };
            let (before, after) = figures;
            format!(
                "{}: {}; p50 {} before, {} after.",
                line.line.named(),
                line.times(),
                human(before.p50_ns),
                human(after.p50_ns),
            )
        });
        let ready = self.lines.iter().filter(|line| line.ready.is_a_change());
        let of_ready = ready.map(|line| {
            format!("{}: its tasks were ready {}.", line.line.named(), times(line.ready))
        });
        let new = self.long_polls.iter().filter(|polls| polls.is_more_than_chance);
        of_polls.chain(of_ready).chain(new.map(NewLongPolls::sentence)).collect()
    }

    /// Returns remarks on reading the comparison, a sentence each.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(factor) = self.common_factor.filter(|factor| is_worth_a_line(*factor)) {
            remarks.push(format!(
                "All lines took {} as long: a slower or busier machine, or another build, can cause this. \
                 The change of each line is relative to this factor.",
                multiple(factor),
            ));
        }
        if let Some(factor) = self.common_ready_factor.filter(|factor| is_worth_a_line(*factor)) {
            remarks.push(format!("All tasks were ready {} as long.", multiple(factor)));
        }
        for (which, side) in [("before", &self.before), ("after", &self.after)] {
            if let Some(detail_ns) = side.detail_ns {
                remarks.push(format!(
                    "Of the {} recorded {which}, {} are kept in detail.",
                    human(side.recorded_ns),
                    human(detail_ns),
                ));
            }
        }
        if self.is_of_whole_runs {
            remarks.push(
                "The figures are of the whole runs and in wall time, including the time that the machine took. Whether \
                 a line changed is judged by the ends of the runs, which are kept in detail."
                    .to_owned(),
            );
        }
        let are_tasks_known = self.without_tasks().is_none();
        if let Some(&most) = self.quantiles.last().filter(|&&most| most < 99 && are_tasks_known) {
            let why = match (self.before.taken_ns, self.after.taken_ns) {
                (Some(_), Some(_)) => {
                    "the machine took time in pieces too small to be attributed to single polls"
                }
                _ => "the time that the machine took isn't known",
            };
            remarks.push(format!("Only the shortest {most} % of the polls are compared: {why}."));
        }
        if are_tasks_known && !(self.before.schedule_latency && self.after.schedule_latency) {
            remarks.push(
                "The time for which tasks were ready was not recorded in all runs.".to_owned(),
            );
        }
        remarks
    }
}

impl Line {
    /// Returns the name of the line in a sentence.
    pub(crate) fn named(&self) -> String {
        let place = match self.place_after {
            Some(after) => format!("{} (now {after})", self.place),
            None => self.place.to_string(),
        };
        match &self.frame {
            Some(frame) => format!(
                "{} {}, in tasks of {place}",
                clean(&frame.to_string()),
                if self.blocking_cause.is_empty() { "held workers" } else { &self.blocking_cause },
            ),
            None => place,
        }
    }
}

impl LineChange {
    /// Returns a sentence about how many times as long the polls took.
    pub(super) fn times(&self) -> String {
        let which = match self.polls.factor().map(|factor| factor.percent) {
            Some(50) | None => "the median of its polls",
            Some(75) => "p75 of its polls",
            Some(90) => "p90 of its polls",
            Some(_) => "p99 of its polls",
        };
        format!("{which} {}", times(self.polls))
    }
}

impl NewLongPolls {
    /// Returns a sentence about the new long polls, or those that are gone.
    pub(crate) fn sentence(&self) -> String {
        let when = if self.is_after { "New" } else { "Gone" };
        format!(
            "{when}: {} {} for {} in {}, up to {} each, in tasks of {}.",
            clean(&self.frame.to_string()),
            if self.blocking_cause.is_empty() { "held workers" } else { &self.blocking_cause },
            human(self.own_ns),
            count(self.polls, "poll"),
            human(self.longest_ns),
            self.place,
        )
    }
}

/// Returns `2.01 times as long (1.93 to 2.10)`.
fn times(change: Change) -> String {
    let Some(Factor { factor, low, high, .. }) = change.factor() else {
        return "as long, as far as known".to_owned();
    };
    format!("{} as long ({low:.2} to {high:.2})", multiple(factor))
}

fn multiple(factor: f64) -> String {
    format!("{factor:.2} times")
}

/// Returns whether a common factor exceeds the effects of the clock and the caches.
fn is_worth_a_line(factor: f64) -> bool {
    !(0.9..1.1).contains(&factor)
}
