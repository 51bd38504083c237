//! Holds the attributes to `#[tokio::main]` and `#[tokio::test]`, with the real compiler.
//!
//! Each case in `cases/` is a program of its own. [`Project`] makes a cargo workspace of them in
//! the target folder and builds it in one go; what rustc says of each case, and how each program
//! ends, is what the tests look at.

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
