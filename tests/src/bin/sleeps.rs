//! A task that blocks in a function of its own, half of it inlined.

use std::time::Duration;

use tests::programs::out;

#[inline(never)]
fn render_invoice() {
    wait_for_printer();
    std::hint::black_box(());
}

#[inline(always)]
fn wait_for_printer() {
    std::thread::sleep(Duration::from_millis(400));
    std::hint::black_box(());
}

#[tokio_statemap::main(tasks = out("tasks.json"))]
async fn main() {
    tokio::spawn(async { render_invoice() }).await.unwrap();
}
