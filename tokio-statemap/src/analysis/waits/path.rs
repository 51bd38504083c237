//! Finds functions in a wait, and the lines of the program from one of them down.

use crate::analysis::place::source_line;
use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::timeline::{AwaitFrame, Wait};

/// The most functions of one wait that are looked at: a file may have any number of them.
const MOST: usize = 1 << 12;

/// Returns the frame in which the function of `line` is in a wait.
pub(in crate::analysis) fn frame_in<'a>(
    wait: &'a Wait,
    line: &StackFrame,
) -> Option<&'a AwaitFrame> {
    let mut open: Vec<_> = wait.frames.iter().collect();
    let mut seen = 0;
    while let Some(frame) = open.pop() {
        seen += 1;
        let at = &frame.function;
        let is_same = at.function == line.function && at.file == line.file && at.file.is_some();
        if is_same {
            return Some(frame);
        }
        if seen > MOST {
            return None;
        }
        open.extend(&frame.awaits);
    }
    None
}

/// Returns the frame in which the function of `line` is in a wait, if it is further on than `line`.
pub(in crate::analysis) fn frame_past<'a>(
    wait: &'a Wait,
    line: &StackFrame,
) -> Option<&'a AwaitFrame> {
    let frame = frame_in(wait, line)?;
    let (at, past) = (frame.function.line?, line.line?);
    (at > past).then_some(frame)
}

/// Returns whether the functions of `line` in one wait and of `past` in another may be one. Functions without a name have only their
/// file in common, so these must have been called at one line.
pub(in crate::analysis) fn may_be_one_function(
    (one, line): (&Wait, &StackFrame),
    (other, past): (&Wait, &StackFrame),
) -> bool {
    !line.is_nameless_async() || caller(one, line) == caller(other, past)
}

/// Returns the function that called the one at this line in a wait.
pub(in crate::analysis) fn caller<'a>(wait: &'a Wait, line: &StackFrame) -> Option<&'a StackFrame> {
    let mut open: Vec<(&AwaitFrame, Option<&StackFrame>)> =
        wait.frames.iter().map(|frame| (frame, None)).collect();
    for _ in 0..MOST {
        let (frame, caller) = open.pop()?;
        if frame.function == *line {
            return caller;
        }
        open.extend(frame.awaits.iter().map(|inner| (inner, Some(&frame.function))));
    }
    None
}

/// Returns the frame in which a wait is at `line` itself, if a function of the program that was called there waits.
pub(in crate::analysis) fn frame_within<'a>(
    wait: &'a Wait,
    line: &StackFrame,
) -> Option<&'a AwaitFrame> {
    let frame = frame_in(wait, line)?;
    let mut awaited = frame.awaits.first();
    while let Some(inner) = awaited {
        if inner.function.origin == FrameOrigin::Program && inner.function.line.is_some() {
            return (frame.function.line == line.line).then_some(frame);
        }
        awaited = inner.awaits.first();
    }
    None
}

/// Returns the lines of the program from `frame` down: `src/shop.rs:22 > src/shop.rs:15`.
pub(in crate::analysis) fn path_below(frame: &AwaitFrame) -> String {
    lines_below(frame).join(ARROW)
}

/// Returns the same; `None` if it is one line, or none is known.
pub(in crate::analysis) fn path_of_several(frame: &AwaitFrame) -> Option<String> {
    let lines = lines_below(frame);
    (lines.len() > 1).then(|| lines.join(ARROW))
}

const ARROW: &str = " > ";

/// Returns the lines of the program from `frame` down. Of many lines, those in the middle are left out.
fn lines_below(frame: &AwaitFrame) -> Vec<String> {
    const MOST_LINES: usize = 4;
    let (mut lines, mut at) = (Vec::new(), Some(frame));
    while let Some(frame) = at {
        if frame.function.origin == FrameOrigin::Program || lines.is_empty() {
            lines.extend(source_line(&frame.function));
        }
        at = frame.awaits.first();
    }
    if lines.len() > MOST_LINES {
        let inner = lines.len() - (MOST_LINES - 1);
        lines.splice(1..inner, ["\u{2026}".to_owned()]);
    }
    lines
}
