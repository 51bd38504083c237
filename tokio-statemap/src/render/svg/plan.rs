//! Measures of the picture: its widths, and the number, height and resolution of its rows.

use std::ops::Range;

use crate::analysis::picture::SectionKind;

/// The width of the map, of the labels beside it, and of the margins, in pixels, unless the picture is scaled.
pub(super) const MAP_WIDTH: u32 = 840;
pub(super) const LABELS: u32 = 130;
pub(super) const MARGIN: u32 = 15;
/// The left edge of the map.
pub(super) const MAP_LEFT: u32 = MARGIN + LABELS;
/// The width of the picture.
pub(super) const WIDTH: u32 = MAP_LEFT + MAP_WIDTH + MARGIN;

/// The number of columns that time is divided into: at least about one per pixel.
pub(super) const COLUMNS: Range<u32> = 1024..65_536;

/// The size in bytes from which no more columns are added, even if there is room.
pub(super) const CLOSE_ENOUGH: u64 = 500_000;

/// The number of rows that are drawn to estimate the size of all rows.
pub(super) const SAMPLE: usize = 32;

/// The most gaps that are drawn.
pub(super) const GAPS: usize = 200;

/// Returns the most rows of a kind that are drawn: a picture of ten screens shows no more than one of four.
pub(super) fn most_rows(kind: SectionKind) -> usize {
    match kind {
        SectionKind::Workers => 256,
        SectionKind::Blocking => 16,
        SectionKind::Tasks | SectionKind::Other => 1024,
    }
}

/// Returns the height of a row, in pixels, given the number of rows of its kind.
pub(super) fn row_height(kind: SectionKind, rows: usize) -> u32 {
    let (room, lowest, highest) = match kind {
        SectionKind::Workers => (480, 6, 20),
        SectionKind::Blocking => (160, 6, 12),
        SectionKind::Tasks | SectionKind::Other => (1600, 4, 20),
    };
    (room / rows.max(1) as u32).clamp(lowest, highest)
}
