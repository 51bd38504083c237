//! A listener of long polls that panics.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::recorded;

/// Runs polls that end when the listener was called for them.
pub fn panics() {
    let (collector, runtime) = recorded(2);
    let (send, calls) = channel();
    collector.on_long_poll(Duration::from_millis(5), move |poll| {
        send.send(poll.task).unwrap();
        panic!("the closure's own");
    });
    let calls = std::sync::Arc::new(Mutex::new(calls));
    for _ in 0..3 {
        let calls = calls.clone();
        let task = runtime.spawn(async move { calls.lock().unwrap().recv().unwrap() });
        let id = task.id();
        let seen = runtime.block_on(task).unwrap();
        // A call for an earlier poll may come late, as threads are looked at every 5 ms only.
        println!("{seen} of task-{id}");
    }
}
