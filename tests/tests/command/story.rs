//! One recording tells one story: the report, the page and the SVG of a run, those of the data that
//! it leaves, and the command's on that data, name the same culprit and the same numbers, or say
//! that they don't know.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::browser::node;
use tests::planted;
use tokio_statemap::picture::Picture;
use tokio_statemap::report::{DataReport, Report, Verdict};
use tokio_statemap::statemap::read::{Statemap, read};
use tokio_statemap::statemap::{Labels, StatemapData};
use tokio_statemap::timeline::TaskKey;
use tokio_statemap::{Timeline, html, svg};

use super::binary::{folder, run};
use super::page::Page;

mod program;

use program::Program;

/// From when on a poll is long for who has the data alone: it doesn't say what was set.
const LONG_POLL: std::time::Duration = std::time::Duration::from_millis(1);

/// How many ns two outputs may differ in one time: data has changes at one time 1 ns apart.
const SLACK_NS: u64 = 200;

/// All that there is of one run.
struct Told {
    timeline: Timeline,
    /// With the threshold that the data is read with.
    report: Report,
    page: Vec<u8>,
    svg: String,
    tasks: Vec<u8>,
    workers: Vec<u8>,
    files: [Statemap; 2],
}

impl Told {
    fn of(timeline: Timeline) -> Self {
        let labels = Labels { title: "api".to_owned(), host: Some("box".to_owned()) };
        let data = StatemapData::new(timeline.clone(), labels.clone());
        let (tasks, workers) = (data.tasks_to_bytes().unwrap(), data.workers_to_bytes().unwrap());
        let picture = Picture::of_timeline(&timeline, &labels);
        let files = [read(&tasks[..]).unwrap(), read(&workers[..]).unwrap()];
        let (page, svg) = (page_of(&picture), svg_of(&picture));
        drop(picture);
        let mut same = timeline.clone();
        same.long_poll = LONG_POLL;
        Self { report: same.report(), timeline, page, svg, tasks, workers, files }
    }

    /// Whether the data knows how long polls held workers: it doesn't know who gave one away.
    fn is_whole(&self) -> bool {
        self.timeline.handovers.is_empty() && self.timeline.gaps.is_empty()
    }
}

fn page_of(picture: &Picture<'_>) -> Vec<u8> {
    let mut page = Vec::new();
    html::write(picture, &mut page).unwrap();
    page
}

fn svg_of(picture: &Picture<'_>) -> String {
    let mut drawn = Vec::new();
    svg::write(picture, &mut drawn).unwrap();
    String::from_utf8(drawn).unwrap()
}

fn is_near(a: u64, b: u64) -> bool {
    a.abs_diff(b) <= SLACK_NS
}

/// The text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0)
}

/// On one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a verdict says of the location that it names.
#[derive(Debug, PartialEq)]
struct Culprit {
    place: String,
    /// `14 of its 900 polls`.
    polls: String,
    /// `; 37 other tasks were ready meanwhile`.
    ready: String,
    others: Option<String>,
}

/// The culprit of a run, or of data; `None` if it names none.
fn culprit(verdict: &str) -> Option<Culprit> {
    let verdict = verdict.split(" Of ").next().unwrap();
    let (place, rest) = match verdict.split_once(" held the runtime up: ") {
        Some(parts) => parts,
        None => verdict.split_once(": ").filter(|(_, rest)| rest.contains(" took over "))?,
    };
    let polls = rest.split(" ran over ").next()?.split(" took over ").next()?;
    let ready = ["(ready times", "no other task", "one other task"]
        .into_iter()
        .find(|ready| rest.contains(ready))
        .map(str::to_owned)
        .or_else(|| Some(between(rest, "; ", " other tasks were ready")?.to_owned()))?;
    let others = ["Another location had", "2 other locations", "3 other locations", "4 other"];
    Some(Culprit {
        place: place.to_owned(),
        polls: polls.to_owned(),
        ready,
        others: others.into_iter().find(|it| rest.contains(it)).map(str::to_owned),
    })
}

/// The sentence that ends so, if there is one.
fn sentence<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let at = text.find(end)?;
    let start = text[..at].rfind(". ").map_or(0, |at| at + 2);
    Some(text[start..at].trim())
}

