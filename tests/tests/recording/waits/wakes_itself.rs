//! A task that wakes itself by a reference to its waker clones nothing: it waits where it does that.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tests::runtime::{builder, recorded};
use tokio::time::sleep;
use tokio_statemap::CollectorConfig;

/// So many times it isn't ready yet.
struct Credit(u64);

impl Future for Credit {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

const WAKES_AT: u32 = line!() - 5;

#[test]
fn a_task_that_wakes_itself_waits_where_it_does_that() {
    for workers in [0, 2] {
        let (collector, runtime) = recorded(builder(workers), CollectorConfig::default());
        let task = runtime.spawn(async {
            sleep(Duration::from_millis(1)).await;
            Credit(50).await;
            sleep(Duration::from_millis(1)).await;
        });
        runtime.block_on(task).unwrap();
        drop(runtime);
        collector.stop();
        let report = collector.snapshot().report();
        let rows: Vec<_> =
            report.waits.lines.iter().filter(|row| row.at.line == Some(WAKES_AT)).collect();
        let [row] = rows[..] else { panic!("{report}") };
        assert!(row.at.function.ends_with("::wakes_itself::Credit"), "{row:?}");
        assert_eq!((row.times, row.now), (50, 0), "{report}");
        let sleeps = report.waits.lines.iter().filter(|row| row.at.line != Some(WAKES_AT));
        assert_eq!(sleeps.map(|row| row.times).sum::<u64>(), 2, "{report}");
    }
}

/// A task whose budget is used up is woken by Tokio, within its own poll.
#[test]
fn a_task_whose_budget_is_used_up_waits_for_what_it_awaits() {
    let (collector, runtime) = recorded(builder(0), CollectorConfig::default());
    let receives_at = line!() + 6;
    let task = async {
        let (send, mut received) = tokio::sync::mpsc::unbounded_channel();
        (0..1000).for_each(|number| send.send(number).unwrap());
        drop(send);
        tokio::task::consume_budget().await;
        while received.recv().await.is_some() {}
    };
    runtime.block_on(runtime.spawn(task)).unwrap();
    drop(runtime);
    collector.stop();
    let report = collector.snapshot().report();
    let [row] = &report.waits.lines[..] else { panic!("{report}") };
    assert_eq!(row.at.line, Some(receives_at), "{report}");
    assert!(row.awaits.as_deref().is_some_and(|awaits| awaits.ends_with("::recv")), "{row:?}");
    assert!(row.times >= 5, "{report}");
}
