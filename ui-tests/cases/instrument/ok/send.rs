//! Futures that are `Send` stay so, and others are still accepted.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Mutex;

#[tokio_statemap::instrument]
async fn sent(name: &str, count: &Mutex<u8>) -> usize {
    *count.lock().unwrap() += 1;
    tokio::task::yield_now().await;
    name.len()
}

// A `Cell` is `Send`, but a reference to it isn't.
#[tokio_statemap::instrument]
async fn owns_a_cell(cell: Cell<u8>, unused: Cell<u8>) -> u8 {
    tokio::task::yield_now().await;
    let _ = unused;
    cell.get()
}

// Nothing of the `Rc` is kept while it waits.
#[tokio_statemap::instrument]
async fn drops_an_rc() -> u8 {
    let five = *Rc::new(5);
    tokio::task::yield_now().await;
    five
}

#[tokio_statemap::instrument]
async fn not_send(rc: Rc<u8>) -> u8 {
    tokio::task::yield_now().await;
    *rc
}

#[tokio_statemap::instrument(fields = "{name} {count}")]
async fn with_fields(name: &str, count: u8, cell: Cell<u8>) -> u8 {
    tokio::task::yield_now().await;
    count + cell.get() + name.len() as u8
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let count = Mutex::new(0);
    println!("{}", is_send(sent("abc", &count)).await);
    println!("{}", is_send(owns_a_cell(Cell::new(1), Cell::new(2))).await);
    println!("{}", is_send(drops_an_rc()).await);
    println!("{}", is_send(with_fields("a", 1, Cell::new(1))).await);
    println!("{}", tokio::spawn(owns_a_cell(Cell::new(1), Cell::new(2))).await.unwrap());
    let local = tokio::task::LocalSet::new();
    println!("{}", local.run_until(async { tokio::task::spawn_local(not_send(Rc::new(7))).await }).await.unwrap());
}
