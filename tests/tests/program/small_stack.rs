//! A runtime whose threads have no more stack than Tokio itself needs also works when it is
//! recorded.
#![cfg(all(tokio_unstable, target_os = "linux"))]

use tests::child::{Ended, Running, command, folder};

/// The smallest difference between stack sizes.
const PAGE: usize = 4096;

fn run(mode: &str, stack_bytes: usize) -> Ended {
    let folder = folder(env!("CARGO_TARGET_TMPDIR"), "small_stack");
    let mut command = command(env!("CARGO_BIN_EXE_small_stack"), &folder);
    Running::start(command.args([mode, &stack_bytes.to_string()])).end()
}

#[test]
fn threads_with_little_stack_are_recorded() {
    // The C library's minimum.
    let mut least = 16 << 10;
    while !run("plain", least).status.success() {
        least += PAGE;
        assert!(least < 1 << 20, "it is not for the stack that it fails");
    }
    println!("without us it takes {least} bytes");
    // Without optimization this crate's frames are larger than that.
    let more = if cfg!(debug_assertions) { PAGE } else { 0 };
    for stack_bytes in [least + more, least + 2 * PAGE, 64 << 10] {
        let ended = run("observed", stack_bytes);
        assert!(ended.status.success(), "{stack_bytes} bytes, {least} without us: {ended:?}");
        assert_eq!(ended.stdout, "the last line\n");
    }
}
