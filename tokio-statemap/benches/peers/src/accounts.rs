//! What was kept, and what was lost.

use std::collections::BTreeMap;

use serde_json::Value;

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

impl Account {
    /// Reads what a child says, and the memory that the machine says it took.
    pub(crate) fn read(said: &Value, memory_bytes: Option<f64>) -> Self {
        let count = |key: &str| said[key].as_u64().expect("a count") as f64;
        let (kept, lost) = (count("kept_events"), count("lost_events"));
        let surplus = count("surplus_events");
        let emitted = kept + lost + surplus;
        // Ours are in memory as they are.
        let bytes = said["encoded_bytes"].as_f64().or(memory_bytes);
        Self {
            event_bytes: bytes.filter(|_| kept > 100_000.0).map(|bytes| bytes / kept),
            lost_share: lost / emitted,
            surplus_share: surplus / emitted,
        }
    }
}

pub(crate) type Accounts = BTreeMap<(Workload, Variant), Account>;

pub(crate) fn take(plan: &Plan, programs: &Programs, samples: &Samples) -> Accounts {
    let mut accounts = Accounts::new();
    for workload in plan.timed().filter(|_| plan.turns > 0) {
        for variant in programs.built(workload.kind.variants()) {
            let Some(said) = measure::account(plan, programs, workload, variant) else { continue };
            let memory = Spread::of(samples.over_none((workload, variant), PEAK_BYTES));
            let account = Account::read(&said, memory.map(|memory| memory.median));
            accounts.insert((workload, variant), account);
        }
    }
    accounts
}
