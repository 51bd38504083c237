//! The source code around the lines that the page names, as JSON.

use crate::analysis::picture::Excerpts;
use crate::util::json::{Raw, array, list, object};

/// `all`: the line in question, the first line, the lines, and whether the file is newer than the recording.
/// `frames` and `groups` refer to it by section and frame, and by section and group.
pub(super) fn excerpts(excerpts: &Excerpts) -> Raw {
    let all = array(&excerpts.all, |of| list(&[&of.line, &of.first, &of.lines, &of.is_changed]));
    let frames = array(&excerpts.of_frames, |&(section, frame, at)| [section, frame as usize, at]);
    object(&[
        ("all", &all),
        ("frames", &frames),
        ("groups", &array(&excerpts.of_groups, |&(section, group, at)| [section, group, at])),
    ])
}
