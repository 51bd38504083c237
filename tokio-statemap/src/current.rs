//! The collector of the current runtime.

use std::sync::Arc;

use crate::collector::Collector;
use crate::recorder::Recorder;

/// Returns the collector of the runtime that this thread is in, or `None` outside of a runtime and
/// in one that is not recorded.
///
/// # Examples
///
/// ```no_run
/// #[tokio_statemap::main(tasks = "tasks.json")]
/// async fn main() {
///     let collector = tokio_statemap::current().expect("the attribute made one");
///     // Some time later, when something looks odd:
///     let report = collector.snapshot().report();
///     println!("{report}");
/// }
/// ```
pub fn current() -> Option<Arc<Collector>> {
    Recorder::current().map(Collector::from_recorder)
}
