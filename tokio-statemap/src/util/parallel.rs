//! Runs jobs on several threads.

use std::sync::Mutex;
use std::thread;

use crate::util::sync::lock;

/// The number of events from which several threads pay off. Fewer events take some ms.
pub(crate) const MANY_EVENTS: u64 = 200_000;

/// Runs each job on a thread of its own and returns the results in the order of the jobs. If a
/// thread can't be started, the job runs on the caller's.
pub(crate) fn run_parallel<T: Send>(jobs: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    let mut results: Vec<Option<T>> = jobs.iter().map(|_| None).collect();
    let jobs = jobs.into_iter().zip(&mut results);
    run_all(jobs.map(|(job, result)| Box::new(move || *result = Some(job())) as Job<'_>).collect());
    results.into_iter().flatten().collect()
}

/// A job that leaves its result where it borrows.
pub(crate) type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs each job on a thread of its own, or on the caller's. It is compiled once, and not for each type of job.
pub(crate) fn run_all(jobs: Vec<Job<'_>>) {
    // Each job is taken from here: a thread that can't be started doesn't give it back.
    let jobs: Vec<_> = jobs.into_iter().map(|job| Mutex::new(Some(job))).collect();
    let run = |index: usize| {
        let job = lock(&jobs[index]).take();
        if let Some(job) = job {
            job();
        }
    };
    thread::scope(|scope| {
        let mut own = Vec::new();
        for index in 1..jobs.len() {
            let run = &run;
            if thread::Builder::new().spawn_scoped(scope, move || run(index)).is_err() {
                own.push(index);
            }
        }
        if !jobs.is_empty() {
            run(0);
        }
        own.into_iter().for_each(run);
    });
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
