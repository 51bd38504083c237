//@ writes: tasks.json
//@ writes: statemap.html
#[tokio_statemap::main(
    tasks = std::env::current_dir()?.join("tasks.json"),
    workers = std::env::var("NOT_SET").unwrap_or("workers.json".into()),
    html = std::path::absolute("statemap.html")?,
)]
async fn main() -> Result<(), std::io::Error> {
    Ok(())
}
