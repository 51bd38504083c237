//! The programs. A mark at the end of a line says what is to be named: `WAITS` and the fault, or `HOLDS` and the fault.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, RwLock, Semaphore, oneshot};
use tokio::time::{sleep, timeout};

/// Begins a fault, and returns what must not be dropped meanwhile.
pub(crate) type Fault = fn(u32) -> Vec<Box<dyn Any + Send>>;

/// The shapes of [`spawn`].
pub(crate) const SHAPES: Range<u32> = 0..5;

const MS: Duration = Duration::from_millis(1);

/// Spawns a task that awaits `future` in some way.
fn spawn(shape: u32, future: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(async move {
        match shape {
            0 => future.await,
            1 => Box::pin(future).await,
            2 => _ = timeout(3_600_000 * MS, future).await,
            3 => tokio::select! {
                () = future => {}
                () = std::future::pending() => {}
            },
            _ => _ = tokio::join!(future, async {}),
        }
    });
}

/// Begins healthy load: an idle consumer, timers, and a lock that is held for a moment.
pub(crate) fn healthy() -> Sender<u64> {
    let (send, mut receive) = channel(4);
    tokio::spawn(async move { while receive.recv().await.is_some() {} });
    let count = Arc::new(Mutex::new(0));
    for n in 3..7 {
        let count = Arc::clone(&count);
        tokio::spawn(async move {
            loop {
                sleep(n * MS).await;
                *count.lock().await += 1;
            }
        });
    }
    send
}

async fn transfer(from: Arc<Mutex<u64>>, to: Arc<Mutex<u64>>) {
    let mut source = from.lock().await;
    sleep(5 * MS).await;
    let mut target = to.lock().await; // WAITS locks_in_both_orders
    (*source, *target) = (*source - 1, *target + 1);
}

pub(crate) fn locks_in_both_orders(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let [one, other] = [1, 2].map(|n| Arc::new(Mutex::new(n)));
    spawn(shape, transfer(Arc::clone(&one), Arc::clone(&other)));
    spawn(shape, transfer(other, one));
    Vec::new()
}

async fn look_up(table: Arc<RwLock<u64>>) {
    loop {
        sleep(9 * MS).await;
        let _ = *table.read().await; // WAITS upgrade_of_a_lock
    }
}

async fn update(table: Arc<RwLock<u64>>) {
    let known = table.read().await;
    sleep(20 * MS).await;
    *table.write().await = *known + 1; // HOLDS upgrade_of_a_lock
}

pub(crate) fn upgrade_of_a_lock(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let table = Arc::new(RwLock::new(0));
    for _ in 0..4 {
        spawn(shape, look_up(Arc::clone(&table)));
    }
    spawn(shape, update(table));
    Vec::new()
}

async fn read(table: Arc<RwLock<u64>>) {
    loop {
        let _ = *table.read().await; // WAITS slow_writer
        sleep(MS).await;
    }
}

async fn reload(table: Arc<RwLock<u64>>) {
    loop {
        let mut table = table.write().await;
        sleep(40 * MS).await; // HOLDS slow_writer
        *table += 1;
        drop(table);
        sleep(2 * MS).await;
    }
}

pub(crate) fn slow_writer(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let table = Arc::new(RwLock::new(0));
    for _ in 0..6 {
        spawn(shape, read(Arc::clone(&table)));
    }
    spawn(shape, reload(table));
    Vec::new()
}

async fn use_one(permits: Arc<Semaphore>) {
    loop {
        let permit = permits.acquire().await.unwrap(); // WAITS permits_are_not_given_back
        sleep(5 * MS).await;
        drop(permit);
    }
}

async fn keep_one(permits: Arc<Semaphore>, done: Arc<Notify>) {
    let _permit = permits.acquire().await.unwrap();
    done.notified().await; // HOLDS permits_are_not_given_back
}

