//! Has tasks wait in many ways, without any annotation, and prints what each of them awaits as it is found in
//! its memory. Built with the feature `dwarf` and full debug information only.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_statemap::__private::{AwaitNode, chains};
use tokio_statemap::{CollectorConfig, register_hooks};

const LONG: Duration = Duration::from_secs(1000);

async fn leaf(kept: u32) {
    sleep(LONG).await;
    std::hint::black_box(kept);
}

async fn middle(kept: u32) {
    leaf(kept).await;
}

async fn other() {
    pending::<()>().await;
}

async fn joined() {
    let kept = vec![1_u8; 10];
    tokio::join!(middle(1), other());
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
    *lock.lock().await += 1;
}

async fn accepts() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let _ = listener.accept().await;
}

async fn times_out() {
    let _ = timeout(LONG, middle(4)).await;
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

fn print(node: &AwaitNode, indent: usize) {
    let place = match (&node.file, node.line) {
        (Some(file), Some(line)) => format!(" {file}:{line}"),
        _ => String::new(),
    };
    println!("{:indent$}{}{place}", "", node.function);
    node.children.iter().for_each(|child| print(child, indent + 2));
}

fn main() {
    let mut builder = match std::env::args().nth(1).as_deref() {
        Some("current-thread") => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).expect("it is valid");
    collector.start();
    let runtime = builder.build().expect("a runtime");
    let lock = Arc::new(Mutex::new(0));
    let held = lock.clone().try_lock_owned().expect("it is free");
    let (sender, receiver) = mpsc::channel(1);
    runtime.block_on(async {
        tokio::spawn(joined());
        tokio::spawn(joined_partly());
        tokio::spawn(selected());
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
        // None of them is polled any more.
        let mut found = Vec::new();
        for _ in 0..2 {
            let began = Instant::now();
            found = chains(&collector, |_| Some(0));
            eprintln!("{} tasks in {:?}", found.len(), began.elapsed());
        }
        let busy = chains(&collector, |_| None);
        assert!(busy.is_empty(), "a task that is polled isn't read");
        found.iter().for_each(|(_, node)| print(node, 0));
    });
    drop((held, sender));
    runtime.shutdown_background();
}
