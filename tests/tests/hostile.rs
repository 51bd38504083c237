//! A hostile program or environment: the program is unharmed, and one clear line is printed.
#![cfg(unix)]

#[path = "hostile/environment.rs"]
mod environment;
#[path = "hostile/hidden.rs"]
mod hidden;
#[path = "hostile/links.rs"]
mod links;
#[path = "hostile/paths.rs"]
mod paths;
#[path = "hostile/program.rs"]
mod program;
#[path = "hostile/run.rs"]
mod run;
#[path = "hostile/set_uid.rs"]
mod set_uid;
#[path = "hostile/source.rs"]
mod source;
#[path = "hostile/twice.rs"]
mod twice;
