//! Random programs with one known problem, or none: a deadlock, stall, block, burst or leak among healthy tasks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tokio_statemap::{Event, SpawnLocation, Timeline};

use super::{MS, Script, US, timeline};
use crate::mutate::Random;

const S: u64 = 1_000 * MS;

/// The spawn location of the tasks that are the problem.
pub const WRONG: SpawnLocation = SpawnLocation { file: "src/wrong.rs", line: 7, column: 5 };

/// The problem of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// None.
    Nothing,
    /// A task blocks one of several workers a few times, for 100 to 400 ms each.
    Block,
    /// Each worker is blocked for seconds.
    AllBlocked,
    /// One worker is blocked for seconds, and no other looks for timers.
    Driver,
    /// A few of many short-lived tasks never end.
    Deadlock,
    /// Hundreds or thousands of tasks are spawned at once.
    Burst,
    /// Tasks that never end are spawned in regular intervals.
    Leak,
}

/// All variants.
pub const ALL: [Wrong; 7] = [
    Wrong::Nothing,
    Wrong::Block,
    Wrong::AllBlocked,
    Wrong::Driver,
    Wrong::Deadlock,
    Wrong::Burst,
    Wrong::Leak,
];

impl Wrong {
    /// Returns the name of the kind of issue that the report must name first.
    pub const fn kind(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Block => Some("long polls"),
            Self::AllBlocked | Self::Driver => Some("stall"),
            Self::Deadlock => Some("never finished"),
            Self::Burst => Some("starved"),
            Self::Leak => Some("maybe leaked"),
        }
    }
}

/// A poll that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    ready_ns: u64,
    task: u64,
    length_ns: u64,
    /// `true` if the task ends with it.
    ends: bool,
    is_first: bool,
}

/// A program in the making.
struct Program {
    random: Random,
    script: Script,
    workers: usize,
    length_ns: u64,
    /// For each task, whether it is part of the problem.
    tasks: Vec<bool>,
    due: Vec<Due>,
    /// The range in which no due poll of other tasks is noticed.
    closed: Option<(u64, u64)>,
}

/// Returns the program with this seed and problem.
pub fn program(seed: u64, wrong: Wrong) -> Timeline {
    let mut random = Random::new(seed);
    let workers = match wrong {
        Wrong::Block | Wrong::Driver => 2 + random.below(3),
        _ => 1 + random.below(4),
    };
    let length_s = match wrong {
        Wrong::Leak => 11 + random.below(10),
        _ => 3 + random.below(18),
    };
    let length_ns = length_s as u64 * S;
    let mut program = Program {
        random,
        script: Script::default(),
        workers,
        length_ns,
        tasks: Vec::new(),
        due: Vec::new(),
        closed: None,
    };
    program.main();
    program.healthy();
    match wrong {
        Wrong::Nothing => {}
        Wrong::Block => program.block(),
        Wrong::AllBlocked => program.stall(workers),
        Wrong::Driver => program.stall(1),
        Wrong::Deadlock => program.deadlock(),
        Wrong::Burst => program.burst(),
        Wrong::Leak => program.leak(),
    }
    program.run();
    timeline(&program.script.events)
}

fn healthy_place(line: u64) -> SpawnLocation {
    SpawnLocation { file: "src/healthy.rs", line: line as u32, column: 9 }
}

impl Program {
    /// Returns a random number from 1 to `n`.
    fn some(&mut self, n: u64) -> u64 {
        1 + self.random.below(n as usize) as u64
    }

    fn spawn(&mut self, at_ns: u64, place: SpawnLocation) -> u64 {
        self.tasks.push(place == WRONG);
        let task = self.tasks.len() as u64;
        self.script.spawn(task, at_ns, place);
        task
    }

    fn poll(&mut self, task: u64, ready_ns: u64, length_ns: u64, is_first: bool) {
        self.due.push(Due { ready_ns, task, length_ns, ends: false, is_first });
    }