/// `report` of the run and of its data.
fn reports_agree(told: &Told) {
    let (run, timeline) = (&told.report, &told.timeline);
    let [tasks, workers] = [told.files[0].report(), told.files[1].report()];
    let text = flat(&tasks.to_string());
    assert_eq!(tasks.entities, timeline.tasks.len() as u64);
    let length = tasks.length_ns;
    assert!(tasks.entities == 0 || is_near(length, timeline.length_ns()), "{length}");
    locations_agree(told, &tasks);
    for (longest, span) in run.longest_polls.iter().zip(&tasks.longest).filter(|_| told.is_whole())
    {
        assert!(
            is_near(longest.start_ns - timeline.begin_ns, span.start_ns),
            "{longest:?} {span:?}"
        );
        assert!(is_near(longest.length_ns, span.length_ns), "{longest:?} {span:?}");
        assert_eq!(timeline.task_name(longest.task), span.entity);
        let line = tasks.to_string();
        let line = line.lines().find(|line| line.contains(&format!(" {}  ", span.entity)));
        assert!(line.is_some() || span.entity.len() > 20, "{tasks}");
        let is_least = longest.is_running || longest.is_cut;
        assert_eq!(is_least, span.is_open || span.is_cut, "{longest:?} {span:?}");
    }
    // What still was there at the end.
    let run_text = flat(&run.to_string());
    for end in ["still lived at the end.", "still ran at the end."] {
        assert_eq!(sentence(&run_text, end), sentence(&text, end), "{end}\n{run}\n{tasks}");
    }
    if run.task_hooks && run.trace_target.tracks_tasks() && tasks.entities > 0 {
        let known = format!("{} task{}", run.tasks, if run.tasks == 1 { "" } else { "s" });
        assert!(
            text.contains(&format!(": Tokio tasks{}: {known}", remarks(told))),
            "{run}\n{tasks}"
        );
    }
    verdicts_agree(told, &tasks);
    workers_agree(told, &workers);
}

fn remarks(told: &Told) -> String {
    let title = &told.files[0].metadata.title;
    title.split_once(": Tokio tasks").unwrap().1.to_owned()
}

fn locations_agree(told: &Told, tasks: &DataReport) {
    let run = &told.report;
    assert_eq!(run.locations.len(), tasks.groups.len());
    let slack = 2 * tasks.changes;
    for row in &run.locations {
        let group = tasks.groups.iter().find(|group| group.label == row.place.to_string());
        let group = group.unwrap_or_else(|| panic!("{} is missing", row.place));
        assert_eq!((row.tasks, row.polls), (group.entities, group.spans), "{}", row.place);
        if !told.is_whole() {
            continue;
        }
        let total = u128::from(row.held_ns + row.off_worker_ns);
        assert!(total.abs_diff(group.total_ns) <= u128::from(slack), "{row:?} {group:?}");
        assert!(is_near(row.longest_ns, group.longest_ns), "{row:?} {group:?}");
        if !row.place.is_root {
            let long = (row.long_polls, group.long_spans);
            assert_eq!(long.0, long.1, "{row:?} {group:?}");
            let of_run = row.longest_ready_ns;
            let of_data = group.longest_ready_ns.filter(|_| run.schedule_latency);
            assert_eq!(of_run.is_some(), of_data.is_some(), "{row:?} {group:?}");
            let (of_run, of_data) = (of_run.unwrap_or_default(), of_data.unwrap_or_default());
            assert!(is_near(of_run, of_data), "{row:?} {group:?}");
        }
    }
}

fn verdicts_agree(told: &Told, tasks: &DataReport) {
    let run = &told.report;
    let of_data = tasks.verdict.clone().expect("a verdict on our own data");
    assert!(!of_data.contains("held a worker"), "data doesn't know that: {of_data}");
    match &run.verdict {
        Verdict::NothingRecorded => assert_eq!(of_data, "No task was recorded."),
        Verdict::TasksUnknown { .. } => {
            assert!(of_data.starts_with("Which task held the runtime isn't known: "), "{of_data}");
        }
        _ if tasks.entities == 0 => assert_eq!(of_data, "No task was recorded."),
        _ if !told.is_whole() => {}
        Verdict::LongPolls { row, .. } if row.place.is_root => {
            // Whether it holds a worker, data doesn't know.
            assert!(of_data.contains(&format!("Of {}, which holds", row.place)), "{of_data}");
        }
        Verdict::LongPolls { longest, other_places, .. } => {
            let of_run = run.verdict.to_string();
            let (mut a, b) = (culprit(&of_run).unwrap(), culprit(&of_data).unwrap());
            let roots = run.locations.iter().filter(|row| row.place.is_root && row.long_polls > 0);
            if roots.count() > 0 {
                // It is told for itself.
                a.others.clone_from(&b.others);
                assert!(*other_places > 0);
            }
            assert_eq!(a, b);
            let name = told.timeline.task_name(longest.task);
            assert!(of_data.contains(&format!(", of {name} at ")), "{of_run}\n{of_data}");
            assert_eq!(of_run.contains("still ran"), of_data.contains("still ran at the end, "));
            assert_eq!(of_run.contains("took at least"), of_data.contains("took at least"));
        }
        Verdict::Healthy { is_partial, .. } => {
            assert!(of_data.starts_with("No poll of a spawned task"), "{of_data}");
            assert_eq!(*is_partial, of_data.contains("in what was recorded"), "{of_data}");
        }
        _ => assert!(of_data.starts_with("No poll of a spawned task"), "{of_data}"),
    }
}

