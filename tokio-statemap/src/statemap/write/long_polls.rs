//! Writes why polls took long, and the functions in which polls computed.

use std::io;

use super::run::{Indices, List, Number, Parts};
use super::stream::Text;
use crate::statemap::run::origin_name;
use crate::trace::timeline::{
    CpuStack, CpuTime, PollCause, PollSample, Sampled, StackFrame, Timeline,
};

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
            self.entry(
                text,
                List::Causes,
                &[
                    &thread,
                    &Number(start_ns),
                    &Number(on_cpu_ns),
                    &Number(blocked_ns),
                    &Number(run_delay_ns),
                    &Number(stolen_ns),
                    &Number(major_faults),
                    &Number(unknown_ns),
                ],
            )?;
        }
        Ok(())
    }

    /// Returns the index of a function. A new function is added before the entry that uses it.
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

    /// Returns the indices of the functions of a stack. If new functions make a part full, the part is written.
    fn indices_of<'a>(
        &mut self,
        frames: &'a [StackFrame],
        indices: &mut Indices<'a>,
        text: &mut Text<'_>,
    ) -> io::Result<Vec<usize>> {
        let mut functions = Vec::with_capacity(frames.len());
        for frame in frames {
            functions.push(self.index_of(frame, indices));
            self.write_if_full(text)?;
        }
        Ok(functions)
    }

    /// Writes a list of samples of threads.
    pub(super) fn samples<'a>(
        &mut self,
        list: List,
        samples: &'a [PollSample],
        indices: &mut Indices<'a>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for sample in samples {
            let functions = self.indices_of(&sample.frames, indices, text)?;
            let PollSample { thread, poll_start_ns, at_ns, is_complete, .. } = *sample;
            let (start_ns, at_ns) = (Number(poll_start_ns), Number(at_ns));
            let blocked_in = sample.blocked_in.as_deref();
            self.entry(
                text,
                list,
                &[&thread, &start_ns, &at_ns, &blocked_in, &is_complete, &functions],
            )?;
        }
        Ok(())
    }

    /// Writes the stacks in which polls computed.
    pub(super) fn cpu<'a>(
        &mut self,
        timeline: &'a Timeline,
        indices: &mut Indices<'a>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        let CpuTime { stacks, others, outside } = &timeline.cpu;
        for CpuStack { frames, sampled } in stacks {
            let functions = self.indices_of(frames, indices, text)?;
            self.sampled(*sampled, Some(functions), text)?;
        }
        self.sampled(*others, Some(Vec::new()), text)?;
        self.sampled(*outside, None, text)
    }

    fn sampled(
        &mut self,
        Sampled { samples, cpu_ns }: Sampled,
        functions: Option<Vec<usize>>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        if samples == 0 && cpu_ns == 0 {
            return Ok(());
        }
        self.entry(text, List::Cpu, &[&Number(samples), &Number(cpu_ns), &functions])
    }

    fn function(&mut self, frame: &StackFrame) {
        let StackFrame { function, file, line, origin } = frame;
        let (file, origin) = (file.as_deref(), origin_name(*origin));
        self.add(List::Functions, &[&&**function, &file, line, &origin]);
    }
}
