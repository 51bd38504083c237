//! What a timeline or a file's data means, worked out once for every output.

#[cfg_attr(not(feature = "html"), allow(dead_code, reason = "some of it only the page shows"))]
pub mod picture;
