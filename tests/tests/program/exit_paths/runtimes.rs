//! Runtimes that are built without the attribute, and several runs in one process.

use crate::exit_paths::pair::either;

#[test]
fn a_runtime_shuts_down_with_stuck_tasks() {
    for pair in [either!("shutdown_background"), either!("shutdown_timeout")] {
        let observed = pair.compare();
        assert_eq!(observed.ended.status.code(), Some(0));
        if cfg!(tokio_unstable) {
            let tasks = &observed.tasks;
            let mut rows = tasks.entities.keys().map(|task| tasks.states_of(task));
            assert!(
                rows.any(|row| row.contains(&"running") && !row.contains(&"completed")),
                "the stuck task runs at the end"
            );
        }
    }
}

#[test]
fn runs_follow_each_other_in_one_process() {
    either!("twice").with_later_run("2").compare();
}

#[test]
fn a_runtime_may_be_dropped_in_a_thread_local_destructor() {
    for pair in [
        either!("thread_local_first_multi"),
        either!("thread_local_first_single"),
        either!("thread_local_last_multi"),
        either!("thread_local_last_single"),
    ] {
        let observed = pair.compare();
        assert_eq!(observed.ended.status.code(), Some(0));
        if cfg!(tokio_unstable) {
            // The ends of `main` and of two tasks were recorded.
            let tasks = &observed.tasks;
            assert_eq!(tasks.entities.len(), 3);
            for task in tasks.entities.keys() {
                assert_eq!(tasks.entries(task, "completed"), 1, "{task}");
            }
        }
    }
}
