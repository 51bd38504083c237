//! The stacks of polls, folded: a line a stack, for flame graphs.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use super::rows::for_each_poll;
use super::{Run, text};
use crate::analysis::polls::stacks;
use crate::trace::timeline::PollSample;
use crate::util::clean::clean;

/// Writes the stacks of all polls of the runs: `spawn location;outermost;…;innermost 1234`, as inferno and speedscope
/// read them.
///
/// The weight is time, in ns: all of a poll's own time, that is, how long it held its worker (on a thread that is no
/// worker, how long it ran) without what the machine took, and without waits for locks of the runtime's. The
/// samples of a poll share it, by the time since the one before. A poll of which no stack is known, as all short ones, is
/// `spawn location;poll`. So a location's weight is how long its polls held workers by their own doing, and the sum is
/// that of all.
///
/// Several runs are told apart by their titles, which then come first. What a thread was blocked in comes last, as
/// `[clock_nanosleep]`. A `;` in a name is written `,`.
///
/// # Errors
///
/// If `w` fails.
pub fn write(runs: &[&Run<'_>], w: impl Write) -> io::Result<()> {
    let mut weights: BTreeMap<String, u128> = BTreeMap::new();
    let mut stack = String::new();
    for run in runs {
        for_each_poll(run, |row| {
            let mut has_stack = false;
            let begin = |stack: &mut String| {
                stack.clear();
                if runs.len() > 1 {
                    push(stack, &title(run));
                }
                push(stack, row.spawn_location);
            };
            for (sample, own_ns) in stacks(run.timeline, row.poll, row.facts.own_ns) {
                has_stack = true;
                begin(&mut stack);
                push_sample(&mut stack, sample);
                add(&mut weights, &stack, own_ns);
            }
            if !has_stack {
                begin(&mut stack);
                push(&mut stack, "poll");
                add(&mut weights, &stack, row.facts.own_ns);
            }
            Ok(())
        })?;
    }
    let mut w = BufWriter::with_capacity(1 << 16, w);
    for (stack, own_ns) in weights {
        writeln!(w, "{stack} {own_ns}")?;
    }
    w.flush()
}

/// What a run is called among several.
fn title(run: &Run<'_>) -> String {
    match &run.timeline.runtime {
        Some(runtime) => format!("{} {runtime}", run.title),
        None => run.title.to_owned(),
    }
}

fn add(weights: &mut BTreeMap<String, u128>, stack: &str, own_ns: u64) {
    if own_ns == 0 {
        return;
    }
    // There are millions of polls, and few stacks.
    match weights.get_mut(stack) {
        Some(weight) => *weight += u128::from(own_ns),
        None => drop(weights.insert(stack.to_owned(), own_ns.into())),
    }
}

fn push_sample(stack: &mut String, sample: &PollSample) {
    if !sample.is_complete {
        push(stack, "[not known]");
    }
    for frame in sample.frames.iter().rev() {
        push(stack, &text::function(frame));
    }
    if let Some(call) = &sample.blocked_in {
        push(stack, &format!("[{call}]"));
    }
}

/// Adds a frame: on one line, and without what parts frames.
fn push(stack: &mut String, frame: &str) {
    if !stack.is_empty() {
        stack.push(';');
    }
    stack.extend(clean(frame).chars().map(|c| if c == ';' { ',' } else { c }));
}
