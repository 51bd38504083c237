//! What the machine took, in sentences.

use super::culprits::Excused;
use super::report::Report;
use crate::util::quantity::{count, human, share};

/// From which share of the recording on what the machine took is worth a line.
const WORTH_A_LINE: f64 = 0.01;

impl Report {
    /// What the machine took, if it is over 1 % of what was recorded: a sentence for each who took it. And
    /// the polls that were long for nothing else. When the machine took something isn't known, so that of a
    /// part the first is said of the whole run.
    pub(crate) fn machine_sentences(&self) -> Vec<String> {
        let whole_ns = self.lacking.whole_ns.unwrap_or(self.recorded_ns);
        let is_worth_it = |ns: u64| share(ns, whole_ns).is_some_and(|share| share > WORTH_A_LINE);
        // What the threads waited for is known of what is kept.
        let detail_ns = self.detail_ns.unwrap_or(whole_ns);
        let is_worth_it_there =
            |ns: u64| share(ns, detail_ns).is_some_and(|share| share > WORTH_A_LINE);
        let mut sentences = Vec::new();
        let machine = &self.machine;
        let stopped_ns = machine.limit.map_or(0, |limit| limit.stopped_ns);
        if let Some(limit) = machine.limit.filter(|_| is_worth_it(stopped_ns)) {
            sentences.push(format!(
                "The container's limit of {} processors stopped the program {}, {} in all.",
                limit.millis as f64 / 1000.0,
                count(limit.stops, "time"),
                human(limit.stopped_ns),
            ));
        }
        if is_worth_it_there(machine.run_delay_ns) {
            // A thread that the limit stops is ready to run meanwhile. The system counts the limit by
            // processors and the waits by threads, of which several may wait for one: what of them the limit
            // did can't be told.
            let of_what = if is_worth_it(stopped_ns) {
                ", in sum: for this limit, or while others ran"
            } else {
                " while others ran, in sum"
            };
            let waited = human(machine.run_delay_ns);
            let program = match self.detail_ns {
                Some(_) => "In what is kept in detail the program",
                None => "The program",
            };
            sentences
                .push(format!("{program}'s threads waited {waited} for a processor{of_what}."));
        }
        if is_worth_it_there(machine.stolen_ns) {
            sentences.push(format!(
                "{} host of this machine took the processor from them for {}, in sum.",
                if self.detail_ns.is_some() { "In what is kept in detail the" } else { "The" },
                human(machine.stolen_ns),
            ));
        }
        for sentence in sentences.iter_mut().filter(|_| self.lacking.time) {
            if let Some(rest) = sentence.strip_prefix("The ") {
                *sentence = format!("In the whole run, the {rest}");
            }
        }
        let Excused { polls, taken_ns, waited_ns, unseen_polls, unseen_ns, .. } = self.excused;
        let of_kept = if self.detail_ns.is_some() { " of those kept in detail" } else { "" };
        if polls > 0 {
            let were = if polls == 1 {
                format!("One poll{of_kept} was")
            } else {
                format!("{polls} polls{of_kept} were")
            };
            let or = if waited_ns > 0 { ", or for locks of the runtime's own" } else { "" };
            let took = human(taken_ns.saturating_add(waited_ns));
            sentences.push(format!(
                "{were} long only because the processor was taken away{or}, {took} in all."
            ));
        }
        if unseen_polls > 0 {
            sentences.push(format!(
                "No function was seen in {}{of_kept}, {} in all: what they did isn't known, so that nobody is to \
                 blame.",
                count(unseen_polls, "long poll"),
                human(unseen_ns),
            ));
        }
        let Excused { dropped_polls, dropped_ns, .. } = self.excused;
        if dropped_polls > 0 {
            let took = human(dropped_ns);
            sentences.push(match dropped_polls {
                1 => format!(
                    "What one long poll did isn't known, {took} of wall time: it isn't kept, and no other of its location is to \
                     blame."
                ),
                n => format!(
                    "What {n} long polls did isn't known, {took} of wall time in all: they aren't kept, and no other of their \
                     locations is to blame."
                ),
            });
        }
        sentences
    }
}
