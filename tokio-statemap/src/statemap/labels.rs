//! The names in statemap data.

use std::env;
use std::path::Path;

/// The origin of statemap data, besides its times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The beginning of the title: the program's name.
    pub title: String,
    /// The host that the program ran on, if known.
    pub host: Option<String>,
}

impl Labels {
    /// Returns the name of this program's file, and of this host.
    pub fn of_this_program() -> Self {
        let program = env::current_exe().ok();
        let program = program.or_else(|| env::args_os().next().map(Into::into));
        let name = program.as_deref().and_then(Path::file_stem);
        Self {
            title: name.map_or_else(|| "program".to_owned(), |n| n.to_string_lossy().into_owned()),
            host: host_name(),
        }
    }
}

/// Returns the name of this host, if it has one.
pub(crate) fn host_name() -> Option<String> {
    #[cfg(unix)]
    let name = crate::sys::signal::host_name();
    #[cfg(not(unix))]
    let name = env::var("COMPUTERNAME").ok();
    name.filter(|name| !name.is_empty())
}
