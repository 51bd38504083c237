//! Waits across gaps: most of a long run isn't kept in detail, and what isn't kept says nothing of waits.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use tests::check::check;
use tests::files::read_again;
use tests::runtime::{builder, key, recorded};
use tokio::sync::{Notify, oneshot};
use tokio::task::yield_now;
use tokio_statemap::{CollectorConfig, Timeline};

const MAX_EVENTS: usize = 20_000;

/// Blocks, so that this moment of the run is kept, and waits.
async fn first(notify: &Notify) {
    sleep(Duration::from_millis(30));
    notify.notified().await;
}

async fn second(receive: oneshot::Receiver<()>) {
    let _ = receive.await;
}

/// Polls as often as it takes to evict all that is kept in detail.
async fn much_happens() {
    for _ in 0..2 * MAX_EVENTS {
        yield_now().await;
    }
}

/// Returns what the report says of the only task that still waits, and for how long that has waited, in ns.
fn still_waits(timeline: &Timeline) -> (String, u64) {
    let report = timeline.report();
    let [still] = &report.still_waiting[..] else { panic!("{:?}", report.still_waiting) };
    (format!("{:?}", still.longest), still.least_ns)
}

#[test]
fn a_wait_ends_where_nothing_is_known() {
    let config = CollectorConfig { max_events: MAX_EVENTS, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(1), config);
    let (notify, (send, receive)) = (Arc::new(Notify::new()), oneshot::channel());
    let task = runtime.spawn({
        let notify = Arc::clone(&notify);
        async move {
            first(&notify).await;
            second(receive).await;
        }
    });
    // The task is polled once, again in the gap, and not at all in the detail. The other one is polled before and after.
    runtime.block_on(async {
        let waits = tokio::spawn({
            let notify = Arc::clone(&notify);
            async move { notify.notified().await }
        });
        tokio::time::sleep(Duration::from_millis(60)).await;
        tokio::spawn(much_happens()).await.unwrap();
        notify.notify_waiters();
        waits.await.unwrap();
        tokio::spawn(much_happens()).await.unwrap();
    });
    let timeline = collector.snapshot();
    let (gaps, lost) = (&timeline.gaps, timeline.lost);
    assert!(!gaps.is_empty() && lost.dropped_events > 0, "{gaps:?} {lost:?}");
    let (tree, for_ns) = still_waits(&timeline);
    assert!(tree.contains("gaps::second") && !tree.contains("gaps::first"), "{tree}");
    check(&timeline.clone().to_data().tasks_to_bytes().unwrap()).unwrap();
    let read = read_again(&timeline);
    assert_eq!(still_waits(&read), (tree, for_ns), "the data says the same");
    let report = timeline.report();
    assert_eq!(read.report().waits, report.waits);
    // Each of the other waits fits into a stretch that is kept, so none goes on through a gap.
    let lines = report.waits.lines.iter().filter(|line| line.now == 0);
    let longest_ns = lines.map(|line| line.longest_ns).max();
    let detail = (timeline.recent_ns, timeline.end_ns);
    let mut stretches = timeline.stretches_before().chain([detail]);
    assert!(
        longest_ns.is_none_or(|longest_ns| stretches.any(|(from, to)| longest_ns <= to - from))
    );
    let of_task = timeline.tasks.iter().find(|of| of.key == key(task.id())).unwrap();
    let begins_ns = timeline.end_ns - for_ns;
    assert!(of_task.polls.iter().all(|poll| poll.end_ns().unwrap() < begins_ns), "{of_task:?}");
    drop(send);
}
