//! The user's paths, with `{pid}`, `{bin}`, `{host}` and `{time}` filled in.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::statemap::host_name;
use crate::util::utc::Utc;

/// The values to fill in.
#[derive(Debug)]
pub(super) struct Names {
    pid: String,
    pub(super) bin: String,
    pub(super) host: Option<String>,
    time: String,
}

impl Names {
    /// Returns the values for this process. In names of test binaries, the hash that changes with
    /// each build is left out, or their files would pile up.
    pub(super) fn of_this_process(is_test: bool) -> Self {
        let exe = std::env::current_exe().ok();
        let stem = exe.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy());
        let stem = stem.map(|stem| match stem.rsplit_once('-') {
            Some((name, hash)) if is_test && is_hash(hash) => name.to_owned(),
            _ => stem.into_owned(),
        });
        let utc = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            pid: std::process::id().to_string(),
            bin: stem.unwrap_or_else(|| "program".into()),
            host: host_name(),
            time: format_utc(utc),
        }
    }

    /// Returns the values for another process of this program.
    #[cfg(has_recover)]
    pub(super) fn of_process(self, pid: u32) -> Self {
        Self { pid: pid.to_string(), ..self }
    }

    /// Returns `path` with the values filled in. Other text in braces, and paths that are not
    /// UTF-8, stay unchanged.
    pub(super) fn fill_in(&self, path: &Path) -> PathBuf {
        let Some(text) = path.to_str().filter(|text| text.contains('{')) else {
            return path.to_owned();
        };
        let host = self.host.as_deref().unwrap_or("localhost");
        let names =
            [("{pid}", &*self.pid), ("{bin}", &self.bin), ("{host}", host), ("{time}", &self.time)];
        let mut filled = String::new();
        let mut rest = text;
        // A single pass, so that a value is not searched for placeholders.
        while let Some(start) = rest.find('{') {
            let (before, from) = rest.split_at(start);
            filled.push_str(before);
            let name = names.iter().find(|(name, _)| from.starts_with(name));
            let (length, value) = name.map_or((1, "{"), |(name, value)| (name.len(), value));
            filled.push_str(&if length > 1 {
                value.replace(['/', '\\'], "_")
            } else {
                value.into()
            });
            rest = &from[length..];
        }
        (filled + rest).into()
    }
}

/// Returns `true` if `text` is a hash like those that cargo appends to the names of test binaries.
fn is_hash(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Formats a time as in `20261121T035000Z`.
fn format_utc(since_epoch: Duration) -> String {
    let Utc { year, month, day, hour, minute, second } = Utc::from_unix(since_epoch.as_secs());
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_once() {
        let names = Names {
            pid: "7".into(),
            bin: "a{pid}".into(),
            host: Some("h/1".into()),
            time: "T".into(),
        };
        let filled = names.fill_in(Path::new("x/{bin}-{pid}-{host}{time}{other}{.json"));
        assert_eq!(filled, Path::new("x/a{pid}-7-h_1T{other}{.json"));
    }

    #[test]
    fn utc_is_right_on_odd_days() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (951_782_400, "20000229T000000Z"),
            (1_767_225_599, "20251231T235959Z"),
            (1_795_233_000, "20261121T035000Z"),
            (4_107_542_400, "21000301T000000Z"),
        ] {
            assert_eq!(format_utc(Duration::from_secs(seconds)), text);
        }
    }
}
