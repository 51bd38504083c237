//! A recorded actix-web service: a handler blocks, and the report names it.
//!
//! ```text
//! cargo run --package example-actix
//! ```
//!
//! `HttpServer` can't be recorded: it builds a runtime for each worker, to which no hooks can be added,
//! and runs its tasks in a `LocalSet`, for which Tokio calls no hooks. With the attribute on its `main`
//! the report says that no task was spawned. `System::with_tokio_rt` and a `Recording` record only
//! the system's thread, which handles no requests.
//!
//! The `App` can run on a `LocalRuntime` instead, whose tasks have hooks: [`serve`] does the work of an
//! `HttpServer` worker, and the attribute records it. For a run that looks for blocking calls, the
//! `App`, its handlers and its middleware stay the same. This is one worker. For several, give each
//! thread a `LocalRuntime` (`Builder::build_local`), added to one recording (see the example `builder`) and
//! a clone of the listener.

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

    // The customers have their own thread, so that only the service is recorded.
    let (done, customers_left) = tokio::sync::oneshot::channel();
    thread::spawn(move || done.send(visit(address)));
    customers_left.await.expect("visit doesn't panic")?;
    server.abort();
    Ok(())
}

/// Does the work of an `HttpServer` worker, but on the runtime of the caller.
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

/// Simulates a library that isn't async. The fix is `web::block(move || sign(&text)).await`.
fn sign(_text: &str) {
    thread::sleep(Duration::from_millis(25));
}

/// Simulates the customers: ten invoices, with visits to the front page in between.
fn visit(shop: SocketAddr) -> io::Result<()> {
    for number in 1..=10 {
        let answer = request(shop, &format!("/invoice/{number}"))?;
        println!("{}", answer.lines().last().unwrap_or("nothing"));
        request(shop, "/")?;
    }
    Ok(())
}