    /// Adds the root future, which spawns and then waits for a signal that never comes, and the workers.
    fn main(&mut self) {
        self.script.root_poll(self.workers as u32, 10 * US, MS, |_| {});
        for thread in 0..self.workers as u32 {
            let worker = Some(thread);
            self.script.events.push(Event::WorkerStart { time_ns: 0, thread, worker });
        }
    }

    /// Adds clocks, idle connections, connections that come and go, and a growing number of connections.
    fn healthy(&mut self) {
        // There are always some clocks: they tell a stall from an idle program, and show when the recording ends.
        for _ in 0..4 + self.random.below(6) {
            self.clock();
        }
        if self.random.is(2) {
            for _ in 0..self.some(5) {
                let at_ns = self.some(200) * MS;
                let task = self.spawn(at_ns, healthy_place(20));
                self.poll(task, at_ns, 30 * US, true);
            }
        }
        if self.random.is(2) {
            self.clients();
        }
        if self.random.is(2) {
            // Their number grows for two seconds and then stays.
            for n in 0..100 {
                let at_ns = 100 * MS + n * 20 * MS;
                let task = self.spawn(at_ns, healthy_place(40));
                self.poll(task, at_ns, 20 * US, true);
            }
        }
    }

    /// Adds a task that is polled in regular intervals until the end.
    fn clock(&mut self) {
        let (line, period_ns) = (10 + self.random.below(3) as u64, (40 + self.some(160)) * MS);
        let task = self.spawn(2 * MS, healthy_place(line));
        self.poll(task, 2 * MS, 10 * US, true);
        let mut at_ns = (10 + self.some(50)) * MS;
        while at_ns < self.length_ns {
            let length_ns = self.some(80) * US;
            self.poll(task, at_ns, length_ns, false);
            at_ns += period_ns;
        }
    }

    /// Adds connections that come, are used, and go; some live long.
    fn clients(&mut self) {
        for _ in 0..20 {
            let begin_ns = self.some(self.length_ns / MS) * MS;
            let task = self.spawn(begin_ns, healthy_place(30));
            self.poll(task, begin_ns, 30 * US, true);
            let mut at_ns = begin_ns + 10 * MS;
            for _ in 0..self.random.below(10) {
                at_ns += self.some(400) * MS;
                self.poll(task, at_ns, 50 * US, false);
            }
            let due =
                Due { ready_ns: at_ns + MS, task, length_ns: 20 * US, ends: true, is_first: false };
            self.due.push(due);
        }
    }

    /// Returns a random time in the second quarter of the run.
    fn moment(&mut self) -> u64 {
        let quarter = self.length_ns / 4;
        quarter + self.some(quarter / MS) * MS
    }

    fn block(&mut self) {
        let task = self.spawn(3 * MS, WRONG);
        self.poll(task, 3 * MS, 10 * US, true);
        let mut at_ns = self.moment();
        for _ in 0..1 + self.random.below(4) {
            let length_ns = (100 + self.some(300)) * MS;
            self.poll(task, at_ns, length_ns, false);
            at_ns += length_ns + self.some(200) * MS;
        }
    }

    /// Blocks `blocked` workers at once, while no other looks for timers.
    fn stall(&mut self, blocked: usize) {
        let (at_ns, length_ns) = (self.moment(), (1_200 + self.some(1_500)) * MS);
        for _ in 0..blocked {
            let task = self.spawn(3 * MS, WRONG);
            self.poll(task, 3 * MS, 10 * US, true);
            self.poll(task, at_ns, length_ns, false);
        }
        // Timers that are due meanwhile fire when the block is over.
        self.closed = Some((at_ns + 2 * US, at_ns + length_ns + MS));
    }

