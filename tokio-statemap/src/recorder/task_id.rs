//! Tokio's task ids as numbers.

use std::hash::Hash;

use crate::error::InvalidCasts;
use crate::recorder::id_map::KeepU64;

/// Returns the number that `id` displays.
///
/// `tokio::task::Id` has no accessor for it, but implements `Hash`, and feeds that number to the
/// hasher; [`check_casts`] verifies this.
#[cfg_attr(not(tokio_unstable), allow(dead_code))]
#[inline]
pub(crate) fn number(id: tokio::task::Id) -> u64 {
    let mut number = KeepU64::default();
    id.hash(&mut number);
    number.0
}

/// Checks that a `tokio::task::Id` can be read as the `u64` that it displays.
///
/// [`register_hooks`](crate::register_hooks) calls this itself.
///
/// # Errors
///
/// Returns [`InvalidCasts`] if the version of Tokio in use represents ids differently.
///
/// # Examples
///
/// ```
/// tokio_statemap::check_casts()?;
/// # Ok::<(), tokio_statemap::InvalidCasts>(())
/// ```
pub fn check_casts() -> Result<(), InvalidCasts> {
    use std::sync::OnceLock;
    static HOLDS: OnceLock<bool> = OnceLock::new();
    if *HOLDS.get_or_init(ids_are_what_they_display) { Ok(()) } else { Err(InvalidCasts) }
}

fn ids_are_what_they_display() -> bool {
    // Only tasks have ids, and only a runtime spawns tasks. A future that is never polled suffices.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else {
        return true; // no runtime can be built, so there are no tasks
    };
    let ids = [runtime.spawn(async {}).id(), runtime.spawn(async {}).id()];
    // Dropping a runtime can block, which is not allowed inside another runtime.
    runtime.shutdown_background();
    ids.iter().all(|&id| number(id).to_string() == id.to_string())
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_the_numbers_they_display() {
        assert_eq!(super::check_casts(), Ok(()));
    }

    #[tokio::test]
    async fn ids_are_the_numbers_they_display_within_a_runtime() {
        assert!(super::ids_are_what_they_display());
    }
}
