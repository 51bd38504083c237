//! A recorded `main` on one thread that returns nothing.

use tests::programs::{build_and_run, is_by_hand, out, recording, run, way};
use tokio::runtime::Builder;

fn main() {
    match is_by_hand() {
        true => {
            let builder = Builder::new_current_thread();
            build_and_run(builder, recording(), async { run(&way()).await });
        }
        false => by_attribute(),
    }
}

#[tokio_statemap::main(
    flavor = "current_thread",
    tasks = out("tasks.json"),
    workers = out("workers.json"),
    html = out("statemap.html"),
    svg = out("statemap.svg"),
    report = out("report.txt")
)]
async fn by_attribute() {
    run(&way()).await
}
