//! The lints of rustc see what they see without the attribute.

#![warn(unused, nonstandard_style, future_incompatible, rust_2018_idioms, let_underscore, unreachable_pub, missing_docs)]
#![warn(elided_lifetimes_in_paths, single_use_lifetimes, unused_lifetimes, unused_qualifications, unused_results)]
#![warn(trivial_casts, trivial_numeric_casts, variant_size_differences, explicit_outlives_requirements)]

use std::cell::{Ref, RefCell};

#[tokio_statemap::instrument]
async fn unused(a: u8, b: u8, mut c: u8, (d, e): (u8, u8), _f: u8) -> u8 {
    let unused = b;
    let mut never_changed = e;
    return never_changed;
    5
}

#[tokio_statemap::instrument]
async fn elided(cell: &RefCell<u8>) -> Ref<u8> {
    cell.borrow()
}

#[tokio_statemap::instrument]
async fn assigned(mut a: u8) {
    a = 5;
}

#[deprecated]
struct Old;

#[tokio_statemap::instrument]
async fn old(old: Old) -> Old {
    old
}

#[tokio_statemap::instrument]
async fn badNames(BadName: u8) -> u8 {
    BadName
}

#[tokio_statemap::instrument]
async fn diverges() -> u8 {
    panic!();
    println!("unreachable");
}

#[tokio_statemap::instrument]
async fn never_called(a: u8) -> Result<(), ()> {
    never_called(a);
    if (a == 1) {
        return (Ok(()));
    }
    Err(())
}

impl Old {
    #[tokio_statemap::instrument]
    async fn unused_method(self, n: u8) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    unused(1, 2, 3, (4, 5), 6).await;
    elided(&RefCell::new(1)).await;
    assigned(1).await;
    old(Old).await;
    badNames(1).await;
    if false {
        diverges().await;
    }
}
