//! From addresses of code to functions and lines, for those that were seen, and only when they are to
//! be shown.

mod frame;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod name;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod object_file;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod origin;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod resolver;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod system_call;

pub use frame::{FrameOrigin, StackFrame};
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) use {resolver::Resolver, system_call::name as system_call};
