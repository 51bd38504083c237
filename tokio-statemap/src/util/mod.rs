//! Utilities that any module may use, and that no dependency provides.

#[cfg(feature = "record")]
pub(crate) mod aside;
#[cfg(feature = "record")]
pub(crate) mod atomic_file;
#[cfg(feature = "record")]
pub(crate) mod clean;
#[cfg(feature = "record")]
pub(crate) mod counting;
#[cfg(feature = "record")]
pub(crate) mod heapsort;
#[cfg(feature = "record")]
pub(crate) mod json;
pub(crate) mod message;
#[cfg(feature = "record")]
pub(crate) mod parallel;
#[cfg(feature = "record")]
pub(crate) mod quantity;
#[cfg(all(test, feature = "record"))]
pub(crate) mod random;
#[cfg(feature = "record")]
pub(crate) mod slow;
#[cfg(feature = "record")]
pub(crate) mod source_path;
#[cfg(feature = "record")]
pub(crate) mod sync;
#[cfg(feature = "record")]
pub(crate) mod utc;
