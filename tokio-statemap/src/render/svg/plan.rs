//! How much is drawn: how many rows, how high, at which resolution.

use std::ops::Range;

use crate::analysis::picture::SectionKind;

/// How many pixels wide the map is where nothing scales it.
pub(super) const MAP_WIDTH: u32 = 840;

/// How many columns time is divided into: at least about one a pixel.
pub(super) const COLUMNS: Range<u32> = 1024..65_536;

/// From how many bytes on there are no more columns, even if there is room.
pub(super) const CLOSE_ENOUGH: u64 = 500_000;

/// How many rows are drawn to find out how large all of them will be.
pub(super) const SAMPLE: usize = 32;

/// How many rows of a kind are drawn at most: a picture that is ten screens high shows no more than
/// one that is four.
pub(super) fn most_rows(kind: SectionKind) -> usize {
    match kind {
        SectionKind::Workers => 256,
        SectionKind::Blocking => 16,
        SectionKind::Tasks | SectionKind::Other => 1024,
    }
}

/// How high a row is where there are so many of its kind, in pixels.
pub(super) fn row_height(kind: SectionKind, rows: usize) -> u32 {
    let (room, lowest, highest) = match kind {
        SectionKind::Workers => (480, 6, 20),
        SectionKind::Blocking => (160, 6, 12),
        SectionKind::Tasks | SectionKind::Other => (1600, 4, 20),
    };
    (room / rows.max(1) as u32).clamp(lowest, highest)
}
