//! One recording tells one story: the report, the page and the SVG of a run equal, word for word, those made
//! of its data, by the library and by the command. If a file is missing, they say that they don't know.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::browser::node;
use tests::first_issue::long_polls;
use tests::planted;
use tokio_statemap::picture::Picture;
use tokio_statemap::report::{Issue, Report, Verdict};
use tokio_statemap::statemap::check::check_ours;
use tokio_statemap::statemap::read::{Statemap, read};
use tokio_statemap::statemap::{Labels, Recording, StatemapData, cut, recordings};
use tokio_statemap::{Timeline, html, svg};

use super::binary::{folder, run};
use super::page::Page;
use super::random::Random;

mod program;

use program::Program;

/// All outputs of one run.
struct Told {
    timeline: Timeline,
    report: Report,
    page: Vec<u8>,
    svg: String,
    tasks: Vec<u8>,
    workers: Vec<u8>,
    files: [Statemap; 2],
}

impl Told {
    fn from_timeline(timeline: Timeline) -> Self {
        let labels = Labels { title: "api".to_owned(), host: Some("box".to_owned()) };
        let data = StatemapData::new(timeline.clone(), labels.clone());
        let (tasks, workers) = (data.tasks_to_bytes().unwrap(), data.workers_to_bytes().unwrap());
        let picture = Picture::of_timeline(&timeline, &labels);
        let files = [&tasks, &workers].map(|bytes| {
            check_ours(&bytes[..]).unwrap();
            read(&bytes[..]).unwrap()
        });
        let (page, svg) = (page_of(&picture), svg_of(&picture));
        drop(picture);
        Self { report: timeline.report(), timeline, page, svg, tasks, workers, files }
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

/// Returns the text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0)
}

/// Returns the run of these files.
fn run_of(files: &[Statemap]) -> Timeline {
    let mut recordings = recordings(files);
    assert_eq!(recordings.len(), 1);
    match recordings.remove(0) {
        Recording::Run { timeline, labels, files: of, .. } => {
            assert_eq!((&*labels.title, labels.host.as_deref()), ("api", Some("box")));
            assert_eq!(of.len(), files.len());
            *timeline
        }
        _ => panic!("these are a run's"),
    }
}

/// Compares the reports of the run and of its data.
fn reports_agree(told: &Told) {
    let both = run_of(&told.files);
    assert_eq!(both.report(), told.report);
    assert_eq!(both.report().to_string(), told.report.to_string());
    let swapped = [told.files[1].clone(), told.files[0].clone()];
    assert_eq!(run_of(&swapped).report(), told.report);
    assert_eq!(both.gaps, told.timeline.gaps);
    assert_eq!(both.handovers, told.timeline.handovers);
    assert_eq!(both.pool.threads, told.timeline.pool.threads);
    assert_eq!(both.workers, told.timeline.workers);
    assert_eq!(both.machine, told.timeline.machine);
    assert_eq!(both.long_polls.sampling, told.timeline.long_polls.sampling);
    for (a, b) in both.tasks.iter().zip(&told.timeline.tasks) {
        assert_eq!((a.key, a.location, a.parent), (b.key, b.location, b.parent));
        assert!(a.transitions().eq(b.transitions()), "{a:?}\n{b:?}");
        assert_eq!(a.polls.len(), b.polls.len());
        for (a, b) in a.polls.iter().zip(&b.polls) {
            assert_eq!((a.worker(), a.thread()), (b.worker(), b.thread()));
            assert_eq!(both.cause(a), told.timeline.cause(b));
            assert_eq!(both.samples(a), told.timeline.samples(b));
            let [a, b] = [a, b].map(|p| (p.is_cut_left(), p.is_cut_right(), p.end_ns()));
            assert_eq!(a, b);
        }
    }
    // A missing file is reported, and the rest is the same.
    let [tasks, workers] = [0, 1].map(|file| run_of(&told.files[file..=file]).report());
    assert_eq!(tasks.locations, told.report.locations);
    assert_eq!(tasks.longest_polls, told.report.longest_polls);
    assert!(tasks.workers.is_empty());
    if long_polls(&told.report).is_some() {
        assert_eq!(tasks.issues().first(), told.report.issues().first());
    }
    let is_said = |report: &Report, text: &str| report.to_string().contains(text);
    let missing = "The workers' file was not read: their shares aren't known.";
    let target = told.timeline.settings.trace_target;
    assert_eq!(is_said(&tasks, missing), target.tracks_workers(), "{tasks}");
    assert_eq!(workers.workers, told.report.workers);
    assert!(workers.locations.is_empty() && workers.longest_polls.is_empty());
    let is_missing = is_said(&workers, "Workers only: the tasks' file was not read.");
    assert_eq!(is_missing, target.tracks_tasks() && told.timeline.settings.task_hooks, "{workers}");
    let is_nothing = matches!(workers.verdict, Verdict::NothingRecorded);
    let is_unknown =
        workers.verdict.to_string().starts_with("No task can be named that held the runtime up");
    assert!(is_nothing || is_unknown, "{workers}");
}

/// Compares the page and the SVG of a run and of its data. `scripts_agree` compares what a script finds in
/// the pages.
fn pictures_agree(told: &Told) {
    let verdict = told.report.verdict.to_string();
    let page = Page::read(&told.page);
    assert_eq!(page.meta["verdict"], *verdict);
    let of_data = Picture::of_data(&told.files);
    let (page_of_data, svg_of_data) = (page_of(&of_data), svg_of(&of_data));
    assert_eq!(Page::read(&page_of_data).meta, page.meta);
    assert!(page_of_data == told.page);
    assert!(svg_of_data == told.svg);
    let about = between(&told.svg, "<desc id=\"about\">", "</desc>").unwrap();
    let escaped = verdict.replace('&', "&amp;").replace('\'', "&#39;");
    assert!(about.starts_with(&*escaped), "{about}\n{verdict}");
    // The SVG points at the subject of the first issue, as the page knows it, and at no other poll if that
    // isn't drawn.
    assert_eq!(told.svg.contains("<g id=\"worst\">"), points_at_something(&page), "{verdict}");
    if let Some(Issue::LongPolls(polls)) = told.report.issues().first() {
        assert_eq!(points_at_something(&page), polls.culprit.is_some(), "{verdict}");
    }
    for file in 0..2 {
        let alone = Page::read(&page_of(&Picture::of_data(&told.files[file..=file])));
        let said = run_of(&told.files[file..=file]).report().verdict.to_string();
        assert_eq!(alone.meta["verdict"], *said);
        let sections = page.sections.iter().filter(|s| (s.kind == "tasks") == (file == 0));
        let kinds: Vec<_> = sections.map(|section| (&section.kind, section.rows.len())).collect();
        let found: Vec<_> = alone.sections.iter().map(|s| (&s.kind, s.rows.len())).collect();
        assert_eq!(found, kinds);
    }
}

/// Checks that a page holds the data of the files, from which all else is made.
fn the_page_holds_the_files(told: &Told) {
    let read = html::read(&told.page[..]).unwrap();
    assert_eq!(read.len(), 2);
    for (of_page, of_file) in read.iter().zip(&told.files) {
        assert_eq!(of_page.metadata, of_file.metadata);
        assert_eq!(of_page.tags, of_file.tags);
        for (a, b) in of_page.entities.iter().zip(&of_file.entities) {
            assert_eq!(a, b);
        }
        assert!(of_page == of_file);
    }
    assert_eq!(run_of(&read).report().to_string(), told.report.to_string());
}

/// Checks that the command makes the run's own outputs of the data.
fn command_agrees(told: &Told, folder: &Path) {
    fs::write(folder.join("tasks.json"), &told.tasks).unwrap();
    fs::write(folder.join("workers.json"), &told.workers).unwrap();
    let said = run(folder, "report tasks.json workers.json").stdout();
    assert_eq!(said, format!("{}\n", told.report));
    for (index, file) in ["tasks.json", "workers.json"].into_iter().enumerate() {
        let alone = run_of(&told.files[index..=index]).report();
        assert_eq!(run(folder, &format!("report {file}")).stdout(), format!("{alone}\n"));
    }
    run(folder, "render workers.json tasks.json -o out.html").stdout();
    assert!(fs::read(folder.join("out.html")).unwrap() == told.page);
    run(folder, "render tasks.json workers.json -o out.svg").stdout();
    assert!(fs::read_to_string(folder.join("out.svg")).unwrap() == told.svg);
    run(folder, "check --ours tasks.json workers.json").stdout();
    fs::write(folder.join("page.html"), &told.page).unwrap();
    let said = run(folder, "report page.html").stdout();
    assert_eq!(said, format!("{}\n", told.report));
    run(folder, "render page.html -o again.html").stdout();
    assert!(fs::read(folder.join("again.html")).unwrap() == told.page);
    run(folder, "render page.html -o again.svg").stdout();
    assert!(fs::read_to_string(folder.join("again.svg")).unwrap() == told.svg);
    run(folder, "check --ours page.html").stdout();
}

/// Checks that a window of a run has the content of that time, including workers.
fn a_part_agrees(told: &Told, random: &mut Random) {
    let whole = &told.timeline;
    let (from, length) = (random.below(whole.length_ns() + 2), random.below(whole.length_ns() + 2));
    let mut files = told.files.clone();
    cut(&mut files, from, Some(length));
    let part = run_of(&files);
    let (begin_ns, end_ns) = (part.begin_ns, part.end_ns);
    assert_eq!(begin_ns, (whole.begin_ns + from).min(whole.end_ns));
    assert_eq!(end_ns, (begin_ns + length).min(whole.end_ns));
    assert!(
        part.report().to_string().contains("This is a part of what was recorded: ")
            || end_ns == whole.end_ns
    );
    assert!(part.gaps.iter().all(|gap| whole.gaps.iter().any(|g| g.0 <= gap.0 && gap.1 <= g.1)));
    for task in &part.tasks {
        let of_whole = whole.tasks.iter().find(|other| other.key == task.key).unwrap();
        assert_eq!(task.location, of_whole.location);
        for poll in &task.polls {
            let polls = of_whole.polls.iter();
            let same = polls.rev().find(|other| other.start_ns() <= poll.start_ns()).unwrap();
            assert_eq!((poll.worker(), poll.thread()), (same.worker(), same.thread()));
            let is_cut = same.is_cut_left() || same.start_ns() + 1 < poll.start_ns();
            assert!(
                poll.is_cut_left() == is_cut || poll.start_ns() == begin_ns,
                "{poll:?} {same:?}"
            );
            let held_until = |timeline: &Timeline, poll| poll_end(timeline, poll).min(end_ns);
            let [a, b] = [held_until(&part, poll), held_until(whole, same).max(begin_ns)];
            assert!(a.abs_diff(b) <= 2, "{a} {b} {poll:?} {same:?}");
            let cause = part.cause(poll);
            assert!(cause.is_none() || cause == whole.cause(same), "{poll:?} {same:?}");
        }
    }
    let picture = Picture::of_data(&files);
    let drawn = page_of(&picture);
    let page = Page::read(&drawn);
    assert_eq!(page.meta["verdict"], *part.report().verdict.to_string());
    svg_of(&picture);
    // The page of the part agrees, too.
    let read = html::read(&drawn[..]).unwrap();
    assert_eq!(run_of(&read).report().to_string(), part.report().to_string());
    assert!(page_of(&Picture::of_data(&read)) == drawn);
}

/// Returns the time until which a poll held its worker.
fn poll_end(timeline: &Timeline, poll: &tokio_statemap::timeline::Poll) -> u64 {
    poll.start_ns() + timeline.held_ns(poll)
}

/// Returns `true` if a poll or a wait of the first issue is drawn.
fn points_at_something(page: &Page) -> bool {
    let sections = page.meta["sections"].as_array().unwrap().iter();
    let mut judged = sections.filter_map(|section| section["issues"].as_array());
    let first = judged.next().and_then(|issues| issues.first());
    assert!(judged.next().is_none(), "of one run");
    let is_drawn = |first: &Value| {
        !first["culprit"].is_null() || !first["spots"].as_array().unwrap().is_empty()
    };
    first.is_some_and(is_drawn)
}

/// Returns what the page's script is expected to find: the longest poll of the first culprit, and `null` if there is none.
fn expected(told: &Told) -> Value {
    let timeline = &told.timeline;
    let report = timeline.report();
    let verdict = &report.verdict;
    // Busy workers may come before them.
    let culprit = report.issues().iter().find_map(|issue| match issue {
        Issue::LongPolls(polls) => polls.culprit.as_ref().or_else(|| report.blame.culprits.first()),
        _ => None,
    });
    // A page with sums begins with the run.
    let has_sums = !Page::read(&told.page).meta["sums"].is_null();
    let left_ns = if has_sums { 0 } else { timeline.begin_ns };
    json!({
        "worst": culprit.map(|culprit| json!({
            "row": timeline.task_name(culprit.longest.task),
            "start": culprit.longest.start_ns - left_ns,
            "held": culprit.longest.length_ns,
            "own": culprit.longest.own_ns,
        })),
        "points": points_at_something(&Page::read(&told.page)),
        "verdict": verdict.to_string(),
        "culprit": culprit.map(|culprit| culprit.place.to_string()),
        "polls": culprit.map(|culprit| culprit.polls),
    })
}

/// Compares all outputs of a timeline, and those of the command if it has a folder.
fn tell(name: &str, timeline: Timeline, folder: Option<&Path>, pages: &Path) {
    let told = Told::from_timeline(timeline);
    reports_agree(&told);
    pictures_agree(&told);
    the_page_holds_the_files(&told);
    if let Some(folder) = folder {
        command_agrees(&told, folder);
    }
    let mut random = Random::new(name.len() as u64 + told.tasks.len() as u64);
    (0..4).for_each(|_| a_part_agrees(&told, &mut random));
    fs::write(pages.join(format!("{name}.run.html")), &told.page).unwrap();
    fs::write(pages.join(format!("{name}.json")), expected(&told).to_string()).unwrap();
}

/// Compares what the pages' own scripts find.
fn scripts_agree(pages: &Path) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../page/story.test.mjs");
    if let Some(Err(printed)) = node(&here, pages) {
        panic!("{printed}");
    }
}

