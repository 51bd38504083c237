//@ writes: tasks.json
fn configure(_builder: &mut tokio::runtime::Builder) {}

macro_rules! program {
    ($tasks:expr, $trace:expr, $configure:path, $events:literal) => {
        #[tokio_statemap::main(tasks = $tasks, trace = $trace, configure = $configure, max_events = $events)]
        async fn main() {}
    };
}

program!("tasks.json", "both", configure, 100);
