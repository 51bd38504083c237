//! Synchronisation primitives: std's, or loom's in the models (`recorder::models`), which are built with
//! `--cfg statemap_loom`. (Tokio uses the flag `loom` itself.)

#[cfg(statemap_loom)]
mod model;

#[cfg(not(statemap_loom))]
pub(crate) use std::sync::atomic::AtomicUsize;
#[cfg(not(statemap_loom))]
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};

#[cfg(statemap_loom)]
pub(crate) use loom::sync::{Arc, atomic::AtomicUsize};
#[cfg(statemap_loom)]
pub(crate) use model::{Accesses, Mutex, MutexGuard, load_own};

/// Loads an atomic that only the calling thread stores to.
#[cfg(not(statemap_loom))]
#[inline(always)]
pub(crate) fn load_own(atomic: &AtomicUsize) -> usize {
    atomic.load(std::sync::atomic::Ordering::Relaxed)
}

/// Tells a model which places of memory are read and written, so that it finds unordered accesses. Does
/// nothing outside of models.
#[cfg(not(statemap_loom))]
#[derive(Debug)]
pub(crate) struct Accesses;

#[cfg(not(statemap_loom))]
impl Accesses {
    /// Creates the record for `_places` places of memory.
    #[inline(always)]
    pub(crate) fn new(_places: usize) -> Self {
        Self
    }

    /// Records that these places are read.
    #[inline(always)]
    pub(crate) fn read(&self, _places: std::ops::Range<usize>) {}

    /// Records that these places are written.
    #[inline(always)]
    pub(crate) fn write(&self, _places: std::ops::Range<usize>) {}
}
