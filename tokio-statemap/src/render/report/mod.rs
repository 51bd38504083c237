//! The report: who held the runtime up, on one screen.
//!
//! [`Timeline::report`](crate::Timeline::report) works it out as data, and the `Display` of [`Report`]
//! is the text: at most about 40 lines of 80 columns that open with a [`Verdict`].

#[cfg(feature = "read")]
mod foreign;
mod layout;
mod text;
mod verdict;

#[cfg(test)]
mod tests;

#[cfg(feature = "read")]
pub use crate::analysis::foreign::{DataReport, GroupTime, Span, StateTime};
pub use crate::analysis::{LocationRow, LongPoll, Place, Report, Verdict, WorkerShare};
use crate::util::clean::clean;

/// A place in at most `width` columns: what is too long loses its left.
fn fit_place(place: Place, width: usize) -> String {
    let Some(location) = place.location else {
        return layout::keep_right(place.nameless(), width);
    };
    let path = location.to_string();
    let room = width.saturating_sub(place.suffix().len());
    format!("{}{}", layout::keep_right(&clean(&path), room), place.suffix())
}
