//! Looks up addresses of this process in the files of the program and its libraries.

mod resolver;
mod system_call;

pub(crate) use resolver::Resolver;
pub(crate) use system_call::name as system_call;