    fn deadlock(&mut self) {
        let hung = self.some(3);
        for n in 0..12 + hung * 4 + self.some(20) {
            let at_ns = 5 * MS + n * self.some(3) * MS;
            let task = self.spawn(at_ns, WRONG);
            self.poll(task, at_ns, 30 * US, true);
            let ready_ns = at_ns + self.some(60) * MS;
            if n >= hung {
                self.due.push(Due {
                    ready_ns,
                    task,
                    length_ns: 20 * US,
                    ends: true,
                    is_first: false,
                });
            }
        }
    }

    fn burst(&mut self) {
        let at_ns = self.moment();
        let length_ns = 400 * US;
        // With so many tasks the last one waits for at least 160 ms.
        let tasks = (400 + self.some(250)) * self.workers as u64;
        let over_ns = at_ns + tasks * length_ns / self.workers as u64 + 100 * MS;
        self.closed = Some((at_ns - MS, over_ns));
        for n in 0..tasks {
            let ready_ns = at_ns + n;
            let task = self.spawn(ready_ns, WRONG);
            self.due.push(Due { ready_ns, task, length_ns, ends: true, is_first: true });
        }
    }

    fn leak(&mut self) {
        let every_ns = (60 + self.some(60)) * MS;
        let mut at_ns = self.some(200) * MS;
        while at_ns < self.length_ns {
            let task = self.spawn(at_ns, WRONG);
            self.poll(task, at_ns, 30 * US, true);
            at_ns += every_ns;
        }
    }

    /// Lets the workers run the due polls, in their order.
    fn run(&mut self) {
        let mut due = std::mem::take(&mut self.due);
        if let Some((from_ns, to_ns)) = self.closed {
            let mut is_late = vec![false; self.tasks.len()];
            due.retain_mut(|poll| {
                let index = poll.task as usize - 1;
                if self.tasks[index] || !(from_ns..to_ns).contains(&poll.ready_ns) {
                    return true;
                }
                poll.ready_ns = to_ns + poll.task * US;
                // A timer that fired several times meanwhile wakes once.
                !std::mem::replace(&mut is_late[index], true) || poll.ends
            });
        }
        let mut queue: BinaryHeap<Reverse<Due>> = due.into_iter().map(Reverse).collect();
        let mut free_ns = vec![MS; self.workers];
        let mut ended_ns = vec![0_u64; self.tasks.len()];
        while let Some(Reverse(next)) = queue.pop() {
            let ended_ns = &mut ended_ns[next.task as usize - 1];
            // The task or the recording has ended.
            if next.ready_ns >= self.length_ns || *ended_ns == u64::MAX {
                continue;
            }
            let ready_ns = next.ready_ns.max(*ended_ns + US);
            let (worker, &at_ns) =
                free_ns.iter().enumerate().min_by_key(|(_, at)| **at).expect("there is one");
            let start_ns = at_ns.max(ready_ns) + US;
            self.park(worker as u32, at_ns, start_ns);
            self.polled(worker as u32, start_ns, Due { ready_ns, ..next });
            free_ns[worker] = start_ns + next.length_ns;
            *ended_ns = if next.ends { u64::MAX } else { free_ns[worker] };
        }
        for (worker, from_ns) in free_ns.into_iter().enumerate() {
            self.park(worker as u32, from_ns, self.length_ns);
        }
        self.script.events.sort_by_key(Event::time_ns);
    }

    /// Parks a worker between two polls, if there is enough time.
    fn park(&mut self, thread: u32, from_ns: u64, to_ns: u64) {
        if from_ns + 10 * US < to_ns {
            self.script.park(thread, from_ns + US, to_ns - US);
        }
    }

    fn polled(&mut self, thread: u32, time_ns: u64, due: Due) {
        let end_ns = time_ns + due.length_ns;
        self.script.start(due.task, thread, time_ns, (!due.is_first).then_some(due.ready_ns));
        if due.ends {
            self.script.terminate(due.task, thread, end_ns);
        }
        self.script.end(due.task, thread, end_ns);
    }
}
