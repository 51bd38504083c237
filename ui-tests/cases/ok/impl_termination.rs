use std::process::Termination;

#[tokio::main]
async fn main() -> impl Termination {
    std::process::ExitCode::from(18)
}
