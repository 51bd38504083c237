//! Tokio's task ids as numbers.

use std::hash::Hash;

use crate::error::InvalidCasts;
use crate::recorder::id_map::KeepU64;

/// Returns the number that `id` displays.
///
/// `tokio::task::Id` has no accessor for it. But it implements `Hash`, and feeds that number to the hasher;
/// [`check_casts`] verifies this.
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
    let is_number = |id: tokio::task::Id| number(id).to_string() == id.to_string();
    // If there is no id, there are no tasks, either.
    new().is_none_or(is_number) && new().is_none_or(is_number)
}

/// Returns the id of a new task. `None` on a thread whose thread-local values are destroyed.
///
/// Spawning a task is the only way to have Tokio assign an id. This one is spawned on a `LocalSet`
/// outside any runtime and is never polled; no hook runs for it.
pub(crate) fn new() -> Option<tokio::task::Id> {
    use tokio::runtime::Handle;
    use tokio::task::LocalSet;

    let is_ending = Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed());
    if is_ending { None } else { Some(LocalSet::new().spawn_local(async {}).id()) }
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
