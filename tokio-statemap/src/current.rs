//! The collector of the runtime that a thread is in.

use std::sync::Arc;

use crate::collector::Collector;
use crate::recorder::runtimes;

/// The collector of the runtime that this thread is in; `None` outside of a runtime, and in one
/// that nobody records.
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
    runtimes::current().map(Collector::of)
}
