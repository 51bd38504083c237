//! The source code around the lines that the page names, as JSON.

use crate::analysis::picture::Excerpts;
use crate::util::json::{Raw, array, object};

/// `all`: the line in question, the first line, the lines, and whether the file is newer than the recording.
/// `frames` and `groups` refer to it by section and frame, and by section and group.
pub(super) fn excerpts(excerpts: &Excerpts) -> Raw {
    let all = excerpts.all.iter().map(|of| (of.line, of.first, &of.lines, of.is_changed));
    let of_frames = excerpts.of_frames.iter();
    let of_groups = excerpts.of_groups.iter();
    object([
        ("all", &array(all)),
        ("frames", &array(of_frames.map(|&(section, frame, at)| [section, frame as usize, at]))),
        ("groups", &array(of_groups.map(|&(section, group, at)| [section, group, at]))),
    ])
}
