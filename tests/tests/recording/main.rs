//! The recording shows what happened: nothing is silently lost, counted twice, or made up.

mod bounds;
mod format;
mod metrics;
mod mutated;
mod ready;
mod runtimes;
mod truth;
mod waits;
mod whole_run;
mod window;
mod woken_by;
