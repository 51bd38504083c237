//! At random times, the recorded trees of random programs are right.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tests::cases::cases;
use tests::runtime::{builder, recorded};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::task::{LocalSet, yield_now};
use tokio_statemap::timeline::{TaskKey, Waiting};
use tokio_statemap::{CollectorConfig, Instrument};

use super::shadow::{Shadow, UNNAMED, found, found_in};

/// A part of a program.
#[derive(Clone, Debug)]
enum Step {
    Wait(Leaf),
    /// Yields this number of times.
    Yield(u8),
    Sequence(Vec<Self>),
    Join(Box<Self>, Box<Self>),
    Select(Box<Self>, Box<Self>),
    Timeout(Box<Self>),
    Named(Box<Self>),
    Generic(Box<Self>),
}

#[derive(Clone, Copy, Debug)]
enum Leaf {
    Notify,
    Semaphore,
    Channel,
    Oneshot,
    Sleep,
    Lock,
}

/// The turns of a program: each wait lasts until its turn is over.
#[derive(Clone, Default)]
struct Turns(Arc<Mutex<Vec<oneshot::Sender<()>>>>);

impl Turns {
    /// Returns a future that is ready when the turn is over.
    fn next(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.0.lock().unwrap().push(sender);
        receiver
    }

    /// Ends the turn of one of the waits.
    fn end(&self, choice: usize) {
        let mut all = self.0.lock().unwrap();
        all.retain(|turn| !turn.is_closed());
        if !all.is_empty() {
            let chosen = choice % all.len();
            let _ = all.swap_remove(chosen).send(());
        }
    }
}

type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs a step. Each call is instrumented, so that its end is known. Otherwise, if a branch of a `join!` waits in the same
/// poll in which it ends, that wait is shown until the next poll.
fn run(step: Step, up: Shadow, turns: Turns) -> BoxFuture {
    let step: BoxFuture = match step {
        Step::Wait(leaf) => Box::pin(waits(leaf, up, turns)),
        Step::Yield(times) => Box::pin(yields(times, up)),
        Step::Sequence(steps) => Box::pin(sequence(steps, up, turns)),
        Step::Join(a, b) => Box::pin(joins(*a, *b, up, turns)),
        Step::Select(a, b) => Box::pin(selects(*a, *b, up, turns)),
        Step::Timeout(step) => Box::pin(times_out(*step, up, turns)),
        Step::Named(step) => Box::pin(names(*step, up, turns)),
        Step::Generic(step) => Box::pin(calls(*step, up, turns)),
    };
    Box::pin(step.instrument(UNNAMED))
}

#[rustfmt::skip]
async fn waits(leaf: Leaf, up: Shadow, turns: Turns) {
    let frame = up.enter("waits");
    let turn = turns.next();
    match leaf {
        Leaf::Oneshot => { frame.waits(line!(), "Receiver"); let _ = turn.await; }
        Leaf::Notify => {
            let notify = Arc::new(Notify::new());
            let notifies = Arc::clone(&notify);
            tokio::spawn(async move { let _ = turn.await; notifies.notify_one(); });
            frame.waits(line!(), "Notified"); notify.notified().await;
        }
        Leaf::Semaphore => {
            let semaphore = Arc::new(Semaphore::new(0));
            let releases = Arc::clone(&semaphore);
            tokio::spawn(async move { let _ = turn.await; releases.add_permits(1); });
            frame.waits(line!(), "acquire"); let _ = semaphore.acquire().await;
        }
        Leaf::Channel => {
            let (sender, mut receiver) = mpsc::channel(1);
            tokio::spawn(async move { let _ = turn.await; let _ = sender.send(()).await; });
            frame.waits(line!(), "recv"); receiver.recv().await;
        }
        Leaf::Sleep => {
            let sleep = tokio::time::sleep(Duration::from_secs(1000));
            let down = frame.at(line!() + 2);
            let _both = (down.enter("Sleep"), down.enter("Receiver"));
            tokio::select! { biased; () = sleep => {} _ = turn => {} }
        }
        Leaf::Lock => {
            let mutex = Arc::new(tokio::sync::Mutex::new(()));
            let held = mutex.clone().try_lock_owned().unwrap();
            tokio::spawn(async move { let _ = turn.await; drop(held); });
            frame.waits(line!(), "lock"); let _ = mutex.lock().await;
        }
    }
}

