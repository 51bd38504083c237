//! Compares the attributes with `#[tokio::main]` and `#[tokio::test]`, using the real compiler.
//!
//! Each case in `cases/` is a program of its own. [`Project`] creates a cargo workspace of them in
//! the target folder and builds them all at once. The tests look at rustc's diagnostics of each
//! case and at how each program ends.

mod case;
mod diagnostic;
mod diff;
mod impls;
#[path = "../../tests/src/left_out.rs"]
mod left_out;
mod parallel;
mod project;
mod run;

pub use case::{Case, Kind, cases};
pub use diagnostic::Diagnostic;
pub use diff::diff;
pub use impls::foreign_impls;
pub use left_out::{left_out, not_allowed};
pub use parallel::in_parallel;
pub use project::{Built, Dependencies, Package, Project, compiler};
pub use run::{Ended, run};
