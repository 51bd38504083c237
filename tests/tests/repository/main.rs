//! The repository: the order of its modules, its dependencies, its texts, and the messages of benchmarks that can't run.

mod benches;
mod dependencies;
mod layers;
mod texts;