#[rustfmt::skip]
async fn yields(times: u8, up: Shadow) {
    let frame = up.enter("yields");
    for _ in 0..times {
        frame.waits(line!(), "yield_now"); yield_now().await;
    }
}

#[rustfmt::skip]
async fn sequence(steps: Vec<Step>, up: Shadow, turns: Turns) {
    let frame = up.enter("sequence");
    for step in steps {
        let down = frame.at(line!()); run(step, down, turns.clone()).await;
    }
}

#[rustfmt::skip]
async fn joins(a: Step, b: Step, up: Shadow, turns: Turns) {
    let frame = up.enter("joins");
    let down = frame.at(line!()); tokio::join!(run(a, down.clone(), turns.clone()), run(b, down, turns));
}

#[rustfmt::skip]
async fn selects(a: Step, b: Step, up: Shadow, turns: Turns) {
    let frame = up.enter("selects");
    let down = frame.at(line!()); tokio::select! { () = run(a, down.clone(), turns.clone()) => {} () = run(b, down, turns) => {} }
}

#[rustfmt::skip]
async fn times_out(step: Step, up: Shadow, turns: Turns) {
    let frame = up.enter("times_out");
    let timeout = frame.at(line!()).enter("Timeout"); let _ = tokio::time::timeout(Duration::from_secs(1000), run(step, timeout.at(0), turns)).await;
}

#[rustfmt::skip]
async fn names(step: Step, up: Shadow, turns: Turns) {
    let frame = up.enter("names");
    let named = frame.at(line!()).enter("named"); let down = named.at(line!()); async move { run(step, down, turns).await }.instrument("named").await;
}

async fn calls(step: Step, up: Shadow, turns: Turns) {
    let frame = up.enter("calls");
    let inner = Shadow::default();
    let future = run(step, inner.clone(), turns);
    let line = line!() + 2;
    let down = frame.at(line);
    awaits(down, inner, future).await;
}

#[rustfmt::skip]
async fn awaits<F: Future + Send>(up: Shadow, inner: Shadow, future: F) -> F::Output {
    let frame = up.enter("awaits");
    frame.continues(line!(), &inner); future.await
}

fn leaf() -> impl Strategy<Value = Leaf> {
    use Leaf::*;
    prop::sample::select(vec![Notify, Semaphore, Channel, Oneshot, Sleep, Lock])
}

fn step() -> impl Strategy<Value = Step> {
    let simple =
        prop_oneof![4 => leaf().prop_map(Step::Wait), 1 => (1..4_u8).prop_map(Step::Yield)];
    simple.prop_recursive(5, 24, 4, |inner| {
        let one = inner.clone().prop_map(Box::new);
        let two = (one.clone(), one.clone());
        prop_oneof![
            prop::collection::vec(inner, 1..4).prop_map(Step::Sequence),
            two.clone().prop_map(|(a, b)| Step::Join(a, b)),
            two.prop_map(|(a, b)| Step::Select(a, b)),
            one.clone().prop_map(Step::Timeout),
            one.clone().prop_map(Step::Named),
            one.prop_map(Step::Generic),
        ]
    })
}

/// Runs the programs as tasks of one runtime, and compares their trees each time all of them wait.
fn check(programs: Vec<Step>, choices: &[usize]) -> Result<(), TestCaseError> {
    let (collector, runtime) = recorded(builder(0), CollectorConfig::default());
    let tasks = programs.into_iter().map(|program| {
        let (shadow, turns) = (Shadow::default(), Turns::default());
        let _guard = runtime.enter();
        let task = tokio_statemap::spawn(run(program, shadow.clone(), turns.clone()));
        (task.id().to_string().parse().expect("a number"), shadow, turns)
    });
    let tasks: Vec<(u64, _, _)> = tasks.collect();
    for &choice in choices {
        // After this all tasks wait.
        collector.block_on(&runtime, async {
            for _ in 0..40 {
                yield_now().await;
            }
        });
        let timeline = collector.snapshot();
        for (id, shadow, turns) in &tasks {
            let key = TaskKey::Spawned(*id);
            let task = timeline.tasks.iter().find(|task| task.key == key).expect("the task");
            if task.terminated_ns.is_none() {
                prop_assert_eq!(found(&timeline, task), shadow.text());
            }
            turns.end(choice);
        }
    }
    Ok(())
}