pub(crate) fn permits_are_not_given_back(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let (permits, done) = (Arc::new(Semaphore::new(2)), Arc::new(Notify::new()));
    for _ in 0..6 {
        spawn(shape, use_one(Arc::clone(&permits)));
    }
    let never = Arc::clone(&done);
    tokio::spawn(async move {
        for _ in 0..2 {
            sleep(50 * MS).await;
            spawn(shape, keep_one(Arc::clone(&permits), Arc::clone(&never)));
        }
    });
    vec![Box::new(done)]
}

async fn consume(mut jobs: Receiver<u64>) {
    while jobs.recv().await.is_some() {
        sleep(5 * MS).await; // HOLDS channel_is_full
    }
}

async fn produce(jobs: Sender<u64>) {
    while jobs.send(1).await.is_ok() {} // WAITS channel_is_full
}

pub(crate) fn channel_is_full(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let (send, receive) = channel(4);
    spawn(shape, consume(receive));
    for _ in 0..8 {
        spawn(shape, produce(send.clone()));
    }
    Vec::new()
}

async fn open(log: Arc<Mutex<u64>>) -> OwnedMutexGuard<u64> {
    log.lock_owned().await // WAITS lock_over_send
}

async fn append(log: Arc<Mutex<u64>>, entries: Sender<u64>) {
    loop {
        let guard = open(Arc::clone(&log)).await;
        let _ = entries.send(*guard).await; // HOLDS lock_over_send
        drop(guard);
        sleep(MS).await;
    }
}

/// Whoever has the lock waits for room in a channel, in another function than the one that got it.
pub(crate) fn lock_over_send(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let (log, (send, receive)) = (Arc::new(Mutex::new(1)), channel(1));
    spawn(shape, store(receive));
    for _ in 0..4 {
        spawn(shape, append(Arc::clone(&log), send.clone()));
    }
    Vec::new()
}

async fn consume_some(mut jobs: Receiver<u64>, more: Arc<Notify>) {
    for _ in 0..20 {
        jobs.recv().await;
    }
    more.notified().await; // HOLDS consumer_is_stuck
}

async fn produce_slowly(jobs: Sender<u64>) {
    loop {
        sleep(3 * MS).await;
        let _ = jobs.send(1).await; // WAITS consumer_is_stuck
    }
}

pub(crate) fn consumer_is_stuck(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let (send, receive) = channel(4);
    let more = Arc::new(Notify::new());
    spawn(shape, consume_some(receive, Arc::clone(&more)));
    for _ in 0..6 {
        spawn(shape, produce_slowly(send.clone()));
    }
    vec![Box::new(more)]
}

/// Both ends of a circle fill up only after many orders: by then it is known who receives what.
const ORDERS: u64 = 40;

async fn acknowledge(mut orders: Receiver<u64>, acks: Sender<u64>) {
    while let Some(order) = orders.recv().await {
        for part in 0..if order < ORDERS { 1 } else { 4 } {
            let _ = acks.send(order + part).await; // WAITS channels_in_a_circle
        }
    }
}

async fn order(mut acks: Receiver<u64>, orders: Sender<u64>) {
    let _ = orders.send(0).await;
    while let Some(ack) = acks.recv().await {
        let _ = orders.send(ack + 1).await; // HOLDS channels_in_a_circle
    }
}

pub(crate) fn channels_in_a_circle(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let ((orders, ordered), (acks, acked)) = (channel(4), channel(4));
    spawn(shape, acknowledge(ordered, acks));
    spawn(shape, order(acked, orders));
    Vec::new()
}

type Question = oneshot::Sender<u64>;

async fn answer(mut questions: Receiver<Question>, own: Sender<Question>) {
    let mut answered = 0;
    while let Some(question) = questions.recv().await {
        answered += 1;
        if answered == 40 {
            // Until all others wait. One that still sends would wake this task once more where it waits for itself, as if that wait had
            // ended.
            sleep(30 * MS).await;
            let (tell, told) = oneshot::channel();
            let _ = own.send(tell).await;
            let _ = told.await; // HOLDS actor_asks_itself
        }
        let _ = question.send(answered);
    }
}

