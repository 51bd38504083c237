//! System calls that fail when a signal interrupts them, in spite of SA_RESTART.

use std::os::unix::thread::JoinHandleExt;
use std::ptr::null_mut;
use std::thread;
use std::time::Duration;

/// The calls that send the signal themselves.
const SENDING: [&str; 2] = ["raise", "kill"];

/// Calls `call`, and prints a line if it returns.
pub async fn run(call: &str) {
    match call.strip_prefix("thread_") {
        None if SENDING.contains(&call) => interrupted(call),
        None => {
            let id = thread_id();
            thread::spawn(move || {
                wait_until_asleep(id);
                println!("ready");
            });
            interrupted(call);
        }
        // The call is on a thread that gets the signal directly, and which the system wouldn't choose first.
        Some(call) => {
            let call = call.to_owned();
            let (sends_id, id) = std::sync::mpsc::channel();
            let thread = thread::spawn(move || {
                sends_id.send(thread_id()).unwrap();
                interrupted(&call);
            });
            wait_until_asleep(id.recv().unwrap());
            // SAFETY: the thread isn't joined yet.
            unsafe { libc::pthread_kill(thread.as_pthread_t(), libc::SIGTERM) };
            thread.join().unwrap();
        }
    }
}

fn interrupted(call: &str) {
    let result = call_it(call);
    println!("{call} is over: {result}");
    // A program whose call failed goes on, and makes other calls.
    call_it(call);
    println!("once more");
}

fn call_it(call: &str) -> i64 {
    // SAFETY: All pointers are valid through the calls, and uninitialised memory is written before it is read.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        let hour = libc::timespec { tv_sec: 3600, tv_nsec: 0 };
        match call {
            "pause" => libc::pause().into(),
            "poll" => libc::poll(null_mut(), 0, -1).into(),
            "select" => libc::select(0, null_mut(), null_mut(), null_mut(), null_mut()).into(),
            "nanosleep" => libc::nanosleep(&raw const hour, null_mut()).into(),
            "sleep" => libc::sleep(3600).into(),
            "sigsuspend" => libc::sigsuspend(&raw const none).into(),
            "sigtimedwait" => {
                libc::sigaddset(&raw mut none, libc::SIGUSR1);
                libc::sigtimedwait(&raw const none, null_mut(), &raw const hour).into()
            }
            "epoll_wait" => {
                let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
                let mut events: [libc::epoll_event; 1] = std::mem::zeroed();
                libc::epoll_wait(epoll, events.as_mut_ptr(), 1, -1).into()
            }
            "recv" => {
                let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
                socket.set_read_timeout(Some(Duration::from_secs(3600))).unwrap();
                std::io::Read::read(&mut &socket, &mut [0]).map_or(-1, |read| read as i64)
            }
            "semop" => {
                let semaphores = libc::semget(libc::IPC_PRIVATE, 1, 0o600);
                let mut down = libc::sembuf { sem_num: 0, sem_op: -1, sem_flg: 0 };
                let result = libc::semop(semaphores, &raw mut down, 1);
                libc::semctl(semaphores, 0, libc::IPC_RMID);
                result.into()
            }
            "raise" => libc::raise(libc::SIGTERM).into(),
            "kill" => libc::kill(libc::getpid(), libc::SIGTERM).into(),
            _ => panic!("no such call: {call}"),
        }
    }
}

fn thread_id() -> i32 {
    // SAFETY: it has no precondition.
    unsafe { libc::gettid() }
}

/// Waits until the thread is blocked in a call.
fn wait_until_asleep(id: i32) {
    let is_asleep = || {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{id}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('S')
    };
    // At first it may be blocked in another call.
    for _ in 0..10 {
        while !is_asleep() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(2));
    }
}
