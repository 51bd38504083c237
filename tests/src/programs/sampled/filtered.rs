//! A program with a seccomp filter that ends it for one system call.

use std::time::Duration;

use super::{compute, recorded, samples};

/// Installs a filter for the system call `call`, `before` the runtime is built or `after` it has started. Then runs long
/// polls and prints the number of their samples.
pub fn run(when: &str, call: u32) {
    if when == "before" {
        filter(call);
    }
    let (collector, runtime) = recorded(2);
    collector.block_on(&runtime, async {
        if when == "after" {
            tokio::spawn(async { compute(Duration::from_millis(20)) }).await.unwrap();
            filter(call);
        }
        // The watcher may have to wait for a processor. It takes no sample without its own calls.
        let rounds = if call == libc::SYS_syslog as u32 { 20 } else { 2 };
        for _ in 0..rounds {
            tokio::spawn(async {
                std::thread::sleep(Duration::from_millis(50));
                compute(Duration::from_millis(50));
            })
            .await
            .unwrap();
            // Many records need new memory, which takes system calls, too.
            for _ in 0..10_000 {
                tokio::task::yield_now().await;
            }
            if when == "after" || !samples(&collector.snapshot()).is_empty() {
                break;
            }
        }
    });
    println!("{} samples", samples(&collector.snapshot()).len());
}

/// Lets the process end if any of its threads makes the call from now on.
fn filter(call: u32) {
    let instruction = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        // The number of the call.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: The filter program lives through the call, and its length is right.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let (set, all) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_TSYNC);
        assert_eq!(libc::syscall(libc::SYS_seccomp, set, all, &raw const program), 0);
    }
}
