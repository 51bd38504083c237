//! What people look at: the report, the page and the SVG. They show what the analysis found.

#[cfg(feature = "cli")]
pub(crate) mod awaits;
#[cfg(feature = "html")]
pub mod html;
pub mod report;
pub mod svg;
pub mod trees;
