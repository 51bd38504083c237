//! Models run the recorder's own code, on chunks of two records, in every order in which its threads can run, up to a
//! number of preemptions.
//!
//! `RUSTFLAGS="--cfg tokio_unstable --cfg statemap_loom" cargo test --release -p tokio-statemap --lib -- models::`
//!
//! The chunks, the buffers, the store, eviction, retention, retirement and snapshots are real. The atomics that order
//! the records of a chunk, and the locks of the recorder, are loom's. [`ring`] stands in for `rtrb`'s rings, and the
//! clock only counts.

mod account;
mod chunk;
mod recorder;
pub(crate) mod ring;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The clock of a model: it goes on by one each time it is read.
static TICKS: AtomicU64 = AtomicU64::new(1);

/// Reads this clock.
pub(crate) fn ticks() -> u64 {
    TICKS.fetch_add(1, Ordering::Relaxed)
}

/// The most preemptions of a thread in each order that is tried: most bugs need one or two.
const PREEMPTIONS: usize = 2;

/// Calls `program` for each order in which its threads can run.
fn every_order(program: impl Fn() + Sync + Send + 'static) {
    // Whole programs share one clock and one process.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = crate::util::sync::lock(&ONE_AT_A_TIME);
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(PREEMPTIONS));
    model.max_branches = 100_000;
    let orders = Arc::new(AtomicU64::new(0));
    let tried = Arc::clone(&orders);
    model.check(move || {
        tried.fetch_add(1, Ordering::Relaxed);
        TICKS.store(1, Ordering::Relaxed);
        program();
    });
    println!("{} orders", orders.load(Ordering::Relaxed));
}
