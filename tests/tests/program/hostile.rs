//! Hostile code or a hostile environment does the program no harm, and costs one clear line.
#![cfg(unix)]

mod environment;
mod hidden;
mod links;
mod paths;
mod program;
mod run;
mod set_uid;
mod source;
mod twice;
