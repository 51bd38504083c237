//! A shop in which one checkout holds a lock while it waits for the bank, and all others wait for the
//! lock.
//!
//! It sends SIGUSR1 to itself, which prints the functions and lines that each task waits in.
//! `kill -USR1` from another terminal does the same.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::{sleep, timeout};

/// The number of items in stock.
type Stock = Arc<Mutex<u32>>;

#[tokio_statemap::instrument(fields = "customer {customer}")]
async fn checkout(customer: u32, stock: Stock) {
    let mut stock = stock.lock().await;
    // The mistake: the lock is held for as long as the bank takes.
    pay(customer).await;
    *stock -= 1;
}

#[tokio_statemap::instrument]
async fn pay(customer: u32) {
    let _ = timeout(Duration::from_secs(5), ask_bank(customer)).await;
}

async fn ask_bank(customer: u32) {
    sleep(Duration::from_millis(if customer == 0 { 400 } else { 1 })).await;
}

async fn print_receipts(mut receipts: mpsc::Receiver<u32>) {
    while receipts.recv().await.is_some() {}
}

#[tokio_statemap::main(html = "await_tree.html", dump_signal = "SIGUSR1")]
async fn main() {
    let stock = Stock::new(Mutex::new(100));
    let (_open, receipts) = mpsc::channel(8);
    let printer = tokio_statemap::task::Builder::new().name("printer");
    printer.spawn(print_receipts(receipts)).expect("it doesn't fail");

    let mut customers = tokio_statemap::task::JoinSet::new();
    for customer in 0..50 {
        customers.spawn(checkout(customer, Arc::clone(&stock)));
    }
    sleep(Duration::from_millis(200)).await;
    ask_for_trees();
    customers.join_all().await;
    println!("{} left", stock.lock().await);
}

/// Sends the signal, as `kill -USR1` does.
fn ask_for_trees() {
    #[cfg(unix)]
    {
        let mut kill = std::process::Command::new("kill");
        let _ = kill.args(["-USR1", &std::process::id().to_string()]).status();
    }
}
