//! Functions as JSON, with each name once.

use std::borrow::Cow;
use std::sync::Arc;

use crate::trace::timeline::{FrameOrigin, StackFrame};
use crate::util::json::{Raw, array};
use crate::util::map::Map;
use crate::util::source_path::shown;

/// The names of functions and files, without repetitions.
#[derive(Default)]
pub(super) struct Names {
    pub(super) all: Vec<String>,
    indices: Map<Arc<str>, usize>,
}

impl Names {
    /// Writes each frame as the name of the function, the file (from 1 on), the line, and the origin.
    pub(super) fn frames(&mut self, frames: &[StackFrame]) -> Raw {
        array(frames, |frame| {
            let file = frame.file.as_ref().map_or(0, |file| self.index(&shown_name(file)) + 1);
            let line = frame.line.map_or(0, |line| line as usize);
            [self.index(&frame.function), file, line, origin(frame.origin)]
        })
    }

    fn index(&mut self, name: &Arc<str>) -> usize {
        *self.indices.get_or_insert_with(Arc::clone(name), || {
            self.all.push(name.to_string());
            self.all.len() - 1
        })
    }
}

/// Returns the name of a file as it is shown.
fn shown_name(file: &Arc<str>) -> Arc<str> {
    match shown(file) {
        Cow::Borrowed(whole) if whole.len() == file.len() => Arc::clone(file),
        shown => shown.into(),
    }
}

/// Converts an index that may be missing: from 1 on, and 0 for none.
pub(super) fn from_1(index: Option<u32>) -> u32 {
    index.map_or(0, |index| index + 1)
}

/// Returns the index of an origin in the page's list.
fn origin(origin: FrameOrigin) -> usize {
    match origin {
        FrameOrigin::Program => 0,
        FrameOrigin::Dependency => 1,
        FrameOrigin::Std => 2,
        FrameOrigin::Runtime => 3,
        FrameOrigin::System => 4,
    }
}
