//@ writes: tasks.json
//@ writes: statemap.html: </html>
fn configure(_builder: &mut tokio::runtime::Builder) {}

macro_rules! program {
    ($tasks:expr, $html:expr, $trace:expr, $configure:path, $events:literal) => {
        #[tokio_statemap::main(tasks = $tasks, html = $html, trace = $trace, configure = $configure, max_events = $events)]
        async fn main() {}
    };
}

program!("tasks.json", concat!("statemap", ".html"), "both", configure, 100);
