//! Bugs that the proofs must find: `--cfg statemap_plant` compiles them, and `STATEMAP_PLANT` chooses one when the program
//! runs, so that a proof and its failure are of one build.

/// Whether the proofs are to find this bug.
#[cfg(statemap_plant)]
pub(crate) fn planted(bug: &str) -> bool {
    use std::sync::OnceLock;
    static PLANTED: OnceLock<Option<String>> = OnceLock::new();
    PLANTED.get_or_init(|| std::env::var("STATEMAP_PLANT").ok()).as_deref() == Some(bug)
}

/// Whether the proofs are to find this bug.
#[cfg(not(statemap_plant))]
pub(crate) const fn planted(_bug: &str) -> bool {
    false
}