fn workers_agree(told: &Told, workers: &DataReport) {
    let (run, timeline) = (&told.report, &told.timeline);
    let verdict = workers.verdict.clone().expect("a verdict on our own data");
    assert_eq!(workers.groups.len(), run.workers.len());
    if !timeline.gaps.is_empty() {
        assert!(!verdict.contains('%'), "nobody knows, where it was stopped: {verdict}");
        return;
    }
    let mut busy = [0_u64; 2];
    for share in &run.workers {
        let name = timeline.worker_name(share.index);
        let group = workers.groups.iter().find(|group| group.label == name).unwrap();
        let slack = u128::from(workers.changes);
        assert!(group.total_ns.abs_diff(share.running_ns.into()) <= slack, "{share:?} {group:?}");
        busy = [busy[0] + share.running_ns, busy[1] + share.time_ns()];
    }
    if busy[1] > 0 {
        let percent = busy[0] as f64 / busy[1] as f64 * 100.0;
        let said = between(&verdict, "busy ", " %").unwrap_or_else(|| panic!("{verdict}"));
        assert!((said.parse::<f64>().unwrap() - percent).abs() < 0.11, "{verdict}: {percent}");
    }
}

/// The page and the SVG of a run and of its data, and the report of each. What a script finds in
/// the pages is looked at apart.
fn pictures_agree(told: &Told, of_data: &Picture<'_>) -> (Vec<u8>, String) {
    let verdict = told.timeline.report().verdict.to_string();
    let page = Page::read(&told.page);
    assert_eq!(page.meta["verdict"], *verdict);
    let (page_of_data, svg_of_data) = (page_of(of_data), svg_of(of_data));
    let data = Page::read(&page_of_data);
    let reports: Vec<String> =
        told.files.iter().map(|file| file.report().verdict.unwrap()).collect();
    assert_eq!(data.meta["verdict"], reports.join(" "));
    for (svg, verdict) in [(&told.svg, &verdict), (&svg_of_data, &reports.join(" "))] {
        let about = between(svg, "<desc id=\"about\">", "</desc>").unwrap();
        let verdict = verdict.replace('&', "&amp;").replace('\'', "&#39;");
        assert!(about.starts_with(&*verdict), "{about}\n{verdict}");
    }
    let end = |note: &&str| note.ends_with(" at the end.");
    let at_end = |page: &Page| -> Vec<String> {
        page.notes().into_iter().filter(end).map(str::to_owned).collect()
    };
    assert_eq!(at_end(&page), at_end(&data));
    assert!(
        data.notes().contains(&"Drawn from data: which worker ran a poll isn't known.")
            || data.sections.iter().all(|s| s.kind != "tasks")
    );
    let worst = |svg: &str| -> Option<String> {
        let text = between(svg, "longest poll: ", "<")?;
        // `29.0 ms on worker-1, task-93, at 1.21 s`, the worker only where it is known.
        let mut parts = text.split(", ");
        let length = parts.next()?.split(" on ").next()?;
        Some(format!("{}: {length}", parts.next()?))
    };
    if told.timeline.long_poll == LONG_POLL && told.is_whole() {
        let (run, data) = (worst(&told.svg), worst(&svg_of_data));
        let is_root = matches!(
            told.report.verdict,
            Verdict::LongPolls { row, .. } if row.place.is_root
        ) || run.as_deref().is_some_and(|worst| worst.contains("main:"));
        assert!(run == data || is_root, "{run:?} {data:?}");
    }
    // Neither marks what the report does not call long.
    let says_long = matches!(told.timeline.report().verdict, Verdict::LongPolls { .. });
    assert_eq!(worst(&told.svg).is_some(), says_long, "{verdict}");
    (page_of_data, svg_of_data)
}

/// What the command makes of the data is what the library makes of it.
fn command_agrees(told: &Told, folder: &Path, page: &[u8], svg: &str) {
    fs::write(folder.join("tasks.json"), &told.tasks).unwrap();
    fs::write(folder.join("workers.json"), &told.workers).unwrap();
    let said = run(folder, "report tasks.json workers.json").stdout();
    let [tasks, workers] = [told.files[0].report(), told.files[1].report()];
    assert_eq!(said, format!("==> tasks.json <==\n{tasks}\n\n==> workers.json <==\n{workers}\n"));
    run(folder, "render tasks.json workers.json -o out.html").stdout();
    assert!(fs::read(folder.join("out.html")).unwrap() == page);
    run(folder, "render tasks.json workers.json -o out.svg").stdout();
    assert!(fs::read_to_string(folder.join("out.svg")).unwrap() == svg);
}

