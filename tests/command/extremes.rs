//! The largest times of the format: sums, shares and pictures are right, or near to it where that is
//! documented. The command and the library are built with overflow checks here.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use tests::browser::node;
use tests::planted;
use tokio_statemap::Event;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::read::read;
use tokio_statemap::{html, svg};

use super::binary::{TASKS, WORKERS, folder, run};
use super::random::Random;

/// Times near overflows: the largest number that a double tells from its neighbours, a signed and an unsigned
/// integer.
const TIMES: [u64; 11] = [
    0,
    1,
    1_000_000,
    (1 << 53) - 1,
    1 << 53,
    (1 << 53) + 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    u64::MAX - 1,
    u64::MAX,
];

const OTHERS: &str = r#"{"start":[18446744073709551615,999999999],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
"#;

/// Returns some of the times, rising.
fn times(random: &mut Random) -> Vec<u64> {
    TIMES.into_iter().filter(|_| random.below(3) > 0).collect()
}

/// Returns data of some entities, and the total time of each in each state.
fn data(random: &mut Random, head: &str, entity: &str, states: &[u64]) -> (String, Vec<u128>) {
    let mut text = head.to_owned();
    let mut totals = vec![0; states.len()];
    let rows: Vec<Vec<u64>> = (0..1 + random.below(12)).map(|_| times(random)).collect();
    let end = rows.iter().filter_map(|row| row.last()).max().copied().unwrap_or_default();
    for (row, times) in rows.iter().enumerate() {
        let first = random.below(states.len() as u64) as usize;
        for (at, &time) in times.iter().enumerate() {
            let state = (first + at) % states.len();
            let until = times.get(at + 1).copied().unwrap_or(end);
            totals[state] += u128::from(until - time);
            let _ = writeln!(
                text,
                "{{\"time\":\"{time}\",\"entity\":\"{entity}{row}\",\"state\":{}}}",
                states[state]
            );
        }
    }
    (text, totals)
}

/// Returns all percentages in a text.
fn percentages(text: &str) -> Vec<f64> {
    let numbers = text.match_indices(" %").filter_map(|(at, _)| {
        let number = text[..at].rsplit(|c: char| c.is_whitespace()).next()?;
        number.parse().ok()
    });
    numbers.collect()
}

#[test]
fn data_is_added_up_and_drawn_as_it_is() {
    let (files, pages) = (folder("extremes"), folder("extremes_pages"));
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (head, entity, states): (_, _, &[u64]) = match seed % 3 {
            0 => (TASKS, "task-", &[1, 2, 4]),
            1 => (WORKERS, "worker-", &[0, 1]),
            _ => (OTHERS, "cpu-", &[0, 1]),
        };
        let (text, totals) = data(&mut random, head, entity, states);
        fs::write(files.join("data.json"), &text).unwrap();
        let report = read(text.as_bytes()).unwrap().report();
        for (&state, total) in states.iter().zip(&totals) {
            assert_eq!(report.states[state as usize].total_ns, *total, "seed {seed}");
        }
        let said = run(&files, "report data.json").stdout();
        let shares = percentages(&said);
        assert!(shares.iter().all(|share| (0.0..=100.0).contains(share)), "seed {seed}: {said}");
        if totals.iter().sum::<u128>() > 0 {
            assert!(!shares.is_empty(), "seed {seed}: {said}");
        }
        run(&files, "render data.json -o out.svg").stdout();
        let svg = fs::read_to_string(files.join("out.svg")).unwrap();
        tests::page::check_svg(svg.as_bytes()).unwrap();
        for nonsense in ["NaN", "inf", "Infinity"] {
            assert!(!svg.split("<script>").next().unwrap().contains(&format!("\"{nonsense}")));
        }
        run(&files, &format!("render data.json -o {seed}.html")).stdout();
        fs::rename(files.join(format!("{seed}.html")), pages.join(format!("{seed}.html"))).unwrap();
        for window in ["--begin 1ms", "--begin 9007199s --duration 9223372036s"] {
            // An empty window is reported.
            let ended = run(&files, &format!("report data.json {window}"));
            assert!(!ended.stderr.contains("panicked"), "seed {seed}: {}", ended.stderr);
            let ended = run(&files, &format!("render data.json -o part.svg {window}"));
            assert!(!ended.stderr.contains("panicked"), "seed {seed}: {}", ended.stderr);
        }
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../page/extremes.test.mjs");
    if let Some(Err(printed)) = node(&here, &pages) {
        panic!("{printed}");
    }
}

#[test]
fn several_files_far_apart_are_drawn() {
    let files = folder("extremes_several");
    for seed in 0..10 {
        let mut random = Random::new(seed + 900);
        let (tasks, _) = data(&mut random, TASKS, "task-", &[1, 2, 4]);
        let (workers, _) = data(&mut random, WORKERS, "worker-", &[0, 1]);
        let (others, _) = data(&mut random, OTHERS, "cpu-", &[0, 1]);
        for (name, text) in [("a", tasks.clone()), ("b", workers), ("c", others), ("d", tasks)] {
            fs::write(files.join(format!("{name}.json")), text).unwrap();
        }
        for args in ["a.json b.json", "a.json c.json", "a.json b.json c.json d.json"] {
            for out in ["out.html", "out.svg"] {
                run(&files, &format!("render {args} -o {out}")).stdout();
            }
            run(&files, &format!("report {args}")).stdout();
        }
    }
}

#[test]
fn a_timeline_of_such_events_is_reported_and_drawn() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut events = Vec::new();
        for thread in 0..4 {
            let worker = Some(thread);
            for (n, &time_ns) in times(&mut random).iter().enumerate() {
                let task_id = u64::from(thread) * 2 + 1;
                events.push(match n % 4 {
                    0 => Event::TaskPollStart {
                        task_id,
                        time_ns,
                        thread,
                        worker,
                        ready_ns: Some(time_ns / 2),
                        woken_by: None,
                    },
                    1 => Event::TaskPollEnd { task_id, time_ns, thread, worker },
                    2 => Event::WorkerPark { time_ns, thread, worker },
                    _ => Event::WorkerUnpark { time_ns, thread, worker },
                });
            }
        }
        let timeline = planted::timeline(&events);
        let report = timeline.report().to_string();
        assert!(percentages(&report).iter().all(|share| (0.0..=100.0).contains(share)), "{report}");
        let data = timeline.to_data();
        let files = [data.tasks_to_bytes().unwrap(), data.workers_to_bytes().unwrap()];
        timeline.write_html(std::io::sink()).unwrap();
        timeline.write_svg(std::io::sink()).unwrap();
        // Nothing can follow the last of all times.
        let Ok(tasks) = read(&files[0][..]) else { continue };
        let Ok(workers) = read(&files[1][..]) else { continue };
        let read = [tasks, workers];
        assert!(percentages(&read[1].report().to_string()).iter().all(|share| *share <= 100.0));
        let picture = Picture::of_data(&read);
        html::write(&picture, std::io::sink()).unwrap();
        svg::write(&picture, std::io::sink()).unwrap();
    }
}
