//! What was kept, and what was lost.

use std::collections::BTreeMap;

use crate::measure::{self, PEAK_BYTES};
use crate::plan::Plan;
use crate::programs::Programs;
use crate::samples::{Samples, Spread};
use crate::variants::Variant;
use crate::workloads::Workload;

/// What one variant did with the events of one program.
pub(crate) struct Account {
    /// Bytes an event that is kept.
    pub(crate) event_bytes: Option<f64>,
    /// The share of the events that is gone and was not to go, from 0 to 1.
    pub(crate) lost_share: f64,
    /// The share that is gone by design.
    pub(crate) surplus_share: f64,
}

pub(crate) type Accounts = BTreeMap<(Workload, Variant), Account>;

pub(crate) fn take(plan: &Plan, programs: &Programs, samples: &Samples) -> Accounts {
    let mut accounts = Accounts::new();
    for workload in plan.timed().filter(|_| plan.turns > 0) {
        for variant in measure::variants(workload.kind, programs) {
            let Some(said) = measure::account(plan, programs, workload, variant) else { continue };
            let count = |key: &str| said[key].as_u64().expect("a count") as f64;
            let (kept, lost) = (count("kept_events"), count("lost_events"));
            let surplus = count("surplus_events");
            let emitted = kept + lost + surplus;
            // Ours are in memory as they are; how much that is, the machine says.
            let bytes = match said["encoded_bytes"].as_f64() {
                Some(bytes) => Some(bytes),
                None => {
                    Spread::of(samples.over_none((workload, variant), PEAK_BYTES)).map(|s| s.median)
                }
            };
            let account = Account {
                event_bytes: bytes.filter(|_| kept > 100_000.0).map(|bytes| bytes / kept),
                lost_share: lost / emitted,
                surplus_share: surplus / emitted,
            };
            accounts.insert((workload, variant), account);
        }
    }
    accounts
}
