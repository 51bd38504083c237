//! Forks. The parent waits for the child, so that their outputs have an order.

/// Forks; the child runs the variant `child`.
pub async fn run(child: &str) {
    // SAFETY: The child of a process with several threads deadlocks if it takes a lock that another thread held. Here
    // the other threads are idle.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    if pid == 0 {
        println!("the child");
        match child {
            // SAFETY: it has no precondition.
            "_exit" => unsafe { libc::_exit(4) },
            "exit" => std::process::exit(4),
            "returns" => return,
            "panics" => panic!("the child panics"),
            // SAFETY: it has no precondition.
            "sigint" => unsafe {
                libc::raise(libc::SIGINT);
            },
            // SAFETY: it has no precondition.
            "sigterm_from_without" => unsafe {
                libc::kill(libc::getpid(), libc::SIGTERM);
                loop {
                    libc::pause();
                }
            },
            _ => panic!("no such way: {child}"),
        }
        unreachable!("the child has ended");
    }
    let mut status = 0;
    // SAFETY: `status` lives through the call.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!(waited, pid, "waitpid");
    println!("the child's status: {status:#x}");
}
