//! Tells whether a runtime is stalled: each of its workers has been in one poll for long.

use std::time::Duration;

use crate::recorder::hot::Shared;
use crate::recorder::store::look::{Doing, Look};

/// Returns the time in ticks since when each worker of the runtime is in its poll, if that is `time` ago at least. If it
/// isn't known what a worker does, the runtime doesn't count as stalled.
#[cfg_attr(not(feature = "html"), allow(dead_code, reason = "pages ask"))]
pub(in crate::recorder::background) fn stalled_since(
    recorder: &Shared,
    time: Duration,
) -> Option<u64> {
    let (now, since) = (recorder.kept.clock.ticks(), recorder.kept.recording_since());
    let (mut held, mut latest) = (Vec::new(), 0);
    for buffer in recorder.kept.buffers.all() {
        let Some(worker) = buffer.watched.worker() else { continue };
        let Some(look) = Look::before(buffer, now) else { continue };
        // The thread may also be one that took over the worker of a thread in `block_in_place`.
        let Doing::Poll { start_ticks, .. } = look.since(since).doing else { return None };
        if u128::from(recorder.kept.clock.length_ns(start_ticks, now)) < time.as_nanos() {
            return None;
        }
        latest = start_ticks.max(latest);
        if !held.contains(&worker) {
            held.push(worker);
        }
    }
    (!held.is_empty() && held.len() == recorder.runtime.workers()).then_some(latest)
}

#[cfg(all(test, tokio_unstable))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread::sleep;

    use tokio::runtime::{Builder, Runtime};

    use super::*;
    use crate::config::CollectorConfig;
    use crate::hooks::{Hooks, install};
    use crate::recorder::{Recorder, TokioHooks};

    const HOUR: Duration = Duration::from_secs(3600);
    const MS: Duration = Duration::from_millis(1);

    /// Tasks that hold their threads until they are released.
    #[derive(Default)]
    struct Held {
        entered: AtomicUsize,
        is_over: AtomicBool,
    }

    impl Held {
        fn hold(&self) {
            self.entered.fetch_add(1, Ordering::Relaxed);
            while !self.is_over.load(Ordering::Relaxed) {
                sleep(MS);
            }
        }

        fn wait_for(&self, entered: usize) {
            while self.entered.load(Ordering::Relaxed) < entered {
                sleep(MS);
            }
        }
    }

    fn recorded() -> (Recorder, Runtime, Arc<Held>) {
        let recorder = Recorder::new(CollectorConfig::default());
        let mut builder = Builder::new_multi_thread();
        install(builder.worker_threads(2), Hooks::new(), Some(TokioHooks::new(&recorder)));
        recorder.start();
        let runtime = builder.build().expect("a runtime");
        (recorder, runtime, Arc::default())
    }

    #[test]
    fn all_workers_are_held() {
        let (recorder, runtime, held) = recorded();
        let hold = || {
            let held = Arc::clone(&held);
            runtime.spawn(async move { held.hold() })
        };
        assert_eq!(stalled_since(&recorder, Duration::ZERO), None);
        let first = hold();
        held.wait_for(1);
        assert_eq!(stalled_since(&recorder, Duration::ZERO), None);
        let second = hold();
        held.wait_for(2);
        let since = stalled_since(&recorder, Duration::ZERO);
        assert!(since.is_some() && stalled_since(&recorder, HOUR).is_none());
        assert_eq!(stalled_since(&recorder, Duration::ZERO), since);
        held.is_over.store(true, Ordering::Relaxed);
        runtime.block_on(async { (first.await.unwrap(), second.await.unwrap()) });
        drop(runtime);
        assert_eq!(stalled_since(&recorder, Duration::ZERO), None);
    }

    #[test]
    fn a_worker_that_another_thread_took_over_goes_on() {
        let (recorder, runtime, held) = recorded();
        let hold = || {
            let held = Arc::clone(&held);
            runtime.spawn(async move { tokio::task::block_in_place(|| held.hold()) })
        };
        let tasks = [hold(), hold()];
        held.wait_for(2);
        // The other threads may not run yet.
        while stalled_since(&recorder, Duration::ZERO).is_some() {
            sleep(MS);
        }
        for _ in 0..20 {
            sleep(MS);
            assert_eq!(stalled_since(&recorder, Duration::ZERO), None);
        }
        held.is_over.store(true, Ordering::Relaxed);
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
    }
}
