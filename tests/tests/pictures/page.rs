//! The page in a real browser: it opens on the worst poll, its numbers are those of the timeline, its
//! controls work as described, and it requests nothing.
//!
//! The tests in the browser are in `page/browser`; their pages are written here. The modules of the page also
//! have tests without a browser, in `page/unit`.
#![cfg(tokio_unstable)]

mod accessible;
mod whole_run;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use tests::browser::{browser, node};
use tests::planted;
use tokio_statemap::picture::{Picture, SourceFiles};
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Labels, write_tasks, write_workers};
use tokio_statemap::timeline::ExhaustedPool;
use tokio_statemap::{
    CollectorConfig, SpawnLocation, TaskState, Timeline, WorkerState, html, register_hooks,
};

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// Runs a file of tests on the pages in the folder of the same name.
fn test(name: &str, file: &Path) {
    let Some(browser) = browser(Path::new(TARGET)) else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    if let Err(printed) = browser.test(&here.join(file), &folder(name)) {
        panic!("{printed}");
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(TARGET).join("pages").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn labels(title: &str) -> Labels {
    Labels { title: title.to_owned(), host: Some("host-1".to_owned()) }
}

fn write(folder: &Path, name: &str, timeline: &Timeline, labels: &Labels) {
    let file = File::create(folder.join(name)).unwrap();
    html::write(&Picture::of_timeline(timeline, labels), file).unwrap();
}

/// The expected values for the tests in the browser.
fn expect(folder: &Path, name: &str, what: &Value) {
    fs::write(folder.join(name), what.to_string()).unwrap();
}

#[test]
#[ignore = "slow: needs node"]
fn modules() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/unit");
    let mut files: Vec<_> = fs::read_dir(&here).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".test.js"));
    assert!(!files.is_empty());
    files.sort_unstable();
    for file in files {
        if let Some(Err(printed)) = node(&file, &here) {
            panic!("{printed}");
        }
    }
}

#[test]
#[ignore = "slow: needs a browser"]
fn opens_on_the_worst_poll() {
    let folder = folder("opens");
    write(&folder, "blocked.html", &planted::blocked(), &labels("blocked"));
    write(&folder, "healthy.html", &planted::healthy(), &labels("healthy"));
    let mut untimed = planted::blocked();
    untimed.settings.schedule_latency = false;
    write(&folder, "untimed.html", &untimed, &labels("untimed"));
    // Without ready times, the sum of the polls counts.
    let mut summed = planted::two_culprits();
    summed.settings.schedule_latency = false;
    write(&folder, "summed.html", &summed, &labels("summed"));
    let mut workers_only = planted::healthy();
    workers_only.settings.task_hooks = false;
    workers_only.tasks.clear();
    write(&folder, "workers-only.html", &workers_only, &labels("workers only"));
    let mut first = planted::blocked();
    first.lost.refused_events = 5_000;
    write(&folder, "first.html", &first, &labels("first"));
    let mut pool = ExhaustedPool::default();
    (pool.threads, pool.tasks, pool.most_waiting) = (2, 50, 48);
    (pool.waited_ns, pool.longest_ns, pool.ran_ns) = (900_000_000, 25_000_000, 50_000_000);
    pool.location = Some(planted::BLOCKS);
    let mut exhausted = planted::nearly();
    exhausted.pool.exhausted = Some(pool);
    write(&folder, "pool.html", &exhausted, &labels("pool"));
    let whole = fs::read_to_string(folder.join("blocked.html")).unwrap();
    let end = whole.rfind("class=\"statemap-origin\"").unwrap() + 60;
    fs::write(folder.join("cut-off.html"), &whole[..end]).unwrap();
    let mut empty = planted::timeline(&[]);
    empty.runtime = None;
    write(&folder, "empty.html", &empty, &labels("empty"));
    test("opens", Path::new("browser/opens.test.mjs"));
}

