//! Reads the causes of long polls, and the functions in which polls computed.

use std::sync::Arc;

use super::part::{CpuEntry, Part, SampleEntry};
use super::value::Number;
use crate::recorder::watch::cpu::MOST_STACKS as MOST_CPU_STACKS;
use crate::trace::timeline::{
    CpuStack, CpuTime, MOST_FRAMES, MOST_FRAMES_OF_CPU_STACK, MOST_FRAMES_OF_SAMPLE, PollCause,
    PollKey, PollSample, Sampled, StackFrame,
};

/// The most samples in all: a program keeps 4096.
const MOST_SAMPLES: usize = 8_192;

/// The most samples of one thread and start. A program takes 16 samples of a poll, and nested polls may start at the
/// same time.
const MOST_OF_POLL: usize = 64;

/// The causes and samples of long polls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LongPolls {
    /// The causes, sorted by key.
    pub(crate) causes: Vec<(PollKey, PollCause)>,
    /// The samples, sorted by poll key, then by time.
    pub(crate) samples: Vec<PollSample>,
    /// The samples of other threads while polls waited for locks, sorted like the samples.
    pub(crate) beside: Vec<PollSample>,
    /// The functions of samples, by their indices.
    functions: Vec<StackFrame>,
    /// The CPU time of polls, by stack.
    pub(crate) cpu: CpuTime,
    /// The number of functions in all samples, and in all of `beside`.
    frames: (usize, usize),
}

impl LongPolls {
    /// Adds a part. `edges` are the edges of the run.
    pub(super) fn add(&mut self, edges: (u64, u64), part: &mut Part) -> Result<(), String> {
        for cause in &part.causes {
            self.cause(edges, cause)?;
        }
        let functions = part.functions.drain(..).map(|(function, file, line, origin)| StackFrame {
            function: function.into(),
            file: file.map(Arc::from),
            line,
            origin: origin.0,
        });
        self.functions.extend(functions);
        let Self { samples, beside, functions, frames, .. } = self;
        let mut reader = Samples { list: "samples", samples, functions, frames: &mut frames.0 };
        part.samples.drain(..).try_for_each(|sample| reader.add(sample))?;
        let mut reader =
            Samples { list: "beside", samples: beside, functions, frames: &mut frames.1 };
        part.beside.drain(..).try_for_each(|sample| reader.add(sample))?;
        part.cpu.drain(..).try_for_each(|stack| self.cpu_stack(stack))
    }

    /// Returns the functions of all parts so far, by their indices.
    pub(super) fn functions(&self) -> &[StackFrame] {
        &self.functions
    }

    fn cause(&mut self, (begin_ns, end_ns): (u64, u64), entry: &[Number]) -> Result<(), String> {
        let mut numbers = [0; 8];
        if !(7..=8).contains(&entry.len()) {
            return Err(format!("`causes` has {} numbers; they must be 7 or 8", entry.len()));
        }
        numbers.iter_mut().zip(entry).for_each(|(number, entry)| *number = entry.0);
        let [
            thread,
            start_ns,
            on_cpu_ns,
            blocked_ns,
            run_delay_ns,
            stolen_ns,
            major_faults,
            unknown_ns,
        ] = numbers;
        let thread = u32::try_from(thread).map_err(|_| format!("`causes` has thread {thread}"))?;
        let key = (thread, start_ns);
        let cause =
            PollCause { on_cpu_ns, blocked_ns, run_delay_ns, stolen_ns, unknown_ns, major_faults };
        if self.causes.last().is_some_and(|(last, _)| *last > key) {
            return Err("`causes` must be by thread and start".to_owned());
        }
        let end = cause.parts_ns().and_then(|length_ns| start_ns.checked_add(length_ns));
        if start_ns < begin_ns || end.is_none_or(|end| end > end_ns) {
            return Err(format!(
                "`causes` has a poll at {start_ns} that isn't within {begin_ns} to {end_ns}"
            ));
        }
        self.causes.push((key, cause));
        Ok(())
    }

    fn cpu_stack(&mut self, (samples, cpu_ns, functions): CpuEntry) -> Result<(), String> {
        let mut sampled = Sampled::default();
        (sampled.samples, sampled.cpu_ns) = (samples.0, cpu_ns.0);
        let Some(functions) = functions else {
            self.cpu.outside.add(sampled);
            return Ok(());
        };
        if functions.is_empty() {
            self.cpu.others.add(sampled);
            return Ok(());
        }
        if self.cpu.stacks.len() == MOST_CPU_STACKS || functions.len() > MOST_FRAMES_OF_CPU_STACK {
            return Err(format!(
                "`cpu` has over {MOST_CPU_STACKS} stacks, or one of over {MOST_FRAMES_OF_CPU_STACK} functions, which is \
                 the limit"
            ));
        }
        let frames = frames_of(&self.functions, "cpu", functions)?;
        self.cpu.stacks.push(CpuStack { frames, sampled });
        Ok(())
    }
}

/// The reader of a list of samples.
struct Samples<'a> {
    list: &'static str,
    samples: &'a mut Vec<PollSample>,
    functions: &'a [StackFrame],
    /// The number of functions in the samples of the list.
    frames: &'a mut usize,
}

impl Samples<'_> {
    fn add(&mut self, sample: SampleEntry) -> Result<(), String> {
        let (thread, Number(poll_start_ns), Number(at_ns), blocked_in, is_complete, functions) =
            sample;
        let list = self.list;
        let order = (thread, poll_start_ns, at_ns);
        let is_next = self.samples.last().is_none_or(|last| last.order() <= order);
        if !is_next || at_ns < poll_start_ns {
            return Err(format!(
                "`{list}` must be by thread, start and time, none before its poll"
            ));
        }
        if self.samples.len() >= MOST_SAMPLES {
            return Err(format!("`{list}` are over {MOST_SAMPLES}, which is the limit"));
        }
        // The samples are sorted, so those of the current poll are the last ones.
        let first = self.samples.len().checked_sub(MOST_OF_POLL);
        let key = (thread, poll_start_ns);
        if first.is_some_and(|first| self.samples[first].poll_key() == key) {
            return Err(format!(
                "`{list}` has over {MOST_OF_POLL} of the poll of thread {thread} at \
                 {poll_start_ns}, which is the limit"
            ));
        }
        if functions.len() > MOST_FRAMES_OF_SAMPLE {
            return Err(format!(
                "`{list}` has one with over {MOST_FRAMES_OF_SAMPLE} functions, of thread {thread} at \
                 {at_ns}"
            ));
        }
        *self.frames += functions.len();
        if *self.frames > MOST_FRAMES {
            return Err(format!("`{list}` have over {MOST_FRAMES} functions"));
        }
        let frames = frames_of(self.functions, list, functions)?;
        self.samples.push(PollSample {
            thread,
            poll_start_ns,
            at_ns,
            blocked_in,
            frames,
            is_complete,
        });
        Ok(())
    }
}

/// Returns the functions at these indices of a list.
fn frames_of(
    functions: &[StackFrame],
    list: &str,
    indices: Vec<u32>,
) -> Result<Vec<StackFrame>, String> {
    let mut frames = Vec::with_capacity(indices.len());
    for index in indices {
        let frame = functions.get(index as usize);
        let no = || format!("`{list}` has an index that `functions` doesn't have");
        frames.push(frame.ok_or_else(no)?.clone());
    }
    Ok(frames)
}
