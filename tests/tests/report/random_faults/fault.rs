//! Faults by which tasks wait for ever, or for long.

use std::any::Any;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use proptest::prelude::*;
use tokio::sync::{Mutex, OwnedSemaphorePermit, RwLock, Semaphore, mpsc, oneshot};
use tokio::time::sleep;

/// The end of the path of this file, in which all faults are.
pub(super) const FILE: &str = "random_faults/fault.rs";

/// A fault, with how many tasks have it, and how long they do something before.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) kind: Kind,
    tasks: usize,
    pause: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Two locks, taken in both orders.
    Deadlock,
    /// A lock that is held while a slow service answers.
    Convoy,
    /// The same of a `RwLock`.
    Writers,
    /// Permits that are never given back.
    Forgotten,
    /// Permits that a task keeps.
    Kept,
    /// A channel whose receiver waits for something else.
    FullChannel,
    /// A future that keeps no waker.
    LostWakeUp,
    /// An actor that asks itself.
    AsksItself,
    /// A lock that is held by a task that waits for a task that wants the lock.
    JoinsUnderLock,
    /// Tasks that take a second permit while they have one.
    SecondPermit,
    /// Two tasks that send to each other, and receive nothing meanwhile.
    Cycle,
}

pub(super) fn any() -> impl Strategy<Value = Fault> {
    use Kind::*;
    let kinds = vec![
        Deadlock,
        Convoy,
        Writers,
        Forgotten,
        Kept,
        FullChannel,
        LostWakeUp,
        AsksItself,
        JoinsUnderLock,
        SecondPermit,
        Cycle,
    ];
    (prop::sample::select(kinds), 4..30_usize, 2..20_u64).prop_map(|(kind, tasks, ms)| Fault {
        kind,
        tasks,
        pause: Duration::from_millis(ms),
    })
}

impl Kind {
    /// Returns the names of the kinds of issues as which it may be told.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::LostWakeUp => &["never finished"],
            _ => &["queue", "never finished"],
        }
    }

    /// Returns the lines that the verdict must name.
    pub(super) fn lines(self) -> Vec<usize> {
        let marks: &[&str] = match self {
            Self::Deadlock => &["deadlock: has", "deadlock: waits"],
            Self::Convoy => &["convoy: has", "convoy: waits"],
            Self::Writers => &["writers: has", "writers: waits"],
            Self::Forgotten => &["forgotten: waits"],
            Self::Kept => &["kept: waits"],
            Self::FullChannel => &["channel: waits", "channel: has"],
            // Where a future keeps no waker, nothing tells the line. It is known where the task waited before.
            Self::LostWakeUp => &["lost: before"],
            Self::AsksItself => &["asks: waits", "asks: has"],
            Self::JoinsUnderLock => &["joins: waits", "joins: has"],
            Self::SecondPermit => &["second: waits", "second: has"],
            Self::Cycle => &["cycle: one", "cycle: other"],
        };
        marks.iter().map(|mark| line_of(mark)).collect()
    }
}

/// Returns the number of the line that ends with this comment.
fn line_of(mark: &str) -> usize {
    let end = format!("// {mark}");
    let nth = include_str!("fault.rs").lines().position(|line| line.ends_with(&end));
    nth.unwrap_or_else(|| panic!("{mark}")) + 1
}

impl Fault {
    /// Spawns its tasks. Returns what must be kept for it to last.
    pub(super) fn start(&self) -> Box<dyn Any> {
        let Self { kind, tasks, pause } = *self;
        let numbers = 0..tasks;
        match kind {
            Kind::Deadlock => {
                let locks = [Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0))];
                for n in numbers {
                    let (from, to) = (Arc::clone(&locks[n % 2]), Arc::clone(&locks[1 - n % 2]));
                    tokio::spawn(transfer(from, to, pause));
                }
                Box::new(locks)
            }
            Kind::Convoy => {
                let session = Arc::new(Mutex::new(0));
                numbers.for_each(|_| drop(tokio::spawn(refreshes(Arc::clone(&session), pause))));
                Box::new(session)
            }
            Kind::Writers => {
                let table = Arc::new(RwLock::new(0));
                numbers.for_each(|_| drop(tokio::spawn(updates(Arc::clone(&table), pause))));
                Box::new(table)
            }
            Kind::Forgotten => {
                let permits = Arc::new(Semaphore::new(3));
                numbers
                    .for_each(|n| drop(tokio::spawn(forgets(Arc::clone(&permits), pause, n % 3))));
                Box::new(permits)
            }
            Kind::Kept => {
                let permits = Arc::new(Semaphore::new(2));
                (0..2).for_each(|_| drop(tokio::spawn(keeps(Arc::clone(&permits)))));
                numbers.for_each(|_| drop(tokio::spawn(wants(Arc::clone(&permits), pause))));
                Box::new(permits)
            }
            Kind::FullChannel => {
                let (sender, receiver) = mpsc::channel(2);
                tokio::spawn(stores(receiver, pause));
                numbers.for_each(|_| drop(tokio::spawn(feeds(sender.clone()))));
                Box::new(sender)
            }
            Kind::LostWakeUp => {
                numbers.for_each(|_| drop(tokio::spawn(loses(pause))));
                Box::new(())
            }
            Kind::AsksItself => {
                let (actor, questions) = mpsc::channel(8);
                tokio::spawn(answers(actor.clone(), questions));
                numbers.for_each(|n| drop(tokio::spawn(asks(actor.clone(), pause, n))));
                Box::new(actor)
            }
            Kind::JoinsUnderLock => {
                let lock = Arc::new(Mutex::new(0));
                tokio::spawn(rebuilds(Arc::clone(&lock), pause));
                numbers.for_each(|_| drop(tokio::spawn(reads(Arc::clone(&lock), pause))));
                Box::new(lock)
            }
            Kind::SecondPermit => {
                let permits = Arc::new(Semaphore::new(3));
                numbers.for_each(|_| drop(tokio::spawn(takes_two(Arc::clone(&permits), pause))));
                Box::new(permits)
            }
            Kind::Cycle => {
                let ((to_one, from_other), (to_other, from_one)) =
                    (mpsc::channel(tasks), mpsc::channel(tasks));
                tokio::spawn(doubles(from_other, to_other));
                tokio::spawn(acknowledges(from_one, to_one.clone(), pause));
                tokio::spawn(async move { to_one.send(1).await });
                Box::new(())
            }
        }
    }
}