/// Prints the program that failed.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the program of seed {} failed", self.0);
        }
    }
}

#[test]
fn of_random_programs() {
    let (files, pages) = (folder("story"), folder("story_pages"));
    let (mut long, mut handed, mut lost, mut live, mut gaps) = (0, 0, 0, 0, 0);
    // Otherwise this would test little.
    let is_enough = |[long, others @ ..]: [u32; 5]| long > 12 && others.into_iter().all(|n| n > 0);
    for seed in 0..200 {
        // On some machines few of these programs hand a worker over, so more of them are run.
        if seed >= 60 && is_enough([long, handed, lost, live, gaps]) {
            break;
        }
        let _seed = Seed(seed);
        let timeline = Program::random(seed).run();
        let report = timeline.report();
        long += u32::from(long_polls(&report).is_some());
        handed += u32::from(!timeline.handovers.is_empty());
        lost += u32::from(report.recording.lost.total() > 0);
        live += u32::from(report.counts.live_tasks > 0);
        gaps += u32::from(report.recording.gaps > 0);
        // The command takes longer than all else.
        let files = (seed % 4 == 0).then_some(&*files);
        tell(&seed.to_string(), timeline, files, &pages);
    }
    let seen = [long, handed, lost, live, gaps];
    assert!(is_enough(seen), "{seen:?}");
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
        ("partly_taken", planted::verdicts::partly_taken()),
    ];
    let planted = planted.into_iter().map(|(name, timeline)| (name.to_owned(), timeline));
    for (name, timeline) in planted.chain(random) {
        // The name is shown if the test fails.
        println!("{name}");
        tell(&name, timeline, Some(&files), &pages);
    }
    scripts_agree(&pages);
}