#[test]
#[ignore = "slow: needs a browser"]
fn totals_are_the_timelines() {
    let folder = folder("totals");
    let timeline = planted::random(300, 7);
    write(&folder, "random.html", &timeline, &labels("random"));
    let length = timeline.length_ns();
    let mut seed: u64 = 99;
    let mut below = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let windows: Vec<Value> = (0..1_000)
        .map(|n| {
            // Windows of all sizes, from the whole down to some ns.
            let most = (length >> (n % 20)).max(10);
            let width = 1 + below(most.min(1 << 30));
            let from = below(length - width + 1);
            let (from, to) = if n == 0 { (0, length) } else { (from, from + width) };
            json!({ "from": from, "to": to, "totals": totals(&timeline, from, to) })
        })
        .collect();
    expect(&folder, "windows.json", &Value::from(windows));
    test("totals", Path::new("browser/totals.test.mjs"));
}

/// Returns the time in each state of the workers and of the tasks within the window.
fn totals(timeline: &Timeline, from: u64, to: u64) -> Value {
    let within = |start: u64, end: u64| {
        let (start, end) = (start - timeline.begin_ns, end - timeline.begin_ns);
        end.min(to).saturating_sub(start.max(from))
    };
    let mut workers = [0; WorkerState::ALL.len()];
    for span in timeline.workers.iter().flat_map(|worker| worker.spans(timeline.end_ns)) {
        workers[span.state.value() as usize] += within(span.start_ns, span.end_ns);
    }
    let mut tasks = [0; TaskState::ALL.len()];
    for span in timeline.tasks.iter().flat_map(|task| task.spans(timeline.end_ns)) {
        tasks[span.state.value() as usize] += within(span.start_ns, span.end_ns);
    }
    // A completed task has left its lane to another one.
    let live = TaskState::ALL.into_iter().filter(|state| *state != TaskState::Completed);
    let of_tasks = live.map(|s| (s.name(), tasks[s.value() as usize].to_string()));
    let of_workers = WorkerState::ALL.map(|s| (s.name(), workers[s.value() as usize].to_string()));
    json!({
        "tasks": of_tasks.map(|(k, v)| (k.to_owned(), Value::from(v))).collect::<serde_json::Map<_, _>>(),
        "workers": of_workers.into_iter().filter(|(name, _)| *name != "stopped")
            .map(|(k, v)| (k.to_owned(), Value::from(v))).collect::<serde_json::Map<_, _>>(),
    })
}

#[test]
#[ignore = "slow: needs a browser"]
fn controls_do_what_they_say() {
    let folder = folder("controls");
    write(&folder, "blocked.html", &planted::blocked(), &labels("blocked"));
    write(&folder, "random.html", &planted::random(2_000, 3), &labels("random"));
    test("controls", Path::new("browser/controls.test.mjs"));
}

#[test]
#[ignore = "slow: needs a browser"]
fn why_polls_took_long_is_shown() {
    let folder = folder("why");
    write(&folder, "unknown.html", &planted::blocked(), &labels("unknown"));
    let page = fs::read_to_string(folder.join("unknown.html")).unwrap();
    fs::write(folder.join("why.html"), explained(&page, |_| ())).unwrap();
    test("why", Path::new("browser/why.test.mjs"));
}

