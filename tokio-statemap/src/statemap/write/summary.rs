//! Writes the sums of the whole run, if the data has only a part of it.

use std::io;

use super::run::{List, Parts, key, number, or_null, place};
use super::stream::Text;
use crate::trace::summary::{Distribution, LocationSummary, Summary};
use crate::trace::timeline::Timeline;

/// Returns the sums if older events were dropped. Otherwise the data has all of them.
fn sums(timeline: &Timeline) -> Option<&Summary> {
    timeline.whole_run().filter(|_| timeline.lost.dropped_events > 0)
}

/// Returns the sums for the first definition.
pub(super) fn facts(timeline: &Timeline) -> Option<String> {
    let sums = sums(timeline)?;
    let numbers = [
        sums.begin_ns,
        sums.end_ns,
        sums.recorded_ns,
        sums.tasks,
        sums.polls,
        sums.cut_polls,
        sums.running_polls,
        sums.missed_events,
        sums.stretch_ns,
    ];
    Some(numbers.map(number).join(","))
}

impl Parts {
    pub(super) fn sums(
        &mut self,
        timeline: &Timeline,
        is_tasks: bool,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        let Some(sums) = sums(timeline) else { return Ok(()) };
        for of in &sums.stopped {
            let several = [of.recorded_ns, of.periods].map(number).join(",");
            let several = if of.periods > 1 { format!(",{several}") } else { String::new() };
            let [from, to] = [of.from_ns, of.to_ns].map(number);
            self.entry(text, List::RunStopped, format_args!("[{from},{to}{several}]"))?;
        }
        if !is_tasks {
            for of in &sums.workers {
                let numbers = [of.running_ns, of.parked_ns, of.parks, of.polls].map(number);
                self.entry(
                    text,
                    List::RunWorkers,
                    format_args!("[{},{}]", of.index, numbers.join(",")),
                )?;
            }
            return Ok(());
        }
        for of in &sums.locations {
            self.entry(text, List::RunLocations, location(of))?;
        }
        for poll in &sums.longest_polls {
            let (task, location) = (key(Some(poll.task)), poll.location);
            let [start, length] = [poll.start_ns, poll.length_ns].map(number);
            let worker = or_null(poll.worker);
            let cut = u8::from(poll.is_cut);
            self.entry(
                text,
                List::RunLongest,
                format_args!("[{task},{location},{start},{length},{worker},{cut}]"),
            )?;
        }
        for of in &sums.stretches {
            let [held, polls, longest] = [of.held_ns, of.polls, of.longest_ns].map(number);
            let at = or_null(of.longest_at);
            let [spawned, terminated] = [of.spawned, of.terminated].map(number);
            self.entry(
                text,
                List::RunStretches,
                format_args!("[{held},{polls},{longest},{at},{spawned},{terminated}]"),
            )?;
        }
        Ok(())
    }
}

fn location(of: &LocationSummary) -> String {
    let place = place(of.location);
    let numbers = [
        of.tasks,
        of.worker_polls,
        of.held_ns,
        of.off_worker_ns,
        of.long_polls,
        of.long_polls_ns,
        of.ready_sum_ns,
    ];
    let (numbers, polls, ready) =
        (numbers.map(number).join(","), steps(&of.polls), steps(&of.ready));
    format!("[{place},{},{numbers},[{polls}],[{ready}]]", of.is_root)
}

/// Formats steps in pairs: the difference between the bound and the one before, and the number of values.
fn steps(of: &Distribution) -> String {
    let mut before = 0;
    let steps = of.steps.iter().map(|&(bound, n)| {
        let more = bound.saturating_sub(std::mem::replace(&mut before, bound));
        format!("{},{}", number(more), number(n))
    });
    steps.collect::<Vec<_>>().join(",")
}
