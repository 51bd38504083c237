//! Writes the sums of the whole run, if the data has only a part of it.

use std::io;

use super::run::{List, Number, Parts};
use super::stream::Text;
use crate::trace::summary::{Distribution, Summary};
use crate::trace::timeline::Timeline;
use crate::util::json::{Json, Raw, list};

/// Returns the sums if older events were dropped. Otherwise the data contains all of them.
fn sums(timeline: &Timeline) -> Option<&Summary> {
    timeline.whole_run().filter(|_| timeline.lost.dropped_events > 0)
}

/// Returns the sums for the first definition.
pub(super) fn facts(timeline: &Timeline) -> Option<Raw> {
    let sums = sums(timeline)?;
    Some(list(&[
        &Number(sums.begin_ns),
        &Number(sums.end_ns),
        &Number(sums.recorded_ns),
        &Number(sums.tasks),
        &Number(sums.polls),
        &Number(sums.cut_polls),
        &Number(sums.running_polls),
        &Number(sums.missed_events),
        &Number(sums.stretch_ns),
    ]))
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
            let all: [&dyn Json; 4] = [
                &Number(of.from_ns),
                &Number(of.to_ns),
                &Number(of.recorded_ns),
                &Number(of.periods),
            ];
            let of_one = &all[..2];
            self.entry(text, List::RunStopped, if of.periods > 1 { &all } else { of_one })?;
        }
        if !is_tasks {
            for of in &sums.workers {
                self.entry(
                    text,
                    List::RunWorkers,
                    &[
                        &of.index,
                        &Number(of.running_ns),
                        &Number(of.parked_ns),
                        &Number(of.parks),
                        &Number(of.polls),
                    ],
                )?;
            }
            return Ok(());
        }
        for of in &sums.locations {
            self.entry(
                text,
                List::RunLocations,
                &[
                    &of.location,
                    &of.is_root,
                    &Number(of.tasks),
                    &Number(of.worker_polls),
                    &Number(of.held_ns),
                    &Number(of.off_worker_ns),
                    &Number(of.long_polls),
                    &Number(of.long_polls_ns),
                    &Number(of.ready_sum_ns),
                    &steps(&of.polls),
                    &steps(&of.ready),
                ],
            )?;
        }
        for poll in &sums.longest_polls {
            self.entry(
                text,
                List::RunLongest,
                &[
                    &poll.task,
                    &poll.location,
                    &Number(poll.start_ns),
                    &Number(poll.length_ns),
                    &poll.worker,
                    &u32::from(poll.is_cut),
                ],
            )?;
        }
        for of in &sums.stretches {
            self.entry(
                text,
                List::RunStretches,
                &[
                    &Number(of.held_ns),
                    &Number(of.polls),
                    &Number(of.longest_ns),
                    &of.longest_at,
                    &Number(of.spawned),
                    &Number(of.terminated),
                ],
            )?;
        }
        Ok(())
    }
}

/// Returns the steps in pairs: the difference between a bound and the one before, and the number of values.
fn steps(of: &Distribution) -> Vec<Number> {
    let mut steps = Vec::new();
    let mut before = 0;
    for &(bound, n) in &of.steps {
        steps.extend([Number(bound.saturating_sub(before)), Number(n)]);
        before = bound;
    }
    steps
}