/// The page of [`planted::blocked`] with the causes that a run on Linux knows of its two long polls, which a
/// test can't put in a timeline. `change` changes the data of the script.
fn explained(page: &str, change: impl FnOnce(&mut Value)) -> String {
    let begin = "<script type=\"application/json\" id=\"statemap-meta\">";
    let (before, rest) = page.split_once(begin).unwrap();
    let (json, after) = rest.split_once("</script>").unwrap();
    let mut meta: Value = serde_json::from_str(json).unwrap();
    let place = planted::BLOCKS.to_string();
    let sections = meta["sections"].as_array_mut().unwrap();
    let tasks = sections.iter_mut().find(|section| section["kind"] == "tasks").unwrap();
    let row = tasks["why"]["polls"][0][0].clone();
    let ms = 1_000_000_u64;
    tasks["why"] = json!({
        "names": ["shop::render_invoice", "src/shop.rs", "async shop::<handle>", "std::thread::sleep"],
        "words": ["blocked in std::thread::sleep (clock_nanosleep)", "clock_nanosleep"],
        "frames": [[2, 2, 9, 0], [0, 2, 21, 0], [3, 0, 0, 2]],
        "calls": [[1, 0], [2, 1], [3, 2]],
        "polls": [
            [row, 10 * ms, [1_200_000, 40 * ms, 6 * ms, 4 * ms, 2, 0], [1, 0],
                [[20 * ms, 2, 3], [30 * ms, 2, 3], [40 * ms, 0, 2]], 10 * ms],
            [row, 99 * ms, [0, 0, ms, 0, 0, 0], null, [], ms],
        ],
        "culprits": [{
            "at": [0], "blockingCause": 0, "frame": 1, "longest": 0, "own": 41_200_000, "place": place, "polls": 1,
        }],
        "unattributed": { "at": [1], "polls": 1, "taken": ms, "unseen": 0, "unseenAt": [], "unseenTime": 0 },
    });
    let verdict = format!(
        "shop::render_invoice at src/shop.rs:21 held the runtime up: it blocked in std::thread::sleep \
         (clock_nanosleep), in 1 poll over 1 ms (of 3). It took 41.2 ms (wall time 51.2 ms), on \
         worker-1 at 0.010 s. The tasks were spawned at {place}."
    );
    let issue = &mut tasks["issues"][0];
    issue["label"] = json!("shop::render_invoice");
    issue["source"] = json!("src/shop.rs:21");
    issue["text"] = json!(verdict);
    issue["total"] = json!(41_200_000);
    issue["lengths"] = json!([41_200_000, 41_200_000, [[50_000_000, 1]]]);
    meta["verdict"] = json!(verdict);
    meta["headline"] = json!(&verdict[..=verdict.find(". It took").unwrap()]);
    change(&mut meta);
    let json =
        meta.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    format!("{before}{begin}{json}</script>{after}")
}

