//! Exits and panics.

use std::future::pending;
use std::panic;
use std::process::exit;
use std::thread;

/// Calls `std::process::exit` in `place`.
pub async fn exit_from(place: &str) {
    match place {
        "main" => exit(3),
        "task" => drop(tokio::spawn(async { exit(3) })),
        "blocking" => drop(tokio::task::spawn_blocking(|| exit(3))),
        "thread" => drop(thread::spawn(|| exit(3))),
        _ => panic!("no such place: {place}"),
    }
    pending().await
}

/// Panics in `place`, and goes on if that doesn't end the program.
pub async fn panic_in(place: &str) {
    match place {
        "main" => panic!("main panics"),
        "task" => {
            let result = tokio::spawn(async { panic!("a task panics") }).await;
            println!("the task panicked: {}", result.unwrap_err().is_panic());
        }
        "blocking" => {
            let result = tokio::task::spawn_blocking(|| panic!("a closure panics")).await;
            println!("the closure panicked: {}", result.unwrap_err().is_panic());
        }
        "thread" => {
            let result = thread::spawn(|| panic!("a thread panics")).join();
            println!("the thread panicked: {}", result.is_err());
        }
        // A destructor panics while the runtime shuts down.
        "drop" => {
            let guard = PanicsOnDrop;
            drop(tokio::spawn(async move {
                let _guard = Some(Box::new((guard,)));
                pending::<()>().await
            }));
            tokio::task::yield_now().await;
        }
        // The program's panic hook calls the previous one.
        "chained" => {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                eprintln!("the program's own hook");
                before(info);
            }));
            panic!("main panics");
        }
        // The program's panic hook doesn't call the previous one.
        "replaced" => {
            panic::set_hook(Box::new(|_| eprintln!("the program's own hook")));
            panic!("main panics");
        }
        // A panic while panicking aborts.
        "twice" => {
            let _guard = PanicsOnDrop;
            panic!("main panics");
        }
        _ => panic!("no such place: {place}"),
    }
}

#[derive(Debug)]
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("a destructor panics");
    }
}
