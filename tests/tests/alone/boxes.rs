//! Runtimes with black boxes leave nothing when they end.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs;
use std::path::Path;
use std::time::Duration;

use tests::alone::alone;
use tests::files::{folder, names_in};
use tests::runtime::{builder, recorded};
use tokio_statemap::{BlackBox, CollectorConfig};

/// Runs some runtimes at once, each with a box in `folder`.
fn run(folder: &Path, runtimes: usize) {
    let config = || CollectorConfig {
        black_box: BlackBox::Folder(folder.to_owned()),
        ..CollectorConfig::default()
    };
    let all: Vec<_> = (0..runtimes).map(|number| recorded(builder(number % 3), config())).collect();
    for (_, runtime) in &all {
        runtime.block_on(async { tokio::spawn(async {}).await.unwrap() });
    }
}

/// Waits until nothing is left in the folder: the background thread may look at a recorder when it is dropped.
fn wait_until_empty(folder: &Path) {
    while !names_in(folder).is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn runtimes_that_end_close_and_remove_their_boxes() {
    alone(|| {
        let folder = folder(env!("CARGO_TARGET_TMPDIR"), "boxes-of-runtimes");
        let open = || fs::read_dir("/proc/self/fd").unwrap().count();
        run(&folder, 3);
        wait_until_empty(&folder);
        let before = open();
        for _ in 0..30 {
            run(&folder, 5);
        }
        wait_until_empty(&folder);
        // Files are closed once they are removed: one may have been open before, too.
        while open() > before {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