#[test]
#[ignore = "slow: needs a browser"]
fn source_is_shown() {
    let folder = folder("source");
    let hostile = "</script><script>window.hacked=1</script>\u{202e}\t// {{answer}}";
    let lines = (1..=120).map(|line| match line {
        88 => "    tokio::spawn(blocks());\n".to_owned(),
        87 => format!("    {hostile}\n"),
        _ => format!("    // line {line}\n"),
    });
    fs::create_dir_all(folder.join("src")).unwrap();
    let path = folder.join("src/api.rs");
    fs::write(&path, lines.collect::<String>()).unwrap();
    // Older than this program.
    let old = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    let timeline = planted::blocked();
    let picture = Picture::of_timeline(&timeline, &labels("source"));
    let picture = picture.with_source(&SourceFiles::of_this_program(&folder));
    let mut page = Vec::new();
    html::write(&picture, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    // The source of the blamed function: a test can't put a stack in a timeline.
    let with_frame = explained(&page, |meta| {
        let source = meta["source"].as_object_mut().unwrap();
        let all = source["all"].as_array_mut().unwrap();
        all.push(json!([
            21,
            20,
            ["fn render_invoice() {", "    std::thread::sleep(PAUSE);", "}"],
            true
        ]));
        let at = all.len() - 1;
        let section =
            meta["sections"].as_array().unwrap().iter().position(|s| s["kind"] == "tasks");
        meta["source"]["frames"] = json!([[section, 1, at]]);
    });
    fs::write(folder.join("source.html"), with_frame).unwrap();
    write(&folder, "none.html", &timeline, &labels("none"));
    test("source", Path::new("browser/source.test.mjs"));
}

#[test]
#[ignore = "slow: needs a browser"]
fn where_tasks_wait_is_shown() {
    let folder = folder("waits");
    let timeline = waiting();
    write(&folder, "waits.html", &timeline, &labels("waits"));
    write(&folder, "none.html", &planted::blocked(), &labels("none"));
    let report = timeline.report();
    let lines = report.waits.lines.iter().map(|line| {
        json!({ "line": line.at.line, "times": line.times, "total": line.total_ns as u64, "now": line.now })
    });
    let profile = timeline.profile().functions.iter().map(|function| &function.name);
    let expected = json!({
        "lines": lines.collect::<Vec<_>>(),
        "still": report.still_waiting.iter().map(|still| still.tasks).collect::<Vec<_>>(),
        "profile": profile.collect::<Vec<_>>(),
    });
    expect(&folder, "waits.json", &expected);
    write(&folder, "local.html", &in_a_local_set(), &labels("local"));
    let timeline = joined();
    write(&folder, "path.html", &timeline, &labels("path"));
    let path = timeline.report().critical_path.expect("main waits for tasks, and ends");
    let parts = path.parts.iter().map(|part| json!([part.state.name(), part.total_ns]));
    expect(
        &folder,
        "path.json",
        &json!({ "tasks": path.tasks, "parts": parts.collect::<Vec<_>>() }),
    );
    test("waits", Path::new("browser/waits.test.mjs"));
}

/// A root future that has ended, after it had joined tasks that wait for timers and for one another.
fn joined() -> Timeline {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_time();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    collector.block_on(&runtime, async {
        for _ in 0..3 {
            let lock = Arc::new(tokio::sync::Mutex::new(0));
            let mut tasks = tokio::task::JoinSet::new();
            for number in 0..8 {
                let lock = Arc::clone(&lock);
                tasks.spawn(async move {
                    let mut sum = lock.lock().await;
                    *sum += number;
                    tokio::time::sleep(Duration::from_millis(number % 3)).await;
                    tokio::task::yield_now().await;
                });
            }
            while tasks.join_next().await.is_some() {}
        }
    });
    drop(runtime);
    collector.stop();
    collector.snapshot()
}

/// Tasks of a `LocalSet`: one that waits for a second message, and three that wait for their first.
fn in_a_local_set() -> Timeline {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    let set = tokio::task::LocalSet::new();
    collector.block_on(
        &runtime,
        set.run_until(async {
            let mut senders = Vec::new();
            for _ in 0..3 {
                let (sender, mut receiver) = tokio::sync::mpsc::channel::<u32>(1);
                tokio::task::spawn_local(async move { receiver.recv().await });
                senders.push(sender);
            }
            let (sender, mut receiver) = tokio::sync::mpsc::channel::<u32>(1);
            tokio::task::spawn_local(async move { while receiver.recv().await.is_some() {} });
            tokio::task::yield_now().await;
            sender.send(1).await.unwrap();
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            collector.snapshot()
        }),
    )
}

/// Tasks that wait for a lock, for timers, and for nothing.
fn waiting() -> Timeline {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    runtime.block_on(async {
        let till = Arc::new(tokio::sync::Mutex::new(0_u32));
        let guard = till.lock().await;
        for _ in 0..20 {
            tokio_statemap::spawn(checkout(Arc::clone(&till)));
        }
        let _clock = tokio_statemap::task::Builder::new().name("clock").spawn(ticks());
        tokio_statemap::spawn(std::future::pending::<()>());
        // All of them wait before the time is taken.
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(guard);
        tokio::time::sleep(Duration::from_millis(20)).await;
        let _guard = till.lock().await;
        tokio_statemap::spawn(checkout(Arc::clone(&till)));
        tokio::time::sleep(Duration::from_millis(20)).await;
        collector.snapshot()
    })
}

#[tokio_statemap::instrument]
async fn checkout(till: Arc<tokio::sync::Mutex<u32>>) {
    *till.lock().await += 1;
}

async fn ticks() {
    loop {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
#[ignore = "slow: needs a browser"]
fn tasks_are_listed() {
    let folder = folder("tasks");
    write(&folder, "blocked.html", &planted::blocked(), &labels("blocked"));
    write(&folder, "random.html", &planted::random(2_000, 3), &labels("random"));
    let mut workers_only = planted::healthy();
    workers_only.settings.task_hooks = false;
    workers_only.tasks.clear();
    write(&folder, "workers-only.html", &workers_only, &labels("workers only"));
    let (timeline, tree) = planted::many::many(100_000);
    write(&folder, "many.html", &timeline, &labels("many"));
    expect(&folder, "many.json", &json!({ "tasks": timeline.tasks.len(), "tree": tree }));
    test("tasks", Path::new("browser/tasks.test.mjs"));
}

#[test]
#[ignore = "slow: needs a browser"]
fn histograms_are_of_the_selection() {
    let folder = folder("histograms");
    write(&folder, "random.html", &planted::random(2_000, 3), &labels("random"));
    write(&folder, "unknown.html", &planted::blocked(), &labels("unknown"));
    let page = fs::read_to_string(folder.join("unknown.html")).unwrap();
    fs::write(folder.join("why.html"), explained(&page, |_| ())).unwrap();
    test("histograms", Path::new("browser/histograms.test.mjs"));
}

#[test]
#[ignore = "slow: needs a browser"]
fn hostile_names_neither_run_nor_break_anything() {
    let folder = folder("hostile");
    let names = [
        "]]></script><script>window.hacked=1</script>",
        "<!--<script>",
        "\"'`${window.hacked=1}\\",
        "\u{202e}gnp.exe\u{2066}\u{200f}\u{2028}\u{2029}\0\u{1b}[31m",
        "<img src=x onerror=window.hacked=1>{{answer}}{{title}}&amp;&lt;",
        "javascript:window.hacked=1",
    ];
    let long = "long</script>".repeat(800);
    for (n, name) in names.into_iter().chain([long.as_str()]).enumerate() {
        let mut timeline = planted::blocked();
        timeline.runtime = Some(name.to_owned());
        let file: &'static str = Box::leak(name.to_owned().into_boxed_str());
        for task in &mut timeline.tasks {
            let location = task.location.unwrap_or(planted::ANSWERS);
            task.location = Some(SpawnLocation { file, ..location });
        }
        let labels = Labels { title: name.to_owned(), host: Some(name.to_owned()) };
        write(&folder, &format!("{n}.html"), &timeline, &labels);
    }
    expect(&folder, "names.json", &json!(names.len() + 1));
    test("hostile", Path::new("browser/hostile.test.mjs"));
}

#[test]
#[ignore = "slow: needs a browser"]
fn initial_view_with_more_tasks_than_fit() {
    let folder = folder("canvas");
    write(&folder, "crowd.html", &planted::crowd::crowd(60), &labels("crowd"));
    write(&folder, "blocked.html", &planted::blocked(), &labels("blocked"));
    write(&folder, "busy.html", &planted::crowd::busy(), &labels("busy"));
    write(&folder, "pool.html", &waiting_for_threads(), &labels("pool"));
    test("canvas", Path::new("browser/canvas.test.mjs"));
}

/// Runs one `spawn_blocking` task after the other, each of which waits for the only thread.
fn waiting_for_threads() -> Timeline {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).max_blocking_threads(1).enable_time();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    collector.block_on(&runtime, async {
        tests::load::wait_for_workers();
        let sleep = || std::thread::sleep(Duration::from_millis(10));
        let tasks: Vec<_> = (0..20).map(|_| tokio::task::spawn_blocking(sleep)).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    drop(runtime);
    collector.stop();
    collector.snapshot()
}

#[test]
#[ignore = "slow: needs a browser"]
fn several_runtimes_are_separate() {
    let folder = folder("runtimes");
    let runs = [
        ("db", planted::healthy()),
        ("jobs", planted::two_culprits()),
        ("api", planted::blocked()),
    ];
    let mut files = Vec::new();
    for (name, mut timeline) in runs {
        timeline.runtime = Some(name.to_owned());
        // All at the same time.
        timeline.utc_at_zero = Duration::from_secs(1_800_000_000);
        let (mut tasks, mut workers) = (Vec::new(), Vec::new());
        write_tasks(&timeline, &labels("shop"), &mut tasks).unwrap();
        write_workers(&timeline, &labels("shop"), &mut workers).unwrap();
        files.extend([read(&tasks[..]).unwrap(), read(&workers[..]).unwrap()]);
    }
    let file = File::create(folder.join("runtimes.html")).unwrap();
    html::write(&Picture::of_data(&files), file).unwrap();
    test("runtimes", Path::new("browser/runtimes.test.mjs"));
}

#[test]
#[ignore = "slow: needs a browser"]
fn it_can_be_printed() {
    let folder = folder("print");
    write(&folder, "random.html", &planted::random(2_000, 3), &labels("random"));
    test("print", Path::new("browser/print.test.mjs"));
}

#[test]
#[ignore = "slow: needs a browser"]
fn looks() {
    let folder = folder("looks");
    write(&folder, "blocked.html", &planted::blocked(), &labels("blocked"));
    write(&folder, "random.html", &planted::random(2_000, 3), &labels("random"));
    write(&folder, "few.html", &planted::random(12, 3), &labels("few"));
    test("looks", Path::new("browser/looks.test.mjs"));
}
