//! The outputs: the report, the page and the SVG for people, and the formats of other tools. They show the
//! results of the analysis.

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
