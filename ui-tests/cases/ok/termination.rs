use std::process::{ExitCode, Termination};

struct Outcome(u8);

impl Termination for Outcome {
    fn report(self) -> ExitCode {
        ExitCode::from(self.0)
    }
}

#[tokio::main]
async fn main() -> Outcome {
    Outcome(17)
}
