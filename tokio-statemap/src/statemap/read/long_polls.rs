//! Why polls took long, as it is in the data.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};

use super::facts::Number;
use super::field::shorten;
use crate::statemap::run::origin_name;
use crate::trace::timeline::{
    FrameOrigin, MOST_FRAMES, MOST_FRAMES_OF_SAMPLE, PollCause, PollKey, PollSample, StackFrame,
};

/// How many samples there may be in all: a program keeps 4096.
const MOST_SAMPLES: usize = 8_192;

/// How many samples may be of one thread and start: a program takes 16 of a poll, and polls that are within
/// one another may start at the same time.
const MOST_OF_POLL: usize = 64;

/// What is known of long polls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LongPolls {
    /// By their keys.
    pub(crate) causes: Vec<(PollKey, PollCause)>,
    /// By their polls' keys and time.
    pub(crate) samples: Vec<PollSample>,
    /// Those that samples have, by their indices.
    functions: Vec<StackFrame>,
    /// How many functions the samples have.
    frames: usize,
}

/// `[thread, start, onCpu, blocked, runDelay, stolen, majorFaults, unknown]`: the last one was not always there.
#[derive(Debug)]
pub(super) struct CauseEntry {
    key: (u32, u64),
    cause: PollCause,
}

/// `[function, file, line, origin]`
pub(super) type FunctionEntry = (String, Option<String>, Option<u32>, Origin);

/// `[thread, pollStart, at, blockedIn, isComplete, functions]`
pub(super) type SampleEntry = (u32, Number, Number, Option<String>, bool, Vec<u32>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Origin(FrameOrigin);

impl LongPolls {
    /// Adds what a part says. `edges` are those of the run.
    pub(super) fn add(
        &mut self,
        edges: (u64, u64),
        causes: &[CauseEntry],
        functions: &mut Vec<FunctionEntry>,
        samples: &mut Vec<SampleEntry>,
    ) -> Result<(), String> {
        for cause in causes {
            self.cause(edges, cause)?;
        }
        let functions = functions.drain(..).map(|(function, file, line, origin)| StackFrame {
            function: function.into(),
            file: file.map(Arc::from),
            line,
            origin: origin.0,
        });
        self.functions.extend(functions);
        samples.drain(..).try_for_each(|sample| self.sample(sample))
    }

    /// The functions that parts had so far, by their indices.
    pub(super) fn functions(&self) -> &[StackFrame] {
        &self.functions
    }

    fn cause(&mut self, (begin_ns, end_ns): (u64, u64), cause: &CauseEntry) -> Result<(), String> {
        let &CauseEntry { key, cause } = cause;
        let start_ns = key.1;
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

    fn sample(&mut self, sample: SampleEntry) -> Result<(), String> {
        let (thread, Number(poll_start_ns), Number(at_ns), blocked_in, is_complete, functions) =
            sample;
        let order = (thread, poll_start_ns, at_ns);
        let is_next = self.samples.last().is_none_or(|last| last.order() <= order);
        if !is_next || at_ns < poll_start_ns {
            return Err(
                "`samples` must be by thread, start and time, none before its poll".to_owned()
            );
        }
        if self.samples.len() >= MOST_SAMPLES {
            return Err(format!(
                "`samples` are over {MOST_SAMPLES}, which is the most there may be"
            ));
        }
        // They are in order, so that those of one poll are the last ones.
        let first = self.samples.len().checked_sub(MOST_OF_POLL);
        let key = (thread, poll_start_ns);
        if first.is_some_and(|first| self.samples[first].poll_key() == key) {
            return Err(format!(
                "`samples` has over {MOST_OF_POLL} of the poll of thread {thread} at \
                 {poll_start_ns}, which is the most that one may have"
            ));
        }
        if functions.len() > MOST_FRAMES_OF_SAMPLE {
            return Err(format!(
                "`samples` has one with over {MOST_FRAMES_OF_SAMPLE} functions, of thread {thread} at \
                 {at_ns}"
            ));
        }
        self.frames += functions.len();
        if self.frames > MOST_FRAMES {
            return Err(format!("`samples` have over {MOST_FRAMES} functions"));
        }
        let mut frames = Vec::with_capacity(functions.len());
        for index in functions {
            let frame = self.functions.get(index as usize);
            let frame = frame.ok_or("`samples` has an index that `functions` doesn't have")?;
            frames.push(frame.clone());
        }
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

impl<'de> Deserialize<'de> for CauseEntry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(CauseVisitor)
    }
}

struct CauseVisitor;

impl<'de> Visitor<'de> for CauseVisitor {
    type Value = CauseEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of 7 or 8 numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<CauseEntry, A::Error> {
        let thread = list.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let mut numbers = [0; 7];
        for (place, number) in numbers.iter_mut().enumerate() {
            match list.next_element()? {
                Some(Number(n)) => *number = n,
                None if place == 6 => {}
                None => return Err(A::Error::invalid_length(place + 1, &self)),
            }
        }
        if list.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(9, &self));
        }
        let [start_ns, on_cpu_ns, blocked_ns, run_delay_ns, stolen_ns, major_faults, unknown_ns] =
            numbers;
        let cause =
            PollCause { on_cpu_ns, blocked_ns, run_delay_ns, stolen_ns, unknown_ns, major_faults };
        Ok(CauseEntry { key: (thread, start_ns), cause })
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use FrameOrigin::{Dependency, Program, Runtime, Std, System};
        let name = String::deserialize(from)?;
        let all = [Program, Dependency, Std, Runtime, System];
        let origin = all.into_iter().find(|&origin| origin_name(origin) == name);
        let no = || D::Error::custom(format!("there is no origin `{}`", shorten(&name)));
        origin.map(Self).ok_or_else(no)
    }
}
