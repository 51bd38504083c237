//@ writes: workers.json
//@ writes: tasks.json
//@ writes: both.json
#[tokio_statemap::main(trace = "workers", workers = "workers.json", flavor = "current_thread")]
async fn workers() {}

#[tokio_statemap::main(trace = "tasks", tasks = "tasks.json", flavor = "current_thread")]
async fn tasks() {}

#[tokio_statemap::main(trace = "both", tasks = "both.json", flavor = "current_thread")]
async fn both() {}

#[tokio_statemap::main(trace = "none", flavor = "current_thread")]
async fn none() {}

fn main() {
    workers();
    tasks();
    both();
    none();
}
