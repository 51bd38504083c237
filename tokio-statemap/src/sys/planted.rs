//! Bugs that the proofs must find: `--cfg statemap_plant` compiles them, and `STATEMAP_PLANT` chooses one when the program
//! runs. So one build proves both.

/// Whether the proofs are to find this bug.
#[cfg(statemap_plant)]
pub(crate) fn planted(bug: &str) -> bool {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
    const UNKNOWN: u8 = 0;
    const BUGS: [&str; 3] = ["none", "relaxed", "no-flush"];
    // Relaxed, and not of a model: what orders threads here would hide what they don't order themselves.
    static PLANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    if PLANTED.load(Relaxed) == UNKNOWN {
        let name = std::env::var("STATEMAP_PLANT").unwrap_or_else(|_| "none".to_owned());
        let found =
            BUGS.iter().position(|known| *known == name).expect("STATEMAP_PLANT is a known bug");
        PLANTED.store(found as u8 + 1, Relaxed);
    }
    BUGS.get(usize::from(PLANTED.load(Relaxed)) - 1) == Some(&bug)
}

/// Whether the proofs are to find this bug.
#[cfg(not(statemap_plant))]
pub(crate) const fn planted(_bug: &str) -> bool {
    false
}
