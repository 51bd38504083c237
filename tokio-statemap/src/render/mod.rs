//! The outputs: the report, the page and the SVG for people, and the formats of other tools. They show the
//! results of the analysis.
//!
//! Imports point down this list, or from a child to its parent, which `tests/tests/repository/layers.rs` checks:
//!
//! 1. `palette`: the colours.
//! 2. The outputs: `report`, `trees`, `html`, `svg`, `prometheus`, `export`.
//! 3. Those that are made with others: `awaits`, `compare`, `limits`, `now`.

#[cfg(feature = "cli")]
pub(crate) mod awaits;
#[cfg(feature = "read")]
pub mod compare;
#[cfg(feature = "read")]
pub mod export;
#[cfg(feature = "html")]
pub mod html;
mod limits;
#[cfg(all(has_black_box, feature = "read"))]
pub(crate) mod now;
#[cfg_attr(
    not(any(feature = "html", feature = "svg")),
    allow(dead_code, reason = "the report has few colours")
)]
pub(crate) mod palette;
pub(crate) mod prometheus;
pub mod report;
#[cfg(feature = "svg")]
pub mod svg;
pub mod trees;
