fn my_settings(_builder: &mut tokio::runtime::Builder) {}

fn my_hooks() -> tokio_statemap::Hooks {
    tokio_statemap::Hooks::new()
}

#[tokio_statemap::main(
    tasks = "tasks.json",
    configure = my_settings,
    hooks = my_hooks,
    report = "report.txt"
)]
async fn main() -> Result<(), String> {
    println!("hello");
    Ok("text")
}
