//! Two versions of a program, compared: as text, and as JSON.

#[cfg(feature = "read")]
mod json;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use crate::analysis::compare::{
    Change, Comparison, Factor, Figures, Line, LineChange, NewLongPolls, Side, compare,
};
#[cfg(feature = "read")]
pub use json::json;
