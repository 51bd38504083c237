//! Turns a black box into a timeline.

use std::path::{Component, Path, PathBuf};

use crate::recorder::black_box::format::Module;
use crate::recorder::capture::from_box;
use crate::symbols::{Resolver, during_other};
use crate::sys::threads::stack::modules::LoadedModule;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::Timeline;
use crate::util::quantity::moment;

/// A black box that was read.
#[derive(Debug)]
pub struct Recovered {
    /// The timeline up to the last round.
    pub timeline: Timeline,
    /// The process, as it saw its own id: in a container it has another one outside.
    pub pid: u32,
    /// The program's file, as the process saw it.
    pub program: Option<String>,
    /// `true` if the process lives; `None` if that can't be known, as for a copy of the box.
    pub lives: Option<bool>,
}

impl Recovered {
    /// Returns the time of the last round, since recording was started: `7.032 s`.
    pub fn at(&self) -> String {
        moment(self.timeline.end_ns)
    }
}

/// Reads the black box of which `path` is a file.
///
/// # Errors
///
/// Returns a message if it is no black box, or nothing can be read from it.
pub fn recover(path: &Path) -> Result<Recovered, String> {
    let from_box::Boxed { capture, pid, program, lives, modules } = from_box::read(path)?;
    // Its files are those that the process saw.
    let root = root_of(path);
    let modules = modules.into_iter().map(|module| loaded(module, root.as_deref())).collect();
    let build = || Timeline::from_snapshot(&Snapshot::of_capture(capture));
    let timeline = during_other(Resolver::of_other(modules), build);
    Ok(Recovered { timeline, pid, program, lives })
}

fn loaded(module: Module, root: Option<&Path>) -> (LoadedModule, Option<String>) {
    let Module { path, is_program, base, range, build_id } = module;
    let path = path.map(PathBuf::from).filter(|path| path.is_absolute() && !leads_up(path));
    let path = path.map(|path| match root {
        Some(root) => root.join(path.strip_prefix("/").unwrap_or(&path)),
        None => path,
    });
    (LoadedModule::of_other(path, is_program, base, range.0..range.1), build_id)
}

/// Returns whether a path has `..` in it, as the system never says one. It would lead out of a container's files.
fn leads_up(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

/// Returns the root folder of the process whose files `path` is seen through: `/proc/7/root` of
/// `/proc/7/root/dev/shm/…`.
fn root_of(path: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = path.components().take(4).collect();
    let [Component::RootDir, proc, _, root] = parts[..] else { return None };
    let is_root = proc.as_os_str() == "proc" && root.as_os_str() == "root";
    is_root.then(|| parts.iter().collect())
}

#[cfg(all(test, tokio_unstable))]
mod box_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_container_are_seen_through_its_root() {
        let root = |path: &str| root_of(Path::new(path));
        assert_eq!(root("/proc/7/root/dev/shm/a.0.box"), Some("/proc/7/root".into()));
        assert_eq!(root("/proc/7/cwd/a.0.box"), None);
        assert_eq!(root("/dev/shm/a.0.box"), None);
        assert_eq!(root("a.0.box"), None);
        assert!(leads_up(Path::new("/usr/../../etc/shadow")));
        assert!(!leads_up(Path::new("/usr/bin/..shop")));
    }
}
