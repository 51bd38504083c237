//! What is recorded is what happened: nothing is lost in silence, counted twice, or made up.

mod bounds;
mod format;
mod mutated;
mod runtimes;
mod truth;
mod waits;
mod whole_run;
mod window;
