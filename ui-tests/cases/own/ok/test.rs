//@ test
//@ writes: tasks.json
//@ writes: statemap.html: </html>
#[tokio_statemap::test(tasks = "tasks.json", html = "statemap.html")]
async fn writes() {
    tokio::spawn(async {}).await.unwrap();
}

#[tokio_statemap::test(flavor = "multi_thread", worker_threads = 2, trace = "none")]
async fn r#match() -> Result<(), String> {
    Ok(())
}

fn configure(builder: &mut tokio::runtime::Builder) {
    builder.start_paused(true);
}

#[tokio_statemap::test(configure = configure)]
async fn configured() {
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
}
