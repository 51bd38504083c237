//! What the data is called.

use std::path::Path;
use std::{env, fs};

/// What statemap data says about where it comes from, besides its times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// What the title starts with: the program's name.
    pub title: String,
    /// The host that the program ran on, if known.
    pub host: Option<String>,
}

impl Labels {
    /// The name of this program's file, and of this host.
    pub fn of_this_program() -> Self {
        let program = env::current_exe().ok();
        let program = program.or_else(|| env::args_os().next().map(Into::into));
        let name = program.as_deref().and_then(Path::file_stem);
        Self {
            title: name.map_or_else(|| "program".to_owned(), |n| n.to_string_lossy().into_owned()),
            host: host(),
        }
    }
}

/// The host's name, where it can be had without a system call of one's own.
fn host() -> Option<String> {
    let from_kernel = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = from_kernel
        .or_else(|| env::var("HOSTNAME").ok())
        .or_else(|| env::var("COMPUTERNAME").ok())?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