async fn ask(questions: Sender<Question>) {
    loop {
        let (tell, told) = oneshot::channel();
        let _ = questions.send(tell).await;
        let _ = told.await; // WAITS actor_asks_itself
        sleep(3 * MS).await;
    }
}

pub(crate) fn actor_asks_itself(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let (send, receive) = channel(8);
    spawn(shape, answer(receive, send.clone()));
    for _ in 0..6 {
        spawn(shape, ask(send.clone()));
    }
    Vec::new()
}

async fn add_one(shared: Arc<Mutex<u64>>, news: Arc<Notify>) {
    *shared.lock().await += 1;
    news.notified().await; // INNOCENT mutex_at_two_lines
}

async fn keep(shared: Arc<Mutex<u64>>, news: Arc<Notify>) {
    let _guard = timeout(3_600_000 * MS, shared.lock()).await;
    news.notified().await;
}

/// Whoever got the mutex at one line gives it back to a task that waits for it at another, and that one keeps it.
pub(crate) fn mutex_at_two_lines(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let (shared, news) = (Arc::new(Mutex::new(0)), Arc::new(Notify::new()));
    let both = (Arc::clone(&shared), Arc::clone(&news));
    tokio::spawn(async move {
        let (shared, news) = both;
        let guard = shared.lock().await;
        spawn(shape, add_one(Arc::clone(&shared), Arc::clone(&news)));
        sleep(20 * MS).await;
        spawn(shape, keep(Arc::clone(&shared), Arc::clone(&news)));
        sleep(20 * MS).await;
        for _ in 0..4 {
            spawn(shape, add_one(Arc::clone(&shared), Arc::clone(&news)));
        }
        sleep(20 * MS).await;
        drop(guard);
    });
    vec![Box::new(news)]
}

/// The channel is never empty when it receives, so no sender wakes it.
async fn work(mut jobs: Receiver<u64>, news: Arc<Notify>) {
    sleep(100 * MS).await;
    for _ in 0..2 {
        jobs.recv().await;
    }
    news.notified().await;
}

async fn audit(mut entries: Receiver<u64>) {
    while entries.recv().await.is_some() {} // INNOCENT idle_audit
}

async fn submit(jobs: Sender<u64>, entries: Sender<u64>) {
    loop {
        sleep(2 * MS).await;
        let _ = entries.send(1).await;
        let _ = jobs.send(1).await;
    }
}

/// Senders wait for room in a channel, and also write to another one, whose receiver is idle.
pub(crate) fn idle_audit(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let ((jobs, todo), (entries, written)) = (channel(4), channel(4));
    let news = Arc::new(Notify::new());
    spawn(shape, work(todo, Arc::clone(&news)));
    spawn(shape, audit(written));
    for _ in 0..6 {
        spawn(shape, submit(jobs.clone(), entries.clone()));
    }
    vec![Box::new(news)]
}

async fn store(mut rows: Receiver<u64>) {
    while rows.recv().await.is_some() {
        sleep(5 * MS).await;
    }
}

async fn read_rows(rows: Sender<u64>) {
    while rows.send(1).await.is_ok() {}
}

/// A pipeline is as fast as its slowest part.
pub(crate) fn slow_end_of_a_pipeline(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let (send, receive) = channel(4);
    spawn(shape, store(receive));
    for _ in 0..2 {
        spawn(shape, read_rows(send.clone()));
    }
    Vec::new()
}

async fn poll_then_wait(first: Duration, news: Arc<Notify>) {
    sleep(first).await;
    news.notified().await;
}

/// One of two calls of a function is at its timer, and the other one has gone on to wait for news.
pub(crate) fn joined_calls_of_one_function(shape: u32) -> Vec<Box<dyn Any + Send>> {
    let news = Arc::new(Notify::new());
    for _ in 0..4 {
        let (a, b) = (Arc::clone(&news), Arc::clone(&news));
        spawn(shape, async move {
            tokio::join!(poll_then_wait(3_600_000 * MS, a), poll_then_wait(MS, b));
        });
    }
    vec![Box::new(news)]
}
