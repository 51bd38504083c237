//! An actix-web service that is recorded: a handler blocks, and the report names it.
//!
//! ```text
//! cargo run --package example-actix
//! ```
//!
//! `HttpServer` can't be recorded: it builds a runtime of its own for each worker, without a way to
//! have hooks in it, and runs its tasks in a `LocalSet`, whose tasks have no hooks in Tokio. With the
//! attribute on its `main` the report says that no task was spawned. `System::with_tokio_rt` and
//! `register_hooks` record the thread of the system only, which handles no request.
//!
//! But the `App` can run on a `LocalRuntime`, whose tasks have hooks: [`serve`] does what a worker of
//! `HttpServer` does, and the attribute records it. For one run that looks for what blocks, the `App`, its
//! handlers and its middleware are the same. This is one worker. For several, give each thread a
//! `LocalRuntime` (`Builder::build_local`), a collector of its own (see the example `builder`) and a
//! clone of the listener.

use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use actix_http::HttpService;
use actix_service::{Service, ServiceFactory, map_config};
use actix_web::dev::AppConfig;
use actix_web::{App, web};
use examples::request;
use tokio::net::TcpListener;
use tokio::task::spawn_local;

#[tokio_statemap::main(flavor = "local", html = "actix.statemap.html")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = spawn_local(serve(listener));

    // A thread of its own: what is recorded is the service alone.
    let (done, customers_left) = tokio::sync::oneshot::channel();
    thread::spawn(move || done.send(visit(address)));
    customers_left.await.expect("visit doesn't panic")?;
    server.abort();
    Ok(())
}

/// What a worker of `HttpServer` does, but on the runtime of the caller.
async fn serve(listener: TcpListener) -> io::Result<()> {
    let app = App::new()
        .route("/", web::get().to(async || "Welcome to the shop\n"))
        .route("/invoice/{number}", web::get().to(invoice));
    let app = map_config(app, |()| AppConfig::default());
    let http = HttpService::build().finish(app).tcp();
    let http = http.new_service(()).await.map_err(|_| io::Error::other("the app doesn't start"))?;
    loop {
        let (connection, _) = listener.accept().await?;
        let connection = http.call(connection);
        spawn_local(async move {
            if let Err(error) = connection.await {
                eprintln!("a connection failed: {error}");
            }
        });
    }
}

async fn invoice(number: web::Path<u64>) -> String {
    let text = format!("Invoice {number}\n");
    sign(&text);
    text
}

/// Stands for a library that isn't async. The remedy is `web::block(move || sign(&text)).await`.
fn sign(_text: &str) {
    thread::sleep(Duration::from_millis(25));
}

/// The customers: ten invoices, and between them the front page.
fn visit(shop: SocketAddr) -> io::Result<()> {
    for number in 1..=10 {
        let answer = request(shop, &format!("/invoice/{number}"))?;
        println!("{}", answer.lines().last().unwrap_or("nothing"));
        request(shop, "/")?;
    }
    Ok(())
}
