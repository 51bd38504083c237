//! Sentences on the time that the machine took.

use super::Report;
use crate::analysis::culprits::Unattributed;
use crate::analysis::issues::pool_statement;
use crate::analysis::place::Place;
use crate::analysis::statement::Statement;
use crate::util::quantity::{count, human, share};

/// The share of the recording above which the time that the machine took is worth a line.
const WORTH_A_LINE: f64 = 0.01;

impl Report {
    /// Returns sentences on the time that the machine took, if it is over 1 % of what was recorded, and on the polls
    /// that are blamed on nobody. It isn't known when the machine took time, so in a part of a recording the former
    /// cover the whole run.
    pub(crate) fn machine_sentences(&self) -> Vec<String> {
        let mut sentences = self.taken_sentences();
        sentences.extend(self.unattributed_sentences());
        sentences
    }

    /// Returns a statement on the exhausted blocking pool, if it was exhausted.
    pub(crate) fn pool_statement(&self) -> Option<Statement> {
        let pool = self.exhausted_pool?;
        Some(pool_statement(&pool, self.spell(Place::new(pool.location, false))))
    }

    fn taken_sentences(&self) -> Vec<String> {
        let recording = &self.recording;
        let whole_ns = recording.lacking.whole_ns.unwrap_or(recording.recorded_ns);
        let is_worth_it =
            |ns: u64, of_ns: u64| share(ns, of_ns).is_some_and(|share| share > WORTH_A_LINE);
        // The waits of threads for a processor are only known in the detail.
        let detail_ns = recording.detail_ns.unwrap_or(whole_ns);
        let machine = &self.machine;
        let limit = machine.limit.filter(|limit| is_worth_it(limit.stopped_ns, whole_ns));
        // The begin of a sentence about the whole run, and of one about the detail.
        let the = if recording.lacking.time { "In the whole run, the" } else { "The" };
        let the_detail = if recording.detail_ns.is_some() { "In the detail, the" } else { the };
        let mut sentences = Vec::new();
        if let Some(limit) = limit {
            sentences.push(format!(
                "{the} container's limit of {} processors stopped the program {}, {} in all.",
                limit.millis as f64 / 1000.0,
                count(limit.stops, "time"),
                human(limit.stopped_ns),
            ));
        }
        if is_worth_it(machine.run_delay_ns, detail_ns) {
            // A thread that the limit stops stays ready to run. The system counts the limit by processors and the waits
            // by threads, several of which may wait for one processor, so the limit's part in the waits can't be told.
            let why = match limit {
                Some(_) => ", in sum: because of this limit, or while others ran",
                None => " while others ran, in sum",
            };
            let waited = human(machine.run_delay_ns);
            let of_pool = match is_worth_it(machine.pool_delay_ns, detail_ns) {
                true => {
                    format!(" {} of it were in the blocking pool.", human(machine.pool_delay_ns))
                }
                false => String::new(),
            };
            sentences.push(format!(
                "{the_detail} program's threads waited {waited} for a processor{why}.{of_pool}"
            ));
        }
        if is_worth_it(machine.stolen_ns, detail_ns) {
            let stolen = human(machine.stolen_ns);
            sentences.push(format!(
                "{the_detail} host of this machine took the processor from them for {stolen}, in sum."
            ));
        }
        sentences
    }

    fn unattributed_sentences(&self) -> Vec<String> {
        let Unattributed { polls, taken_ns, waited_ns, unseen_polls, unseen_ns, .. } =
            self.blame.unattributed;
        let kept = if self.recording.detail_ns.is_some() { " of those kept in detail" } else { "" };
        let mut sentences = Vec::new();
        if polls > 0 {
            let were = match polls {
                1 => format!("One poll{kept} was"),
                n => format!("{n} polls{kept} were"),
            };
            let or = if waited_ns > 0 { " or locks of the runtime itself were held" } else { "" };
            let took = human(taken_ns.saturating_add(waited_ns));
            sentences.push(format!(
                "{were} long only because the processor was taken away{or}, {took} in all."
            ));
        }
        if unseen_polls > 0 {
            let (were, they) = match unseen_polls {
                1 => (format!("One long poll{kept} is"), "it"),
                n => (format!("{n} long polls{kept} are"), "they"),
            };
            sentences.push(format!(
                "{were} blamed on no function, {} in all: no stack sample shows what {they} did.",
                human(unseen_ns),
            ));
        }
        let Unattributed { dropped_polls, dropped_ns, .. } = self.blame.unattributed;
        if dropped_polls > 0 {
            let took = human(dropped_ns);
            sentences.push(match dropped_polls {
                1 => format!(
                    "One long poll is blamed on no function, {took} of wall time: no detail of it is kept, and no other \
                     poll of its spawn location is blamed."
                ),
                n => format!(
                    "{n} long polls are blamed on no function, {took} of wall time in all: no detail of them is kept, and \
                     no other poll of their spawn locations is blamed."
                ),
            });
        }
        sentences
    }
}
