//! The text of the await trees of tasks.

use super::*;

const MS: u64 = 1_000_000;

fn frame(function: &str, line: u32, awaits: Vec<TreeFrame>) -> TreeFrame {
    let is_own = line > 0;
    TreeFrame {
        function: function.to_owned(),
        file: is_own.then(|| "src/shop.rs".to_owned()),
        line: is_own.then_some(line),
        awaits,
        ..TreeFrame::default()
    }
}

fn lock() -> TreeFrame {
    frame("tokio::sync::mutex::Mutex<T>::lock", 0, Vec::new())
}

fn tree(id: u64, place: TreePlace) -> TaskTree {
    TaskTree {
        task: format!("task-{id}"),
        id: Some(id),
        name: None,
        location: Some("src/shop.rs:7:5".to_owned()),
        polled_in: None,
        woken_by: None,
        state: TaskState::Waiting,
        for_ns: 40 * MS,
        is_older: false,
        place,
        is_forgotten: false,
    }
}

fn pays() -> TreePlace {
    let pay = frame("async shop::pay", 12, vec![lock()]);
    TreePlace::Waits(vec![frame("async shop::checkout", 21, vec![pay])])
}

#[test]
fn a_task_that_waits() {
    let text = "task-7 (spawned at src/shop.rs:7:5) waits for 40.0 ms
  shop::checkout at src/shop.rs:21
  └ shop::pay at src/shop.rs:12
    └ tokio::sync::mutex::Mutex<T>::lock";
    assert_eq!(tree(7, pays()).to_string(), text);
    let named = TaskTree {
        name: Some("cart".to_owned()),
        is_older: true,
        is_forgotten: true,
        polled_in: Some("main".to_owned()),
        woken_by: Some("task-9".to_owned()),
        location: None,
        ..tree(7, TreePlace::Unknown)
    };
    let text = "task-7 \"cart\" waits for at least 40.0 ms, forgotten, polled in main, last woken by task-9";
    assert_eq!(named.to_string(), text);
    let root = TaskTree { id: None, task: "main".to_owned(), ..tree(0, TreePlace::NothingWakes) };
    let text = "main (src/shop.rs:7:5) waits for 40.0 ms
  for a future that took no waker: nothing will wake the task";
    assert_eq!(root.to_string(), text);
}

#[test]
fn branches_have_lines_at_their_side() {
    let join = frame(
        "async shop::join",
        3,
        vec![
            frame("async shop::a", 4, vec![frame("async shop::b", 5, vec![lock()])]),
            frame("All", 0, vec![frame("async shop::c", 6, vec![lock()]), lock()]),
            frame("async shop::d", 7, vec![lock()]),
        ],
    );
    let place = TreePlace::Waits(vec![join, frame("async shop::lost", 8, Vec::new())]);
    let text = "task-7 (spawned at src/shop.rs:7:5) waits for 40.0 ms
  shop::join at src/shop.rs:3
  ├ shop::a at src/shop.rs:4
  │ └ shop::b at src/shop.rs:5
  │   └ tokio::sync::mutex::Mutex<T>::lock
  ├ All
  │ ├ shop::c at src/shop.rs:6
  │ │ └ tokio::sync::mutex::Mutex<T>::lock
  │ └ tokio::sync::mutex::Mutex<T>::lock
  └ shop::d at src/shop.rs:7
    └ tokio::sync::mutex::Mutex<T>::lock
  shop::lost at src/shop.rs:8";
    assert_eq!(tree(7, place).to_string(), text);
}

#[test]
fn the_other_states() {
    for (state, said) in [
        (TaskState::Running, "is polled for"),
        (TaskState::Ready, "is ready for"),
        (TaskState::Spawned, "was not polled yet, for"),
    ] {
        let one = TaskTree { state, ..tree(7, TreePlace::Unknown) };
        assert_eq!(one.to_string(), format!("task-7 (spawned at src/shop.rs:7:5) {said} 40.0 ms"));
    }
    let print =
        frame("shop::print", 30, vec![frame("blocked in read of /dev/random", 0, Vec::new())]);
    let polled = TaskTree { state: TaskState::Running, ..tree(7, TreePlace::Polled(vec![print])) };
    let text = "task-7 (spawned at src/shop.rs:7:5) is polled for 40.0 ms
  shop::print at src/shop.rs:30
  └ blocked in read of /dev/random";
    assert_eq!(polled.to_string(), text);
}

