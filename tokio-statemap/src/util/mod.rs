//! Utilities that any module may use, and that no dependency provides.

#[cfg(feature = "record")]
pub(crate) mod aside;
#[cfg(feature = "record")]
pub(crate) mod atomic_file;
#[cfg(feature = "record")]
pub(crate) mod clean;
#[cfg(feature = "record")]
pub(crate) mod columns;
#[cfg(feature = "record")]
pub(crate) mod counting;
#[cfg(feature = "html")]
pub(crate) mod duration;
#[cfg(feature = "html")]
pub(crate) mod glob;
#[cfg(feature = "record")]
pub(crate) mod heapsort;
#[cfg(feature = "record")]
#[cfg_attr(
    not(any(feature = "html", feature = "svg", feature = "read")),
    allow(dead_code, reason = "the data is written by itself")
)]
pub(crate) mod json;
pub(crate) mod latch;
#[cfg(feature = "record")]
pub(crate) mod map;
pub(crate) mod message;
#[cfg(feature = "record")]
pub(crate) mod parallel;
#[cfg(has_black_box)]
pub(crate) mod plain;
#[cfg(feature = "record")]
pub(crate) mod privileges;
#[cfg(feature = "record")]
pub(crate) mod quantity;
#[cfg(feature = "record")]
pub(crate) mod queue;
#[cfg(all(test, feature = "record"))]
pub(crate) mod random;
#[cfg(feature = "record")]
pub(crate) mod slow;
#[cfg(feature = "record")]
pub(crate) mod sort;
#[cfg(feature = "record")]
pub(crate) mod source_path;
#[cfg_attr(
    not(feature = "record"),
    allow(dead_code, reason = "messages take locks, but don't try them")
)]
pub(crate) mod sync;
#[cfg(feature = "record")]
pub(crate) mod utc;
