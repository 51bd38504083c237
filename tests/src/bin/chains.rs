//! Runs tasks that wait in many ways, without any annotation, and prints what each awaits according to its memory.
//!
//! With the second argument `trees` it prints the trees of all tasks instead. It needs the feature `dwarf` and full debug
//! information.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_statemap::__private::{AwaitNode, chains};
use tokio_statemap::trees::{Folded, TreePlace};
use tokio_statemap::{Collector, CollectorConfig, register_hooks};

const LONG: Duration = Duration::from_secs(1000);

async fn leaf(kept: u32) {
    sleep(LONG).await; // leaf
    std::hint::black_box(kept);
}

async fn middle(kept: u32) {
    leaf(kept).await; // middle
}

async fn other() {
    pending::<()>().await; // other
}

async fn joined() {
    let kept = vec![1_u8; 10];
    tokio::join!(middle(1), other()); // joined
    drop(kept);
}

async fn joined_partly() {
    tokio::join!(async {}, other());
}

async fn selected() {
    tokio::select! {
        () = leaf(1) => {}
        () = middle(2) => {}
    }
}

async fn selected_partly(other_too: bool) {
    tokio::select! { // partly
        () = other(), if other_too => {}
        () = middle(2) => {}
    }
}

macro_rules! awaited {
    ($future:expr) => {
        $future.await
    };
}

async fn in_a_macro() {
    awaited!(leaf(5));
}

async fn joined_as_many() {
    futures_util::future::join_all([leaf(1), leaf(2)]).await; // as many
}

async fn boxed() {
    let one: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(leaf(3));
    one.await;
}

async fn recursive(n: u32) {
    match n {
        0 => other().await,
        n => Box::pin(recursive(n - 1)).await,
    }
}

async fn receives(mut from: mpsc::Receiver<u8>) {
    from.recv().await;
}

async fn locks(lock: Arc<Mutex<u8>>) {
    *lock.lock().await += 1; // locks
}

async fn accepts() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let _ = listener.accept().await;
}

async fn times_out() {
    let _ = timeout(LONG, middle(4)).await; // times out
}

async fn second_of_two() {
    tokio::task::yield_now().await;
    leaf(1).await;
}

async fn waits_for_a_task() {
    let _ = tokio::spawn(other()).await;
}

async fn of_a_set() {
    let mut set = JoinSet::new();
    set.spawn(other());
    set.join_next().await;
}

async fn large() {
    let kept = [1_u8; 40_000];
    leaf(2).await;
    std::hint::black_box(&kept);
}

async fn later() {
    sleep(Duration::from_millis(1)).await;
}

/// Yields until it is told to end.
async fn busy(is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        busy_once().await;
    }
}

async fn busy_once() {
    tokio::task::yield_now().await;
}

fn print(node: &AwaitNode, indent: usize) {
    let place = match (&node.file, node.line) {
        (Some(file), Some(line)) => format!(" {file}:{line}"),
        _ => String::new(),
    };
    println!("{:indent$}{}{place}", "", node.function);
    node.children.iter().for_each(|child| print(child, indent + 2));
}

/// Prints all trees, with a task that has a probe, after others were polled while trees were built.
async fn print_trees(collector: &Collector) {
    tokio_statemap::spawn(middle(3)); // with a probe
    let is_over = Arc::new(AtomicBool::new(false));
    let polled: Vec<_> = (0..4).map(|_| tokio::spawn(busy(Arc::clone(&is_over)))).collect();
    sleep(Duration::from_millis(10)).await;
    for _ in 0..20 {
        let trees = collector.trees();
        // A task that is polled all the time is either not found, or where it is.
        for tree in trees.iter().filter(|tree| tree.to_string().contains("busy")) {
            if let TreePlace::Waits(frames) = &tree.place {
                assert!(frames[0].function.ends_with("::busy"), "{tree}");
            }
        }
        tokio::task::yield_now().await;
    }
    is_over.store(true, Ordering::Relaxed);
    for task in polled {
        task.await.expect("it doesn't panic");
    }
    // The end of a task is recorded shortly after it is joined.
    sleep(Duration::from_millis(100)).await;
    let trees = collector.trees();
    println!("{}\n", Folded(&trees));
    println!("{}", serde_json::to_string(&trees).expect("it is JSON"));
}

fn main() {
    let mut builder = match std::env::args().nth(1).as_deref() {
        Some("current-thread") => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all();
    // Busy tasks have many polls.
    let config = CollectorConfig { max_events: 10_000, ..CollectorConfig::default() };
    let collector = register_hooks(&mut builder, config).expect("it is valid");
    collector.start();
    let has_trees = std::env::args().nth(2).is_some_and(|what| what == "trees");
    let runtime = builder.build().expect("a runtime");
    let lock = Arc::new(Mutex::new(0));
    let held = lock.clone().try_lock_owned().expect("it is free");
    let (sender, receiver) = mpsc::channel(1);
    runtime.block_on(async {
        tokio::spawn(joined());
        tokio::spawn(joined_partly());
        tokio::spawn(selected());
        tokio::spawn(selected_partly(false));
        tokio::spawn(in_a_macro());
        tokio::spawn(joined_as_many());
        tokio::spawn(boxed());
        tokio::spawn(recursive(3));
        tokio::spawn(receives(receiver));
        tokio::spawn(locks(lock));
        tokio::spawn(accepts());
        tokio::spawn(times_out());
        tokio::spawn(second_of_two());
        tokio::spawn(waits_for_a_task());
        tokio::spawn(of_a_set());
        tokio::spawn(large());
        tokio::spawn(async { middle(9).await });
        let ended: Vec<_> = (0..100).map(|_| tokio::spawn(later())).collect();
        for task in ended {
            task.await.expect("it doesn't panic");
        }
        sleep(Duration::from_millis(100)).await;
        if has_trees {
            print_trees(&collector).await;
            return;
        }
        // All tasks wait now.
        let mut found = Vec::new();
        for _ in 0..2 {
            let began = Instant::now();
            found = chains(&collector);
            eprintln!("{} tasks in {:?}", found.len(), began.elapsed());
        }
        found.iter().for_each(|(_, node)| print(node, 0));
    });
    drop((held, sender));
    runtime.shutdown_background();
}
