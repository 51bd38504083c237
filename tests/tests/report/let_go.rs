//! The report names the await over which a lock is held: the holder is on no thread, but goes on before those that wait.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tests::alone::alone;
use tests::files::read_again;
use tests::runtime::{builder, recorded};
use tokio::sync::oneshot;
use tokio_statemap::CollectorConfig;
use tokio_statemap::timeline::Timeline;

/// More rounds are not tried.
const MOST: u32 = 320;

type Table = Arc<Mutex<u64>>;

#[inline(never)]
fn price(table: &Table) -> u64 {
    *table.lock().unwrap()
}

#[expect(clippy::await_holding_lock, reason = "that is what the report shall name")]
async fn refresh(table: &Table) {
    let mut table = table.lock().unwrap();
    // No timer: the worker that looks for timers may be the one that waits for the lock, and then nothing would go on.
    let (send, receive) = oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        send.send(1)
    });
    *table += receive.await.unwrap(); // HELD
}

/// Records tasks that wait for a lock which is held over an await, so many times.
fn record(rounds: u32) -> Timeline {
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    let table = Table::default();
    collector.block_on(&runtime, async {
        tests::load::wait_for_workers();
        for _ in 0..rounds {
            let reader = Arc::clone(&table);
            let reads = async move {
                // After the refresh began.
                tokio::time::sleep(Duration::from_millis(5)).await;
                price(&reader)
            };
            let waits = tokio::spawn(reads);
            refresh(&table).await;
            waits.await.unwrap();
        }
    });
    drop(runtime);
    collector.stop();
    collector.snapshot()
}

#[test]
fn a_guard_over_an_await() {
    alone(|| {
        let mut rounds = 10;
        loop {
            let timeline = record(rounds);
            let report = timeline.report();
            println!("{report}\n");
            let found = report.blame.culprits.iter().find_map(|culprit| culprit.let_go.as_ref());
            if let Some(let_go) = found {
                let source = include_str!("let_go.rs");
                let line =
                    source.lines().position(|line| line.ends_with("// HELD")).unwrap() as u32;
                let [frame, ..] = &let_go.waited_in[..] else { panic!("{let_go:?}") };
                assert!(frame.function.ends_with("let_go::refresh"), "{let_go:?}");
                assert_eq!(frame.line, Some(line + 1));
                assert_eq!(read_again(&timeline).report().verdict, report.verdict);
                return;
            }
            // On a busy machine few polls are sampled, and whoever is woken may come late.
            rounds *= 2;
            assert!(rounds <= MOST, "{report}");
        }
    });
}
