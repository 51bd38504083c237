//@ edition: 2021
//! Borrows by the last expression end before the arguments are dropped.

use std::cell::RefCell;

#[tokio_statemap::instrument]
async fn length(items: RefCell<Vec<u8>>) -> usize {
    items.borrow().len()
}

#[tokio_statemap::instrument]
async fn of_a_local(_items: RefCell<Vec<u8>>) -> usize {
    let items = RefCell::new(vec![1_u8]);
    let length = items.borrow().len();
    length
}

#[tokio_statemap::instrument]
async fn branches(items: RefCell<Vec<u8>>, first: bool) -> Option<u8> {
    if first { items.borrow().first().copied() } else { return items.borrow().last().copied() }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{}", length(RefCell::new(vec![1, 2])).await);
    println!("{}", of_a_local(RefCell::new(vec![1, 2])).await);
    println!("{:?}", branches(RefCell::new(vec![1, 2]), false).await);
}