/// What the page's script is to find: the longest of the polls that held workers, by the
/// timeline; `null` if none was long.
fn expected(told: &Told) -> Value {
    let timeline = &told.timeline;
    let long_ns = timeline.long_poll.as_nanos() as u64;
    let polls = timeline.tasks.iter().flat_map(|task| task.polls.iter().map(move |p| (task, p)));
    let on_workers = polls.filter(|(_, poll)| poll.worker().is_some());
    // By length; of equals the earliest; and all that share it.
    let mut longest: Vec<_> = on_workers
        .map(|(task, poll)| (Reverse(timeline.held_ns(poll)), poll.start_ns(), task))
        .filter(|(held, ..)| held.0 > long_ns)
        .collect();
    longest.sort_by_key(|&(held, start, task)| (held, start, task.key));
    let first = longest.first().map(|&(held, start, _)| (held, start));
    longest.retain(|&(held, start, _)| Some((held, start)) == first);
    let names: Vec<_> = longest.iter().map(|(.., task)| timeline.task_name(task.key)).collect();
    let culprit = match timeline.report().verdict {
        Verdict::LongPolls { row, .. } => Some(row.place.to_string()),
        _ => None,
    };
    json!({
        "worst": longest.first().map(|&(held, start, task)| json!({
            "names": names,
            "start": start - timeline.begin_ns,
            "held": held.0,
            "isRoot": matches!(task.key, TaskKey::Root(_)),
        })),
        "verdict": timeline.report().verdict.to_string(),
        "ofData": told.files.iter().map(|file| file.report().verdict.unwrap())
            .collect::<Vec<_>>().join(" "),
        "culprit": culprit,
        "isComparable": told.is_whole() && timeline.long_poll == LONG_POLL,
        "slack": SLACK_NS,
    })
}

/// Tells the story of a timeline in all ways there are; by the command where there is a folder for it.
fn tell(name: &str, timeline: Timeline, folder: Option<&Path>, pages: &Path) {
    let told = Told::of(timeline);
    reports_agree(&told);
    let of_data = Picture::of_data(&told.files);
    let (page, svg) = pictures_agree(&told, &of_data);
    if let Some(folder) = folder {
        command_agrees(&told, folder, &page, &svg);
    }
    fs::write(pages.join(format!("{name}.run.html")), &told.page).unwrap();
    fs::write(pages.join(format!("{name}.data.html")), &page).unwrap();
    fs::write(pages.join(format!("{name}.json")), expected(&told).to_string()).unwrap();
}

/// What the pages' own script says of them.
fn scripts_agree(pages: &Path) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/story.test.mjs");
    if let Some(Err(printed)) = node(&here, pages) {
        panic!("{printed}");
    }
}

/// Says which program it was that failed.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the program of seed {} failed", self.0);
        }
    }
}

#[test]
fn of_200_random_programs() {
    let (files, pages) = (folder("story"), folder("story_pages"));
    let (mut long, mut handed, mut lost, mut live, mut gaps) = (0, 0, 0, 0, 0);
    for seed in 0..200 {
        let _seed = Seed(seed);
        let timeline = Program::random(seed).run();
        let report = timeline.report();
        long += u32::from(matches!(report.verdict, Verdict::LongPolls { .. }));
        handed += u32::from(!timeline.handovers.is_empty());
        lost += u32::from(report.lost.total() > 0);
        live += u32::from(report.live_tasks > 0);
        gaps += u32::from(report.gaps > 0);
        // The command takes longer than all else.
        let files = (seed % 4 == 0).then_some(&*files);
        tell(&seed.to_string(), timeline, files, &pages);
    }
    // Otherwise this tests little.
    let seen = [long, handed, lost, live, gaps];
    assert!(long > 40 && seen.into_iter().all(|n| n > 0), "{seen:?}");
    scripts_agree(&pages);
}

#[test]
fn of_planted_programs() {
    let (files, pages) = (folder("story_planted"), folder("story_planted_pages"));
    let random =
        (0..20).map(|seed| (format!("random-{seed}"), planted::random(1 + seed * 3, seed)));
    let planted = [
        ("blocked", planted::blocked()),
        ("two_culprits", planted::two_culprits()),
        ("healthy", planted::healthy()),
        ("ties", planted::ties()),
        ("nearly", planted::nearly()),
        ("nothing", planted::timeline(&[])),
    ];
    let planted = planted.into_iter().map(|(name, timeline)| (name.to_owned(), timeline));
    for (name, timeline) in planted.chain(random) {
        // To be seen if it fails.
        println!("{name}");
        tell(&name, timeline, Some(&files), &pages);
    }
    scripts_agree(&pages);
}
