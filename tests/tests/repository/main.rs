//! The repository: which module may name which, which dependencies there are, and what its benchmarks say where they
//! can't run.

mod benches;
mod dependencies;
mod layers;
