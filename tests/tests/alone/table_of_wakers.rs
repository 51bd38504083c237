//! The table of functions of Tokio's wakers is as before once nothing records any more, and its page can't be written to.

use std::task::Waker;

use tests::alone::alone;
use tests::runtime::{builder, recorded};
use tokio_statemap::CollectorConfig;

/// The words of the table, and the protection of its page in `/proc/self/maps`.
type Table = ([usize; 4], String);

fn table(waker: &Waker) -> Table {
    let table: *const _ = waker.vtable();
    // SAFETY: a table is four addresses of functions, which the library checks, too.
    let words = unsafe { table.cast::<[usize; 4]>().read_volatile() };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let has_it = |line: &&str| {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [from, to] = [from, to].map(|hex| usize::from_str_radix(hex, 16).unwrap());
        (from..to).contains(&table.addr())
    };
    let protection = maps.lines().find(has_it).unwrap().split(' ').nth(1).unwrap();
    (words, protection.to_owned())
}

/// Returns the table, as a task of another runtime sees it.
fn seen() -> Table {
    let runtime = builder(0).build().unwrap();
    let sees = std::future::poll_fn(|cx| std::task::Poll::Ready(table(cx.waker())));
    runtime.block_on(async { tokio::spawn(sees).await.unwrap() })
}

#[test]
fn is_restored_when_nothing_records() {
    alone(|| {
        let before = seen();
        assert!(before.1.starts_with("r-"), "{before:?}");
        for _ in 0..3 {
            let one = recorded(builder(2), CollectorConfig::default());
            let other = recorded(builder(0), CollectorConfig::default());
            let during = seen();
            assert_ne!(during.0, before.0);
            assert_eq!(during.1, before.1);

            one.0.stop();
            assert_eq!(seen(), during, "the other one still records");
            drop(one);
            other.0.stop();
            assert_eq!(seen(), before);
            drop(other);
        }
    });
}
