//! A closure that is told of long polls, and panics.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::recorded;

/// Each poll goes on until it was told.
pub fn panics() {
    let (runtime, collector) = recorded(2);
    let (tell, told) = channel();
    collector.on_long_poll(Duration::from_millis(5), move |poll| {
        tell.send(poll.task).unwrap();
        panic!("the closure's own");
    });
    let told = std::sync::Arc::new(Mutex::new(told));
    for _ in 0..3 {
        let told = told.clone();
        let task = runtime.spawn(async move { told.lock().unwrap().recv().unwrap() });
        let id = task.id();
        let seen = runtime.block_on(task).unwrap();
        // One of before may be told late, as it is at each 5 ms only that a thread is looked at.
        println!("{seen} of task-{id}");
    }
}
