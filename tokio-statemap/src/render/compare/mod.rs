//! The comparison of two versions of a program, as text and as JSON.

mod json;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use crate::analysis::compare::{
    Change, Comparison, Factor, Figures, Line, LineChange, NewLongPolls, RequestChange,
    RequestFigures, Side, compare,
};
pub use json::json;
