//! Folded stacks of polls, one stack per line, for flame graphs.

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
/// The weight is a poll's own time, in ns: how long it held its worker (or ran on another thread), without the time
/// that the machine took, and without waits for the runtime's own locks. The samples of a poll share it in proportion
/// to the time since the sample before. A poll without a known stack, as all short ones are, is `spawn location;poll`.
/// The weight of a location is therefore the own time of all its polls.
///
/// If there are several runs, each stack begins with the title of its run. The call that a thread was blocked in comes
/// last, as `[clock_nanosleep]`. A `;` in a name becomes `,`.
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

/// Returns the name of a run among several.
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
    // There are millions of polls but few stacks.
    match weights.get_mut(stack) {
        Some(weight) => *weight += u128::from(own_ns),
        None => drop(weights.insert(stack.to_owned(), own_ns.into())),
    }
}

fn push_sample(stack: &mut String, sample: &PollSample) {
    if !sample.is_complete {
        push(stack, "[unknown]");
    }
    for frame in sample.frames.iter().rev() {
        push(stack, &text::function(frame));
    }
    if let Some(call) = &sample.blocked_in {
        push(stack, &format!("[{call}]"));
    }
}

/// Appends a frame, without line breaks and separators in its name.
fn push(stack: &mut String, frame: &str) {
    if !stack.is_empty() {
        stack.push(';');
    }
    stack.extend(clean(frame).chars().map(|c| if c == ';' { ',' } else { c }));
}
