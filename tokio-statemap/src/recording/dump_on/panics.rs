//! The trigger `panic`: a hook that runs before the program's own.

use std::panic::{Location, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pages;
use crate::recording::exits;
use crate::util::clean::clean;
use crate::util::source_path::shown;

/// The process whose panics are seen. In a child of a fork, the locks of its parent may be held forever.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Sees the panics of this process from now on, also those that are caught. The hook that is set so far is called as
/// before. One that the program sets later replaces this one, unless it calls the one before.
pub(super) fn watch() {
    static HOOK: Once = Once::new();
    PROCESS.store(std::process::id(), Ordering::Release);
    if std::thread::panicking() {
        return; // A panicking thread can't set a hook.
    }
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let is_here = PROCESS.load(Ordering::Acquire) == std::process::id();
            // A panic of a function that uploads pages must not lead to further pages.
            if is_here && !pages::is_this_thread() {
                note(info.location());
            }
            before(info);
        }));
    });
}

fn note(location: Option<&Location<'_>>) {
    let why = || match location {
        Some(location) => format!("a panic at {}", clean(&shown(&location.to_string()))),
        None => "a panic".to_owned(),
    };
    exits::each(&mut |recording| {
        if let Some(dump_on) = recording.dump_on.as_ref().filter(|dump_on| dump_on.panics) {
            dump_on.trigger(&why);
        }
    });
}
