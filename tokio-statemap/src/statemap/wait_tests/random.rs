//! Random programs whose tasks wait.

use std::sync::Arc;

use super::*;
use crate::trace::woken_by::WokenBy;

/// A pseudo-random sequence (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn text(&mut self) -> String {
        let of = ["cart", "", HOSTILE, "async ", "waits (1): x", "tokio::time::sleep::Sleep"];
        of[self.below(6) as usize].to_owned()
    }

    fn function(&mut self) -> StackFrame {
        use FrameOrigin::{Dependency, Program, Runtime, Std, System};
        let function = if self.is(2) { format!("async {}", self.text()) } else { self.text() };
        StackFrame {
            function: function.into(),
            file: self.is(2).then(|| self.text().into()),
            line: self.is(2).then(|| 1 + self.below(9) as u32),
            origin: [Program, Dependency, Std, Runtime, System][self.below(5) as usize],
        }
    }

    fn frames(&mut self, depth: u64) -> Vec<AwaitFrame> {
        let count = 1 + self.below(3);
        let frame = |_| AwaitFrame {
            function: self.function(),
            awaits: if depth > 0 && self.is(2) { self.frames(depth - 1) } else { Vec::new() },
            name: self.is(4).then(|| self.text().into()),
            call: self.is(4).then(|| self.below(4) as u16),
        };
        (0..count).map(frame).collect()
    }

    fn wait(&mut self) -> Option<WaitId> {
        WaitId::new([0, 1, 2, 5, 9, 16_383][self.below(6) as usize])
    }

    fn woken_by(&mut self) -> Option<WokenBy> {
        [
            None,
            Some(WokenBy::Runtime),
            Some(WokenBy::BlockingTask),
            Some(WokenBy::Thread),
            Some(WokenBy::Task(TaskKey::Root(self.below(2) as u32))),
            Some(WokenBy::Task(TaskKey::Spawned(self.below(3)))),
        ][self.below(6) as usize]
    }

    fn name(&mut self) -> Option<std::sync::Arc<str>> {
        self.is(3).then(|| self.text().into())
    }

    fn location(&mut self) -> Option<SpawnLocation> {
        let files = ["src/shop.rs", "a waits (1): b.rs", "waits (2): c", HOSTILE];
        let file = files[self.below(4) as usize];
        (!self.is(4)).then(|| SpawnLocation { file, line: self.below(3) as u32, column: 5 })
    }

    /// Returns a task that was there from the beginning, or spawned later.
    fn task(&mut self, key: TaskKey, end_ns: u64) -> Task {
        let (begin_ns, mut at_ns) = (1_000, 1_001 + self.below(300));
        let is_quiet = self.is(3);
        let mut polls = Vec::new();
        for n in 0..if is_quiet { 0 } else { self.below(6) } {
            let ready_ns = (n > 0 && self.is(2)).then_some(at_ns);
            let start_ns = at_ns + 1 + self.below(99);
            at_ns = start_ns + self.below(99);
            let poll = Poll::open(start_ns, self.below(2) as u32, Some(0))
                .ready(ready_ns)
                .by(self.woken_by());
            polls.push(poll.ended(at_ns).waits_at(self.wait()));
            at_ns += 1;
        }
        assert!(at_ns < end_ns);
        let carried = CarriedWait { since_ns: self.below(begin_ns), wait: self.wait() };
        // The data has no wait that ended in its task's last poll.
        let is_over = self.is(4) && polls.last().is_none_or(|last| last.wait().is_none());
        Task {
            location: self.location(),
            spawned_ns: (!is_quiet).then_some(1_001),
            first_ns: if is_quiet { begin_ns } else { 1_001 },
            first_state: if is_quiet { TaskState::Waiting } else { TaskState::Spawned },
            carried_wait: (is_quiet && !self.is(4)).then_some(carried),
            waits_since_ns: None,
            terminated_ns: is_over.then_some(at_ns + 1),
            name: self.name(),
            ..task(key, 0, polls)
        }
    }

    fn timeline(&mut self) -> Timeline {
        let end_ns = if self.is(2) { 10_000 } else { 9_000_000_000 };
        let roots = (0..self.below(3) as u32).map(TaskKey::Root);
        let keys: Vec<_> = roots.chain((1..1 + self.below(6)).map(TaskKey::Spawned)).collect();
        let tasks: Vec<_> = keys.iter().map(|&key| self.task(key, end_ns)).collect();
        let mut timeline = timeline(tasks, Vec::new());
        (timeline.begin_ns, timeline.end_ns) = (1_000, end_ns);
        if timeline.tasks.is_empty() {
            return timeline;
        }
        for number in 1..8 {
            let is_known = number != 2 && !self.is(4);
            timeline
                .places
                .waits
                .push(Wait { frames: if is_known { self.frames(6) } else { Vec::new() } });
        }
        timeline.places.not_kept = self.below(2) * self.0;
        let locals = 20..20 + self.below(4);
        timeline.local_tasks = locals
            .map(|id| LocalTask {
                id,
                polled_in: keys[self.below(keys.len() as u64) as usize],
                location: self.is(2).then_some(SpawnLocation { file: HOSTILE, line: 3, column: 5 }),
                name: self.name(),
                waits_since_ns: self.below(end_ns),
                woken_by: self.woken_by(),
                wait: self.wait(),
            })
            .collect();
        let locals = timeline.local_tasks.iter().map(|local| TaskKey::Spawned(local.id));
        let waiting: Vec<_> = keys.into_iter().chain(locals).collect();
        for key in waiting {
            let call = |_| CallAtEnd {
                entered_ns: self.0 >> self.below(60),
                fields: self.is(2).then(|| self.text()),
            };
            let calls: Vec<_> = (0..key.to_string().len() as u64 % 4).map(call).collect();
            if !calls.is_empty() {
                Arc::make_mut(&mut timeline.places.calls_at_end).push((key, calls));
            }
        }
        timeline
    }
}

/// The line of each chain is that of its innermost function of the program, or else of a dependency.
fn lines_are_of_chains(wait: &Wait) {
    let chains = wait.chains();
    let expected = chains.iter().map(|chain| {
        let of = |origin| chain.iter().rposition(move |frame| frame.origin == origin);
        let own = of(FrameOrigin::Program).or_else(|| of(FrameOrigin::Dependency)).unwrap_or(0);
        (chain[own], chain.get(own + 1).copied())
    });
    assert!(wait.lines().iter().map(|line| (line.at, line.awaits)).eq(expected), "{wait:?}");
}

#[test]
#[ignore = "slow"]
fn any_program_comes_back() {
    let (mut at_known_places, mut lines) = (0, 0);
    for seed in 1..200_u64 {
        let timeline = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).timeline();
        comes_back(&timeline);
        timeline.places.waits.iter().for_each(lines_are_of_chains);
        at_known_places +=
            timeline.tasks.iter().filter(|task| timeline.wait_at_end(task).is_some()).count();
        lines += timeline.report().waits.lines.len();
    }
    assert!(at_known_places > 100 && lines > 500, "{at_known_places} {lines}");
}
