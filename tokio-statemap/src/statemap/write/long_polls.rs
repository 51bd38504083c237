//! Writes why polls took long.

use std::fmt::Write as _;
use std::io;

use super::run::{Indices, List, Parts, number, or_null};
use super::stream::Text;
use crate::statemap::run::origin_name;
use crate::trace::timeline::{PollCause, PollSample, StackFrame, Timeline};
use crate::util::json;

impl Parts {
    pub(super) fn causes(&mut self, timeline: &Timeline, text: &mut Text<'_>) -> io::Result<()> {
        for &((thread, start_ns), cause) in &timeline.long_polls.causes {
            let PollCause {
                on_cpu_ns,
                blocked_ns,
                run_delay_ns,
                stolen_ns,
                unknown_ns,
                major_faults,
            } = cause;
            let taken = [run_delay_ns, stolen_ns, major_faults, unknown_ns];
            let numbers = [start_ns, on_cpu_ns, blocked_ns].into_iter().chain(taken);
            let numbers = numbers.map(number).collect::<Vec<_>>().join(",");
            self.entry(text, List::Causes, format_args!("[{thread},{numbers}]"))?;
        }
        Ok(())
    }

    /// Returns the index of a function. A new function is added before its user.
    pub(super) fn index_of<'a>(
        &mut self,
        frame: &'a StackFrame,
        indices: &mut Indices<'a>,
    ) -> usize {
        let next = indices.len();
        let index = *indices.get_or_insert_with(frame, || next);
        if index == next {
            self.function(frame);
        }
        index
    }

    /// Writes what threads were doing.
    pub(super) fn samples<'a>(
        &mut self,
        timeline: &'a Timeline,
        indices: &mut Indices<'a>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for sample in &timeline.long_polls.samples {
            let mut functions = String::new();
            for frame in &sample.frames {
                let index = self.index_of(frame, indices);
                self.write_if_full(text)?;
                let comma = if functions.is_empty() { "" } else { "," };
                // Writing to a string does not fail.
                let _ = write!(functions, "{comma}{index}");
            }
            self.sample(sample, &functions);
            self.write_if_full(text)?;
        }
        Ok(())
    }

    fn function(&mut self, frame: &StackFrame) {
        let StackFrame { function, file, line, origin } = frame;
        let (function, origin) = (json::string(function), origin_name(*origin));
        let file = or_null(file.as_deref().map(json::string));
        let line = or_null(*line);
        self.add(List::Functions, format_args!("[{function},{file},{line},\"{origin}\"]"));
    }

    fn sample(&mut self, sample: &PollSample, functions: &str) {
        let PollSample { thread, poll_start_ns, at_ns, is_complete, .. } = *sample;
        let [start_ns, at_ns] = [poll_start_ns, at_ns].map(number);
        let blocked_in = or_null(sample.blocked_in.as_deref().map(json::string));
        self.add(
            List::Samples,
            format_args!("[{thread},{start_ns},{at_ns},{blocked_in},{is_complete},[{functions}]]"),
        );
    }
}
