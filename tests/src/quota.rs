//! A control group that limits the processor time of this process (Linux).

use std::fs;
use std::path::{Path, PathBuf};

/// The period of a quota, in µs.
const PERIOD_US: u64 = 100_000;

/// A new control group that contains this process until this is dropped.
#[derive(Debug)]
pub struct Quota {
    folder: PathBuf,
    /// The folder of the group in which the process was before.
    before: PathBuf,
}

/// The kernel's counters of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// The number of times that it stopped the group.
    pub stops: u64,
    /// The time for which it stopped the group, in ns.
    pub ns: u64,
}

impl Stopped {
    /// Returns the difference from `before`.
    pub fn since(self, before: Self) -> Self {
        Self { stops: self.stops - before.stops, ns: self.ns - before.ns }
    }

    /// Adds the counters of another reading.
    pub fn add(&mut self, more: Self) {
        self.stops += more.stops;
        self.ns += more.ns;
    }
}

impl Quota {
    /// Puts this process into a group that may use `millis` thousandths of a processor.
    ///
    /// # Errors
    ///
    /// A description of what the machine lacks or forbids.
    pub fn enter(millis: u64) -> Result<Self, String> {
        let mut why = Vec::new();
        for (mount, own) in hierarchies() {
            match Self::within(&mount, &own, millis) {
                Ok(quota) => return Ok(quota),
                Err(error) => why.push(error),
            }
        }
        why.push("there is no other control group of processors".to_owned());
        Err(why.join("; "))
    }

    fn within(mount: &Path, own: &str, millis: u64) -> Result<Self, String> {
        let own = mount.join(own.trim_start_matches('/'));
        let quota = Self {
            folder: mount.join(format!("statemap-test-{}", std::process::id())),
            before: if own.is_dir() { own } else { mount.to_owned() },
        };
        let say = |error: std::io::Error| format!("{}: {error}", quota.folder.display());
        fs::create_dir(&quota.folder).map_err(say)?;
        let quota_us = millis * PERIOD_US / 1000;
        if quota.folder.join("cpu.cfs_quota_us").exists() {
            quota.write("cpu.cfs_period_us", PERIOD_US).map_err(say)?;
            quota.write("cpu.cfs_quota_us", quota_us).map_err(say)?;
        } else {
            // It works only where the outer groups delegate the controller.
            let _ = fs::write(mount.join("cgroup.subtree_control"), "+cpu");
            quota.write("cpu.max", format!("{quota_us} {PERIOD_US}")).map_err(say)?;
        }
        quota.write("cgroup.procs", std::process::id()).map_err(say)?;
        Ok(quota)
    }

    fn write(&self, name: &str, value: impl ToString) -> std::io::Result<()> {
        // The file isn't created: where the kernel has no such file, there is no such limit.
        let mut file = fs::OpenOptions::new().write(true).open(self.folder.join(name))?;
        std::io::Write::write_all(&mut file, value.to_string().as_bytes())
    }

    /// Returns the kernel's counters.
    ///
    /// # Panics
    ///
    /// If they can't be read.
    pub fn stopped(&self) -> Stopped {
        let stat = fs::read_to_string(self.folder.join("cpu.stat")).unwrap();
        let counter = |name: &str| {
            let value = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            value.map(|value| value.parse::<u64>().unwrap())
        };
        let ns = counter("throttled_time").or_else(|| Some(counter("throttled_usec")? * 1000));
        Stopped { stops: counter("nr_throttled").unwrap(), ns: ns.unwrap() }
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = fs::write(self.before.join("cgroup.procs"), std::process::id().to_string());
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Returns the mount points of groups that may limit processor time, each with this process's own group there.
fn hierarchies() -> Vec<(PathBuf, String)> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut found = Vec::new();
    for group in groups.lines() {
        let mut parts = group.splitn(3, ':');
        let (_, Some(controllers), Some(own)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let has_cpu = |controllers: &str| controllers.split(',').any(|name| name == "cpu");
        let is_second = controllers.is_empty();
        if !is_second && !has_cpu(controllers) {
            continue;
        }
        let mount = mounts.lines().find_map(|line| {
            let (place, kind) = line.split_once(" - ")?;
            let is_it = match is_second {
                true => kind.starts_with("cgroup2 "),
                false => kind.starts_with("cgroup ") && has_cpu(kind.rsplit(' ').next()?),
            };
            is_it.then(|| PathBuf::from(place.split(' ').nth(4).unwrap_or_default()))
        });
        found.extend(mount.map(|mount| (mount, own.to_owned())));
    }
    found
}