fn instrumented(fields: &str) -> TreePlace {
    let call = frame("async shop::pay", 12, vec![lock()]);
    let name = Some("payment".to_owned());
    let call = TreeFrame { name, for_ns: Some(3 * MS), fields: Some(fields.to_owned()), ..call };
    let outer = TreeFrame { for_ns: Some(5 * MS), ..frame("async shop::checkout", 21, vec![call]) };
    TreePlace::Waits(vec![outer])
}

#[test]
fn an_instrumented_call_says_for_how_long_and_with_what() {
    let text = "task-7 (spawned at src/shop.rs:7:5) waits for 40.0 ms
  shop::checkout at src/shop.rs:21 (for 5.00 ms)
  └ payment: shop::pay at src/shop.rs:12 (for 3.00 ms; cart=7)
    └ tokio::sync::mutex::Mutex<T>::lock";
    assert_eq!(tree(7, instrumented("cart=7")).to_string(), text);
}

#[test]
fn equal_trees_are_folded() {
    let trees = [
        TaskTree { id: None, task: "main".to_owned(), ..tree(0, TreePlace::Unknown) },
        TaskTree { for_ns: 9 * MS, ..tree(1, instrumented("cart=1")) },
        tree(2, instrumented("cart=2")),
        TaskTree { is_forgotten: true, ..tree(3, TreePlace::NothingWakes) },
        TaskTree { state: TaskState::Running, ..tree(4, TreePlace::Unknown) },
        TaskTree { state: TaskState::Spawned, ..tree(5, TreePlace::Unknown) },
        TaskTree { state: TaskState::Spawned, for_ns: 41 * MS, ..tree(6, TreePlace::Unknown) },
        TaskTree { state: TaskState::Ready, ..tree(7, TreePlace::Unknown) },
        TaskTree {
            state: TaskState::Ready,
            is_older: true,
            for_ns: 50 * MS,
            ..tree(8, TreePlace::Unknown)
        },
    ];
    let text = "9 tasks: 1 polled, 2 ready, 2 not polled yet, 4 waiting. 1 task waits at an \
unknown place: its waker wasn't seen, or the program has no symbols.

main (src/shop.rs:7:5) waits for 40.0 ms

task-2 and 1 other task (spawned at src/shop.rs:7:5) wait for 9.00 ms to 40.0 ms
  shop::checkout at src/shop.rs:21 (for 5.00 ms)
  └ payment: shop::pay at src/shop.rs:12 (for 3.00 ms; cart=2, …)
    └ tokio::sync::mutex::Mutex<T>::lock

task-3 (spawned at src/shop.rs:7:5) waits for 40.0 ms, forgotten
  for a future that took no waker: nothing will wake the task

task-4 (spawned at src/shop.rs:7:5) is polled for 40.0 ms

task-6 and 1 other task (spawned at src/shop.rs:7:5) were not polled yet, for 40.0 ms to 41.0 ms

task-8 and 1 other task (spawned at src/shop.rs:7:5) are ready for 40.0 ms to at least 50.0 ms";
    assert_eq!(Folded(&trees).to_string(), text);
    assert_eq!(Folded(&[]).to_string(), "0 tasks.");
    let two =
        [tree(1, TreePlace::Unknown), TaskTree { location: None, ..tree(2, TreePlace::Unknown) }];
    let first = "2 tasks: 2 waiting. 2 tasks wait at unknown places: their wakers weren't \
                 seen, or the program has no symbols.";
    assert_eq!(Folded(&two).to_string().lines().next(), Some(first));
}

#[test]
fn nothing_hidden_is_printed() {
    const HOSTILE: &str = "a\"b\n\u{1b}[2J\u{202e}";
    let all = || Some(HOSTILE.to_owned());
    let frame = TreeFrame {
        function: HOSTILE.to_owned(),
        file: all(),
        line: Some(1),
        name: all(),
        fields: all(),
        for_ns: Some(1),
        awaits: vec![TreeFrame { function: HOSTILE.to_owned(), ..TreeFrame::default() }],
        is_of_program: true,
    };
    let tree = TaskTree { name: all(), location: all(), ..tree(7, TreePlace::Waits(vec![frame])) };
    let text = tree.to_string();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("\\u{202e}"), "{text}");
    // The folder of the packages isn't shown.
    let file = "/cargo/registry/src/index-1/axum-0.8.9/src/lib.rs".to_owned();
    let of_package = TaskTree {
        location: Some(format!("{file}:1:2")),
        ..super::tests::tree(7, TreePlace::Unknown)
    };
    assert!(of_package.to_string().contains("(spawned at axum-0.8.9/src/lib.rs:1:2)"));
}
