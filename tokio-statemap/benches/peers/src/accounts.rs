//! The numbers of kept and lost events.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::measure::{self, PEAK_BYTES};
use crate::plan::Plan;
use crate::programs::Programs;
use crate::samples::{Samples, Spread};
use crate::variants::Variant;
use crate::workloads::Workload;

/// The handling of one program's events by one variant.
pub(crate) struct Account {
    /// The bytes per kept event.
    pub(crate) event_bytes: Option<f64>,
    /// The share of events that were lost unintentionally, from 0 to 1.
    pub(crate) lost_share: f64,
    /// The share of events that were dropped by design, from 0 to 1.
    pub(crate) surplus_share: f64,
}

impl Account {
    /// Reads a child's output, and the memory that it took according to the system.
    pub(crate) fn read(said: &Value, memory_bytes: Option<f64>) -> Self {
        let count = |key: &str| said[key].as_u64().expect("a count") as f64;
        let (kept, lost) = (count("kept_events"), count("lost_events"));
        let surplus = count("surplus_events");
        let emitted = kept + lost + surplus;
        // Our events are in memory as they are.
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
            let memory = Spread::from_figures(samples.over_none((workload, variant), PEAK_BYTES));
            let account = Account::read(&said, memory.map(|memory| memory.median));
            accounts.insert((workload, variant), account);
        }
    }
    accounts
}
