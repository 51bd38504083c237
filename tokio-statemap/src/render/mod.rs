//! What people look at: the report, the page and the SVG; and what other tools read. They show what the analysis found.

#[cfg(feature = "cli")]
pub(crate) mod awaits;
pub mod compare;
#[cfg(feature = "read")]
pub mod export;
#[cfg(feature = "html")]
pub mod html;
mod length;
mod limits;
pub(crate) mod palette;
pub mod report;
pub mod svg;
pub mod trees;
