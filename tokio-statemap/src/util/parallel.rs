//! Runs jobs on several threads.

use std::{panic, thread};

/// The number of events from which several threads pay off. Fewer events take some ms.
pub(crate) const MANY_EVENTS: u64 = 200_000;

/// Runs each job on a thread of its own and returns the results in the order of the jobs. If a
/// thread can't be started, the job runs on the caller's.
pub(crate) fn run_parallel<T: Send>(jobs: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    let mut results = Vec::new();
    for _ in &jobs {
        results.push(None);
    }
    let mut runs: Vec<Job<'_>> = Vec::new();
    for (job, result) in jobs.into_iter().zip(&mut results) {
        let mut job = Some(job);
        runs.push(Box::new(move || *result = job.take().map(|job| job())));
    }
    run_all(&mut runs);
    drop(runs);
    let mut all = Vec::new();
    for result in results {
        all.extend(result);
    }
    all
}

/// A job that leaves its result where it borrows.
pub(crate) type Job<'a> = Box<dyn FnMut() + Send + 'a>;

/// Runs all jobs. This is compiled once for all types of jobs.
pub(crate) fn run_all(jobs: &mut [Job<'_>]) {
    let Some((job, others)) = jobs.split_last_mut() else { return };
    if others.is_empty() {
        job();
    } else if !beside(job, &mut || run_all(others)) {
        run_all(others);
        job();
    }
}

/// Runs `job` on a thread of its own and `own` on the caller's, in parallel. Returns `false` if no thread can be
/// started; then neither runs.
pub(crate) fn beside(job: &mut (dyn FnMut() + Send), own: &mut dyn FnMut()) -> bool {
    thread::scope(|scope| {
        // It is boxed like those of `sys::start`, which saves a second copy of the code.
        let job: Box<dyn FnOnce() + Send + '_> = Box::new(job);
        let Ok(thread) = thread::Builder::new().spawn_scoped(scope, job) else { return false };
        own();
        if let Err(panic) = thread.join() {
            panic::resume_unwind(panic);
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        for n in 0..5 {
            let jobs = (0..n).map(|i| move || i * 10).collect();
            assert_eq!(run_parallel(jobs), (0..n).map(|i| i * 10).collect::<Vec<_>>());
        }
    }
}
