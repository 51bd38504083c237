//! A hostile program or environment: the program is unharmed, and one clear line is printed.
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
