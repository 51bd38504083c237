//! What the attributes accept, refuse and expand to.
//!
//! One program, so that what some tests wait for, compilers and programs, others do beside them.

mod inference;
mod instrument;
mod off;
mod own;
mod twins;
