//! Runtimes that are built without the attribute.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_statemap::{Collector, CollectorConfig, Recording, TraceTarget, register_hooks};

/// The recorder of a runtime: none, a collector, or a recording.
#[derive(Clone)]
enum Observer {
    None,
    Collector(Arc<Collector>),
    Recording(Arc<Recording>),
}

impl Observer {
    /// Installs hooks in `builder` and starts recording, if `is_observed`.
    fn start(builder: &mut Builder, is_observed: bool) -> Self {
        if !is_observed {
            return Self::None;
        }
        let trace = if cfg!(tokio_unstable) { TraceTarget::Both } else { TraceTarget::Workers };
        if super::is_by_hand() {
            let recording = super::recording().trace(trace).start(builder).unwrap();
            return Self::Recording(Arc::new(recording));
        }
        let config = CollectorConfig { trace_target: trace, ..Default::default() };
        let collector = register_hooks(builder, config).unwrap();
        collector.start();
        Self::Collector(collector)
    }

    fn block_on(&self, runtime: &Runtime, body: impl Future<Output = ()>) {
        match self {
            Self::None => runtime.block_on(body),
            Self::Collector(collector) => collector.block_on(runtime, body),
            Self::Recording(recording) => recording.block_on(runtime, body),
        }
    }

    /// Writes the files. A recording writes them when it is dropped.
    fn write(self) {
        if let Self::Collector(collector) = self {
            let timeline = collector.snapshot();
            let file = |name| fs::File::create(super::out(name)).unwrap();
            timeline.write_html(file("statemap.html")).unwrap();
            timeline.write_svg(file("statemap.svg")).unwrap();
            let data = timeline.into_data();
            fs::write(super::out("tasks.json"), data.tasks_to_bytes().unwrap()).unwrap();
            fs::write(super::out("workers.json"), data.workers_to_bytes().unwrap()).unwrap();
            assert_eq!(collector.lost().total(), 0);
        }
    }
}

/// Shuts down a runtime with stuck tasks by `shutdown`.
pub fn shut_down(is_observed: bool, shutdown: impl FnOnce(Runtime)) {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    let observer = Observer::start(&mut builder, is_observed);
    let runtime = builder.build().unwrap();
    observer.block_on(&runtime, async {
        let (starts, mut started) = tokio::sync::mpsc::channel(2);
        let closure_starts = starts.clone();
        tokio::task::spawn_blocking(move || {
            closure_starts.blocking_send(()).unwrap();
            thread::sleep(Duration::from_secs(3600));
        });
        tokio::spawn(async move {
            starts.send(()).await.unwrap();
            thread::sleep(Duration::from_secs(3600));
        });
        started.recv().await.unwrap();
        started.recv().await.unwrap();
    });
    shutdown(runtime);
    // The stuck tasks continue.
    observer.write();
    println!("the last line");
}

thread_local! {
    static KEPT: std::cell::RefCell<Option<Runtime>> = const { std::cell::RefCell::new(None) };
}

/// Drops a runtime in the destructor of a thread-local value, which is initialised before the first hook runs on that
/// thread if `is_first`, or else after it.
pub fn drop_in_thread_local(is_observed: bool, is_first: bool, is_multi: bool) {
    let mut builder = match is_multi {
        true => Builder::new_multi_thread(),
        false => Builder::new_current_thread(),
    };
    builder.enable_all();
    let observer = Observer::start(&mut builder, is_observed);
    let of_thread = observer.clone();
    let thread = thread::spawn(move || {
        if is_first {
            KEPT.with_borrow_mut(|kept| *kept = None);
        }
        let runtime = builder.build().unwrap();
        of_thread.block_on(&runtime, async {
            tokio::spawn(async {}).await.unwrap();
            tokio::spawn(std::future::pending::<()>());
            tokio::task::yield_now().await;
        });
        KEPT.with_borrow_mut(|kept| *kept = Some(runtime));
    });
    println!("joined: {}", thread.join().is_ok());
    observer.write();
}
