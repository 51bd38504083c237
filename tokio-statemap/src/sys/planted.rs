//! Bugs that the proofs must find: `--cfg statemap_plant` compiles them, and `STATEMAP_PLANT` chooses one when the
//! program runs. So one build proves both.

/// Returns `true` if `bug` is planted in this run.
#[cfg(statemap_plant)]
pub(crate) fn planted(bug: &str) -> bool {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    const NOT_READ: usize = 0;
    const BUGS: [&str; 4] = ["not read", "none", "relaxed", "no-flush"];
    // Relaxed, and no part of a model: anything that orders threads here would hide what they don't order themselves.
    static PLANTED: AtomicUsize = AtomicUsize::new(NOT_READ);
    if PLANTED.load(Relaxed) == NOT_READ {
        let name = std::env::var("STATEMAP_PLANT").unwrap_or_else(|_| "none".to_owned());
        let found = BUGS.iter().position(|known| *known == name);
        PLANTED.store(found.expect("STATEMAP_PLANT names a known bug"), Relaxed);
    }
    BUGS[PLANTED.load(Relaxed)] == bug
}

/// Returns `false`: this build has no planted bugs.
#[cfg(not(statemap_plant))]
pub(crate) const fn planted(_bug: &str) -> bool {
    false
}
