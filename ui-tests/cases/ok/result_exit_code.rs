use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, String> {
    Ok(ExitCode::from(3))
}
