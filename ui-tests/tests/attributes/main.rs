//! Tests of what the attributes accept, refuse and expand to.
//!
//! They are one program, so that some tests run while others wait for compilers and programs.

mod inference;
mod instrument;
mod off;
mod own;
mod twins;
