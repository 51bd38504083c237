//! Replaces the module `recording` in a build that records nothing.

#[path = "recording/keys.rs"]
mod keys;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;

use tokio::runtime::{Builder, Runtime};

use crate::hooks::Hooks;

/// Records runtimes that are built by hand, in a build with the feature `record`. In this build it does nothing: it
/// installs no hook but the program's own, and writes no file.
#[derive(Debug, Default)]
#[must_use = "a recording ends when it is dropped: keep it until the runtime was dropped"]
pub struct Recording {
    hooks: Option<Hooks>,
}

impl Recording {
    /// Creates a recording, which does nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a recording, which does nothing.
    pub fn from_env() -> Self {
        Self::default()
    }

    fn set_hooks(&mut self, hooks: Hooks) {
        self.hooks = Some(hooks);
    }

    /// Installs the program's own hooks, and nothing else.
    ///
    /// # Errors
    ///
    /// None in this build.
    pub fn start(mut self, builder: &mut Builder) -> Result<Self, Error> {
        if let Some(hooks) = self.hooks.take() {
            hooks.install(builder);
        }
        Ok(self)
    }

    /// Does nothing.
    pub fn runtime(&self, _: &mut Builder) -> RecordedRuntime {
        RecordedRuntime(())
    }

    /// Installs the program's own hooks, and nothing else.
    pub fn runtime_with(&self, builder: &mut Builder, hooks: Hooks) -> RecordedRuntime {
        hooks.install(builder);
        RecordedRuntime(())
    }

    /// Runs `future` with [`Runtime::block_on`].
    ///
    /// # Panics
    ///
    /// Panics where [`Runtime::block_on`] does.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(future)
    }

    /// Returns `future`.
    pub fn root<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        future
    }
}

/// A further runtime of a recording. In this build it does nothing.
#[derive(Debug)]
pub struct RecordedRuntime(());

impl RecordedRuntime {
    /// Runs `future` with [`Runtime::block_on`].
    ///
    /// # Panics
    ///
    /// Panics where [`Runtime::block_on`] does.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(future)
    }

    /// Returns `future`.
    pub fn root<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        future
    }
}

/// The errors of this crate. This build has none.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error(Infallible);

impl fmt::Display for Error {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    /// A program needs no `cfg`: everything that it calls exists, runs, and leaves nothing behind.
    #[test]
    fn it_does_nothing_but_to_install_the_programs_own_hooks() {
        let path = std::env::temp_dir().join(format!("statemap-off-{}.html", std::process::id()));
        let (is_called, sets) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (set, also_set) = (Arc::clone(&is_called), Arc::clone(&sets));
        let hooks = Hooks::new().on_thread_park(move || set.store(true, Ordering::Relaxed));
        let mut builders = [Builder::new_current_thread(), Builder::new_current_thread()];
        let recording = Recording::new().html(&path).svg(&path).max_events(0).hooks(hooks);
        let recording = recording.start(&mut builders[0]).unwrap();
        let hooks = Hooks::new().on_thread_park(move || also_set.store(true, Ordering::Relaxed));
        let recorded = recording.runtime_with(&mut builders[1], hooks);
        let [first, second] = builders.map(|mut builder| builder.build().unwrap());
        let sleeps = || async {
            // The runtime parks during this time.
            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(5)))
                .await
                .unwrap();
            7
        };
        assert_eq!(recording.block_on(&first, sleeps()), 7);
        assert_eq!(recorded.block_on(&second, sleeps()), 7);
        assert_eq!(first.block_on(recording.root(sleeps())), 7);
        drop((first, second, recording, Recording::from_env()));
        assert!(is_called.load(Ordering::Relaxed) && sets.load(Ordering::Relaxed));
        assert!(!path.exists());
    }
}