async fn transfer(from: Arc<Mutex<u32>>, to: Arc<Mutex<u32>>, pause: Duration) {
    loop {
        let mut from = from.lock().await; // deadlock: has
        sleep(pause).await;
        let mut to = to.lock().await; // deadlock: waits
        (*from, *to) = (*to, *from);
    }
}

async fn refreshes(session: Arc<Mutex<u32>>, pause: Duration) {
    loop {
        let mut session = session.lock().await; // convoy: waits
        upstream(pause).await; // convoy: has
        *session += 1;
    }
}

async fn upstream(pause: Duration) {
    sleep(pause).await;
}

async fn updates(table: Arc<RwLock<u32>>, pause: Duration) {
    loop {
        let mut table = table.write().await; // writers: waits
        upstream(pause).await; // writers: has
        *table += 1;
    }
}

async fn forgets(permits: Arc<Semaphore>, pause: Duration, nth: usize) {
    loop {
        let permit = permits.acquire().await.unwrap(); // forgotten: waits
        sleep(pause).await;
        if nth == 0 {
            permit.forget();
        }
    }
}

async fn keeps(permits: Arc<Semaphore>) {
    let permit = permits.acquire_owned().await.unwrap();
    keep(permit).await;
}

async fn keep(permit: OwnedSemaphorePermit) {
    sleep(Duration::from_secs(3600)).await;
    drop(permit);
}

async fn wants(permits: Arc<Semaphore>, pause: Duration) {
    sleep(pause).await;
    let _permit = permits.acquire().await.unwrap(); // kept: waits
}

async fn stores(mut rows: mpsc::Receiver<u32>, pause: Duration) {
    let mut stored = 0;
    while let Some(row) = rows.recv().await {
        stored += row;
        let pause = if stored > 20 { Duration::from_secs(3600) } else { pause };
        upstream(pause).await; // channel: has
    }
}

async fn feeds(rows: mpsc::Sender<u32>) {
    loop {
        rows.send(1).await.unwrap(); // channel: waits
    }
}

async fn loses(pause: Duration) {
    sleep(pause).await; // lost: before
    poll_fn(|_| Poll::<()>::Pending).await;
}

type Question = (usize, oneshot::Sender<u32>);

async fn ask(actor: &mpsc::Sender<Question>, what: usize) -> u32 {
    let (answer, answered) = oneshot::channel();
    actor.send((what, answer)).await.unwrap();
    answered.await.unwrap() // asks: waits
}

async fn answers(myself: mpsc::Sender<Question>, mut questions: mpsc::Receiver<Question>) {
    while let Some((what, answer)) = questions.recv().await {
        let answered = match what {
            20 => ask(&myself, 1).await, // asks: has
            what => what as u32,
        };
        let _ = answer.send(answered);
    }
}

async fn asks(actor: mpsc::Sender<Question>, pause: Duration, n: usize) {
    for what in n % 20.. {
        ask(&actor, what).await;
        sleep(pause).await;
    }
}

async fn rebuilds(lock: Arc<Mutex<u32>>, pause: Duration) {
    sleep(3 * pause).await;
    let mut value = lock.lock().await;
    let part = tokio::spawn(reads(Arc::clone(&lock), pause));
    part.await.unwrap(); // joins: has
    *value += 1;
}

async fn reads(lock: Arc<Mutex<u32>>, pause: Duration) {
    loop {
        let value = *lock.lock().await; // joins: waits
        sleep(pause + Duration::from_micros(u64::from(value))).await;
    }
}

async fn takes_two(permits: Arc<Semaphore>, pause: Duration) {
    loop {
        let one = permits.acquire().await.unwrap(); // second: has
        sleep(pause).await;
        let two = permits.acquire().await.unwrap(); // second: waits
        drop((one, two));
    }
}

async fn doubles(mut from: mpsc::Receiver<u32>, to: mpsc::Sender<u32>) {
    while let Some(number) = from.recv().await {
        for _ in 0..2 {
            to.send(number).await.unwrap(); // cycle: one
        }
    }
}

async fn acknowledges(mut from: mpsc::Receiver<u32>, to: mpsc::Sender<u32>, pause: Duration) {
    while let Some(number) = from.recv().await {
        if number % 8 == 0 {
            sleep(pause).await;
        }
        to.send(number + 1).await.unwrap(); // cycle: other
    }
}
