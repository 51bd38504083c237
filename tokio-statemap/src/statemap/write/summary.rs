//! Writes the sums of the whole run, where the data are not all of it.

use std::io;

use super::run::{List, Parts, key, number};
use super::stream::Text;
use crate::trace::summary::{Distribution, LocationSummary, Summary};
use crate::trace::timeline::Timeline;
use crate::util::json;

/// The sums, if older events were dropped: else the data have all that they say.
fn sums(timeline: &Timeline) -> Option<&Summary> {
    timeline.whole_run().filter(|_| timeline.lost.dropped_events > 0)
}

/// What the first definition says of them.
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
            self.add(List::RunStopped, format_args!("[{from},{to}{several}]"));
            self.write_if_full(text)?;
        }
        if !is_tasks {
            for of in &sums.workers {
                let numbers = [of.running_ns, of.parked_ns, of.parks, of.polls].map(number);
                self.add(List::RunWorkers, format_args!("[{},{}]", of.index, numbers.join(",")));
                self.write_if_full(text)?;
            }
            return Ok(());
        }
        for of in &sums.locations {
            self.add(List::RunLocations, location(of));
            self.write_if_full(text)?;
        }
        for poll in &sums.longest_polls {
            let (task, location) = (key(Some(poll.task)), poll.location);
            let [start, length] = [poll.start_ns, poll.length_ns].map(number);
            let worker = or_null(poll.worker.map(u64::from));
            let cut = u8::from(poll.is_cut);
            self.add(
                List::RunLongest,
                format_args!("[{task},{location},{start},{length},{worker},{cut}]"),
            );
            self.write_if_full(text)?;
        }
        for of in &sums.stretches {
            let [held, polls, longest] = [of.held_ns, of.polls, of.longest_ns].map(number);
            let at = or_null(of.longest_at.map(|at| at as u64));
            let [spawned, terminated] = [of.spawned, of.terminated].map(number);
            self.add(
                List::RunStretches,
                format_args!("[{held},{polls},{longest},{at},{spawned},{terminated}]"),
            );
            self.write_if_full(text)?;
        }
        Ok(())
    }
}

fn location(of: &LocationSummary) -> String {
    let place = of.location.map_or_else(
        || "null".to_owned(),
        |at| format!("[{},{},{}]", json::string(at.file), at.line, at.column),
    );
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

/// By twos: how much greater the bound of a step is than the one before, and how many values it has.
fn steps(of: &Distribution) -> String {
    let mut before = 0;
    let steps = of.steps.iter().map(|&(bound, n)| {
        let more = bound.saturating_sub(std::mem::replace(&mut before, bound));
        format!("{},{}", number(more), number(n))
    });
    steps.collect::<Vec<_>>().join(",")
}

fn or_null(n: Option<u64>) -> String {
    n.map_or_else(|| "null".to_owned(), number)
}
