use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    tokio::task::yield_now().await;
    ExitCode::from(42)
}
