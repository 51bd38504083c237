//! A simulated service, whose tasks are woken, polled and wait as on a runtime with two workers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::panic::Location;
use std::sync::Arc;

use tokio_statemap::{
    Collector, CollectorConfig, Event, SpawnLocation, StatemapData, WokenBy, register_hooks,
};

const WORKERS: usize = 2;

/// The parameters of a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    /// The total number of tasks.
    pub(crate) tasks: u64,
    /// The total number of polls.
    pub(crate) polls: u64,
    /// The number of polls after which a task ends and another one begins. `None` if all tasks live
    /// to the end.
    pub(crate) life_polls: Option<u64>,
}

/// A pseudo-random number generator (xorshift64*), so that the service is always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number from 0 (included) to 1 (excluded).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns an exponentially distributed time.
    fn around(&mut self, mean_ns: f64) -> u64 {
        (-(1.0 - self.unit()).ln() * mean_ns) as u64 + 50
    }
}

struct Task {
    id: u64,
    kind: usize,
    polls: u64,
}

/// The mean lengths of polls and waits of the tasks of one spawn location, in ns.
struct Work {
    poll_ns: f64,
    wait_ns: f64,
    location: SpawnLocation,
}

#[track_caller]
fn here() -> SpawnLocation {
    Location::caller().into()
}

impl Service {
    /// Simulates the service and returns the data that a collector would have recorded.
    pub(crate) fn run(self) -> StatemapData {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let collector: Arc<Collector> =
            register_hooks(&mut builder, CollectorConfig::default()).expect("hooks");
        collector.events_to_data(&self.events())
    }

    fn events(self) -> Vec<Event> {
        let mean_wait_ns = self.tasks as f64 * 1_800.0;
        let works = [
            Work { poll_ns: 4_000.0, wait_ns: mean_wait_ns, location: here() },
            Work { poll_ns: 2_000.0, wait_ns: mean_wait_ns * 2.0, location: here() },
            Work { poll_ns: 9_000.0, wait_ns: mean_wait_ns, location: here() },
        ];
        let blocking = here();
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut events = Vec::with_capacity((self.polls * 2 + self.tasks * 2) as usize + 64);
        let live = self.life_polls.map_or(self.tasks, |life| {
            // As many tasks live at a time as share the polls among them.
            (self.tasks * life).min(self.polls).div_ceil(life).min(self.tasks.div_ceil(20)).max(4)
        });
        let mut tasks: Vec<Task> = Vec::new();
        // The times of the next wakes, and the queue with the times of queueing.
        let mut wakes: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let mut queue: VecDeque<(u64, usize)> = VecDeque::new();
        let mut free_ns = [0_u64; WORKERS];
        let mut parked = [false; WORKERS];
        let (mut spawned, mut polled, mut now) = (0, 0, 1_000);
        for worker in 0..WORKERS as u32 {
            let (time_ns, thread) = (100 + u64::from(worker), worker);
            events.push(Event::WorkerStart { time_ns, thread, worker: Some(worker) });
        }
        let spawn =
            |time_ns: u64, tasks: &mut Vec<Task>, events: &mut Vec<Event>, spawned: &mut u64| {
                *spawned += 1;
                let id = *spawned + 10;
                let kind = match *spawned % 97 {
                    13 => works.len(),
                    n => (n % works.len() as u64) as usize,
                };
                let location = works.get(kind).map_or(blocking, |work| work.location);
                events.push(Event::TaskSpawn {
                    task_id: id,
                    time_ns,
                    thread: 0,
                    location: Some(location),
                });
                tasks.push(Task { id, kind, polls: 0 });
                tasks.len() - 1
            };
        for _ in 0..live {
            now += 200;
            let task = spawn(now, &mut tasks, &mut events, &mut spawned);
            queue.push_back((now, task));
        }
        free_ns.fill(now);
        let blocks_every = (self.polls / 12).max(40);
        while polled < self.polls {
            let worker = if free_ns[0] <= free_ns[1] { 0 } else { 1 };
            let mut at = free_ns[worker];
            while let Some(&Reverse((due, task))) = wakes.peek() {
                if due > at {
                    break;
                }
                wakes.pop();
                queue.push_back((due, task));
            }
            let thread = worker as u32;
            let Some((ready, index)) = queue.pop_front() else {
                let Some(&Reverse((due, _))) = wakes.peek() else { break };
                if !parked[worker] {
                    events.push(Event::WorkerPark { time_ns: at, thread, worker: Some(thread) });
                    parked[worker] = true;
                }
                free_ns[worker] = due.max(at + 1);
                continue;
            };
            if std::mem::take(&mut parked[worker]) {
                events.push(Event::WorkerUnpark { time_ns: at, thread, worker: Some(thread) });
                at += 300;
            }
            polled += 1;
            let task = &mut tasks[index];
            task.polls += 1;
            let (task_id, is_first) = (task.id, task.polls == 1);
            let start = at.max(ready) + 120;
            let work = works.get(task.kind);
            let length = match work {
                None if polled % blocks_every < 40 => 1_500_000 + random.around(9_000_000.0),
                None => random.around(6_000.0),
                Some(work) => random.around(work.poll_ns),
            };
            let end = start + length;
            events.push(Event::TaskPollStart {
                task_id,
                time_ns: start,
                thread,
                worker: Some(thread),
                ready_ns: (!is_first).then_some(ready),
                woken_by: Some(WokenBy::Runtime),
            });
            if self.life_polls.is_some_and(|life| task.polls >= life) && spawned < self.tasks {
                let child = spawn(start + length / 2, &mut tasks, &mut events, &mut spawned);
                wakes.push(Reverse((start + length / 2, child)));
                events.push(Event::TaskTerminate { task_id, time_ns: end - 20, thread });
            } else {
                let wait = work.map_or(mean_wait_ns, |work| work.wait_ns);
                wakes.push(Reverse((end + random.around(wait), index)));
            }
            events.push(Event::TaskPollEnd { task_id, time_ns: end, thread, worker: Some(thread) });
            free_ns[worker] = end;
        }
        let end = free_ns.into_iter().max().unwrap_or(now) + 1_000;
        for worker in 0..WORKERS as u32 {
            events.push(Event::WorkerStop { time_ns: end, thread: worker, worker: Some(worker) });
        }
        events
    }
}
