//@ writes: own-no-html-2024-bins-own-no_html-ok-default_data.tasks.json
//@ writes: own-no-html-2024-bins-own-no_html-ok-default_data.workers.json
#[tokio_statemap::main]
async fn main() {}
