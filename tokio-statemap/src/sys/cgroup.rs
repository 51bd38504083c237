//! The limit of processor time of this process's control group, such as a container's (Linux).
//!
//! Both versions of control groups are read: in a hybrid system each has a part of the controllers.

use std::path::{Path, PathBuf};

/// A control group that limits the processor time of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LimitedGroup {
    /// The group's folder.
    pub(crate) folder: PathBuf,
    /// The quota, in thousandths of a processor.
    pub(crate) millis: u64,
    /// The number of times that the group was throttled so far.
    pub(crate) stops: u64,
    /// The time that it was throttled so far, in ns.
    pub(crate) stopped_ns: u64,
}

/// Returns the tightest limit of this process, or `None` if it has none or the system doesn't report it.
pub(crate) fn limit() -> Option<LimitedGroup> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let mounts = read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    tightest(&groups, &mounts, &read)
}

/// Returns the tightest limit by the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn tightest(
    groups: &str,
    mounts: &str,
    read: &dyn Fn(&Path) -> Option<String>,
) -> Option<LimitedGroup> {
    let mut tightest: Option<LimitedGroup> = None;
    for group in groups.lines() {
        let Some((version, group)) = group_of_cpu(group) else { continue };
        let Some(mount) = Mount::first(mounts, version) else { continue };
        for folder in mount.folders(group) {
            let Some(limit) = version.limit(&folder, read) else { continue };
            // The innermost group counts among equally tight ones.
            match &tightest {
                Some(other) if other.millis <= limit.millis => {}
                _ => tightest = Some(limit),
            }
        }
    }
    tightest
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

/// Returns the group of a line of `/proc/self/cgroup` (`4:cpu,cpuacct:/a/b`, `0::/a/b`), if it may limit
/// processor time.
fn group_of_cpu(line: &str) -> Option<(Version, &str)> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
    match controllers {
        "" if number == "0" => Some((Version::V2, group)),
        _ => is_of_cpu(controllers).then_some((Version::V1, group)),
    }
}

/// Returns whether `cpu` is in a list such as `rw,cpu,cpuacct`.
fn is_of_cpu(list: &str) -> bool {
    list.split(',').any(|name| name == "cpu")
}

/// A mounted hierarchy of control groups.
#[derive(Debug, PartialEq, Eq)]
struct Mount<'a> {
    version: Version,
    /// The group that is mounted: in a container often its own.
    root: &'a str,
    at: PathBuf,
}

impl<'a> Mount<'a> {
    /// Returns the first mount of this version.
    fn first(mounts: &'a str, version: Version) -> Option<Self> {
        for line in mounts.lines() {
            match Self::parse(line) {
                Some(mount) if mount.version == version => return Some(mount),
                _ => {}
            }
        }
        None
    }

    /// Parses a line of `/proc/self/mountinfo`. Returns `None` for mounts without limits of processor time.
    fn parse(line: &'a str) -> Option<Self> {
        // `31 23 0:28 /root /at rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct`
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let version = match kind.next()? {
            "cgroup2" => Version::V2,
            "cgroup" if is_of_cpu(kind.nth(1)?) => Version::V1,
            _ => return None,
        };
        let mut place = place.split(' ');
        let (root, at) = (place.nth(3)?, place.next()?);
        Some(Self { version, root, at: at.replace(r"\040", " ").into() })
    }

    /// Returns the folders of `group` and its ancestors, as far as they are mounted. In a container the group
    /// itself may be mounted, while its path is the one outside of the container.
    fn folders(&self, group: &str) -> Vec<PathBuf> {
        let within = match self.root {
            "/" => group,
            root => match group.strip_prefix(root) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
                _ => "",
            },
        };
        // A group outside of what this process sees begins with `/..`.
        let within = Path::new(within.trim_start_matches('/'));
        let is_seen = within.components().all(|part| part.as_os_str() != "..");
        let within = if is_seen { within } else { Path::new("") };
        let mut folders = Vec::new();
        for folder in within.ancestors() {
            folders.push(self.at.join(folder));
        }
        folders
    }
}

