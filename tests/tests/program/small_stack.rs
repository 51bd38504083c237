//! A runtime whose threads have no more stack than Tokio itself needs also works when it is recorded.
#![cfg(all(tokio_unstable, target_os = "linux"))]

use std::path::Path;

use tests::child::{Ended, Running, command, folder};

/// The smallest difference between stack sizes.
const PAGE: usize = 4096;

fn run(program: &Path, mode: &str, stack_bytes: usize) -> Ended {
    let folder = folder(env!("CARGO_TARGET_TMPDIR"), "small_stack");
    let mut command = command(program, &folder);
    Running::start(command.args([mode, &stack_bytes.to_string()])).end()
}

#[test]
fn threads_with_little_stack_are_recorded() {
    // Without optimization this crate's frames are larger.
    let more = if cfg!(debug_assertions) { PAGE } else { 0 };
    let program = Path::new(env!("CARGO_BIN_EXE_small_stack"));
    // The C library's minimum is 16 KiB.
    let mut least = 16 << 10;
    while !run(program, "plain", least).status.success() {
        least += PAGE;
        assert!(least < 1 << 20, "it fails for another reason than the stack");
    }
    println!("without recording it takes {least} bytes");
    for stack_bytes in [least + more, least + 2 * PAGE, 64 << 10] {
        let ended = run(program, "observed", stack_bytes);
        assert!(
            ended.status.success(),
            "{stack_bytes} bytes, {least} without recording: {ended:?}"
        );
        assert_eq!(ended.stdout, "the last line\n");
    }
}
