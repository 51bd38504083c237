//! A program that writes pages while it runs: `dumps WAY`.

#[tokio_statemap::main(
    worker_threads = 2,
    dump_on = "poll > 50ms, panic, SIGUSR2",
    dump_after = "10ms",
    html = tests::programs::out("shop.statemap.html"),
    report = tests::programs::out("report.txt")
)]
async fn main() {
    tests::programs::dumps::run(&tests::programs::way()).await;
}