impl Version {
    /// Returns the limit of the group at `folder`, if it has one.
    fn limit(self, folder: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<LimitedGroup> {
        let read = |name: &str| read(&folder.join(name));
        let millis = match self {
            Self::V1 => millis(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?)?,
            Self::V2 => {
                let max = read("cpu.max")?;
                let (quota, period) = max.split_once(' ')?;
                millis(quota, period)?
            }
        };
        let stat = read("cpu.stat").unwrap_or_default();
        let stopped_ns = match self {
            Self::V1 => counted(&stat, "throttled_time"),
            Self::V2 => counted(&stat, "throttled_usec").map(|us| us.saturating_mul(1000)),
        };
        Some(LimitedGroup {
            folder: folder.to_owned(),
            millis,
            stops: counted(&stat, "nr_throttled")?,
            stopped_ns: stopped_ns?,
        })
    }
}

/// Converts a quota per period to thousandths of a processor. Returns `None` without a limit: `max`, or -1.
fn millis(quota: &str, period: &str) -> Option<u64> {
    let (quota, period): (u64, u64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    quota.checked_mul(1000)?.checked_div(period)
}

/// Returns the number of a line of `cpu.stat`.
fn counted(stat: &str, name: &str) -> Option<u64> {
    for line in stat.lines() {
        match line.split_once(' ') {
            Some((of, number)) if of == name => return number.trim().parse().ok(),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
        33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw,nsdelegate\n";

    /// Returns the limit with these files.
    fn limit(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<LimitedGroup> {
        tightest(groups, mounts, &|path| {
            let found = files.iter().find(|(at, _)| Path::new(at) == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    fn group(folder: &str, millis: u64, stops: u64, stopped_ns: u64) -> Option<LimitedGroup> {
        Some(LimitedGroup { folder: folder.into(), millis, stops, stopped_ns })
    }

    const STAT: &str = "usage_usec 9\nnr_periods 70\nnr_throttled 12\nthrottled_usec 345\n";

    #[test]
    fn the_tightest_limit_around_a_group_counts() {
        let files = [
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/a/b/cpu.stat", STAT),
            ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/a/cpu.stat", STAT),
        ];
        assert_eq!(limit("0::/a/b\n", V2, &files), group("/sys/fs/cgroup/a", 1500, 12, 345_000));
        assert_eq!(limit("0::/\n", V2, &files), None);
        assert_eq!(limit("0::/a/c\n", V2, &files).map(|limit| limit.millis), Some(1500));
        assert_eq!(limit("0::/ab\n", V2, &files), None);
        let tighter = [
            files.as_slice(),
            &[
                ("/sys/fs/cgroup/a/b/c/cpu.max", "20000 100000\n"),
                ("/sys/fs/cgroup/a/b/c/cpu.stat", "nr_throttled 0\nthrottled_usec 0\n"),
            ],
        ];
        let innermost = group("/sys/fs/cgroup/a/b/c", 200, 0, 0);
        assert_eq!(limit("0::/a/b/c\n", V2, &tighter.concat()), innermost);
    }

    #[test]
    fn in_a_container_the_path_may_be_that_outside() {
        let files =
            [("/sys/fs/cgroup/cpu.max", "50000 100000\n"), ("/sys/fs/cgroup/cpu.stat", STAT)];
        let own = V2.replace("0:26 / ", "0:26 /docker/7f ");
        for groups in ["0::/docker/7f\n", "0::/../..\n", "0::/\n", "0::/docker/7f/sub\n"] {
            assert_eq!(limit(groups, &own, &files), group("/sys/fs/cgroup", 500, 12, 345_000));
        }
        assert_eq!(limit("0::/\n", "", &files), None, "nothing is mounted");
    }

    #[test]
    fn the_first_version_has_its_own_files() {
        let groups = "9:name=systemd:/\n2:cpu,cpuacct:/docker/7f\n0::/\n";
        let at = "/sys/fs/cgroup/cpu,cpuacct";
        let stat = "nr_periods 1\nnr_throttled 3\nthrottled_time 4567\n";
        let files = |quota| {
            [
                (format!("{at}/cpu.cfs_quota_us"), "-1\n"),
                (format!("{at}/docker/7f/cpu.cfs_quota_us"), quota),
                (format!("{at}/docker/7f/cpu.cfs_period_us"), "50000\n"),
                (format!("{at}/docker/7f/cpu.stat"), stat),
            ]
        };
        let limit_of = |quota| {
            let files = files(quota);
            let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            limit(groups, &format!("{V1}{V2}"), &files)
        };
        let folder = "/sys/fs/cgroup/cpu,cpuacct/docker/7f";
        assert_eq!(limit_of("125000\n"), group(folder, 2500, 3, 4567));
        assert_eq!(limit_of("-1\n"), None);
        assert_eq!(limit_of("words\n"), None);
    }

    #[test]
    fn it_reads_what_this_system_has() {
        // The result depends on the system.
        if let Some(limit) = super::limit() {
            assert!(limit.millis > 0 && limit.folder.is_absolute(), "{limit:?}");
        }
    }
}