#[test]
fn the_trees_of_random_programs_are_right() {
    let config = Config { cases: cases(100), failure_persistence: None, ..Config::default() };
    let programs = prop::collection::vec(step(), 5);
    let choices = prop::collection::vec(any::<usize>(), 6);
    let mut runner = TestRunner::new(config);
    let run = runner.run(&(programs, choices), |(programs, choices)| check(programs, &choices));
    if let Err(err) = run {
        panic!("{err}");
    }
}

/// A program in which whatever wakes the task ends all that it waits for, so that each wait clones the waker.
fn local_step() -> impl Strategy<Value = Step> {
    let wait = || leaf().prop_map(Step::Wait);
    let select = (wait().prop_map(Box::new), wait().prop_map(Box::new));
    let simple = prop_oneof![
        4 => wait(),
        1 => select.prop_map(|(a, b)| Step::Select(a, b)),
        1 => (1..4_u8).prop_map(Step::Yield),
    ];
    simple.prop_recursive(4, 16, 3, |inner| {
        let one = inner.clone().prop_map(Box::new);
        prop_oneof![
            prop::collection::vec(inner, 1..4).prop_map(Step::Sequence),
            one.clone().prop_map(Step::Timeout),
            one.prop_map(Step::Generic),
        ]
    })
}

/// Runs the programs as tasks of two `LocalSet`s, spawned by Tokio alone, and compares each time all of them wait.
fn check_local(programs: Vec<Step>, choices: &[usize]) -> Result<(), TestCaseError> {
    let (collector, runtime) = recorded(builder(0), CollectorConfig::default());
    let sets = [LocalSet::new(), LocalSet::new()];
    let mut tasks = Vec::new();
    for (n, program) in programs.into_iter().enumerate() {
        let (shadow, turns) = (Shadow::default(), Turns::default());
        let task = sets[n % 2].spawn_local(run(program, shadow.clone(), turns.clone()));
        tasks.push((task, shadow, turns));
    }
    for &choice in choices {
        // After this all tasks wait.
        collector.block_on(&runtime, async {
            let settles = || async {
                for _ in 0..40 {
                    yield_now().await;
                }
            };
            tokio::join!(sets[0].run_until(settles()), sets[1].run_until(settles()));
            let timeline = collector.snapshot();
            let mut found: Vec<_> = Vec::new();
            for task in &timeline.local_tasks {
                let text = match timeline.waiting_of_local(task) {
                    Waiting::At(wait) => found_in(&wait.frames),
                    other => format!("{other:?}"),
                };
                found.push((task.id, task.polled_in, text));
            }
            // Root futures are numbered anew.
            let root = timeline
                .tasks
                .iter()
                .map(|task| task.key)
                .find(|key| matches!(key, TaskKey::Root(_)));
            let mut expected = Vec::new();
            for (task, shadow, _) in &tasks {
                if !task.is_finished() {
                    let id: u64 = task.id().to_string().parse().expect("a number");
                    expected.push((id, root.expect("the root"), shadow.text()));
                }
            }
            expected.sort_by_key(|(id, ..)| *id);
            prop_assert_eq!(found, expected);
            Ok(())
        })?;
        for (n, (task, _, turns)) in tasks.iter().enumerate() {
            match choice.wrapping_add(n) % 7 {
                0 => task.abort(),
                1 => {}
                _ => turns.end(choice),
            }
        }
    }
    Ok(())
}

#[test]
fn random_programs_in_local_sets_wait_where_they_say() {
    let config = Config { cases: cases(60), failure_persistence: None, ..Config::default() };
    let programs = prop::collection::vec(local_step(), 6);
    let choices = prop::collection::vec(any::<usize>(), 6);
    let mut runner = TestRunner::new(config);
    let run =
        runner.run(&(programs, choices), |(programs, choices)| check_local(programs, &choices));
    if let Err(err) = run {
        panic!("{err}");
    }
}
