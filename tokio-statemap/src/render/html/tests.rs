//! The page contains the data of the picture, and no data can become anything else.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::page;
use super::write;
use crate::analysis::picture::tests::timeline;
use crate::analysis::picture::why_tests::explained;
use crate::analysis::picture::{Picture, Role, SourceFiles, Waker};
use crate::statemap::Labels;
use crate::trace::timeline::Timeline;

fn labels(title: &str) -> Labels {
    Labels { title: title.to_owned(), host: Some("host".to_owned()) }
}

fn page_of(timeline: &Timeline, labels: &Labels) -> String {
    let mut page = Vec::new();
    write(&Picture::of_timeline(timeline, labels), &mut page).expect("memory doesn't fail");
    String::from_utf8(page).expect("a page is UTF-8")
}

/// Returns the text between `begin` and the next `end`.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let from = text.find(begin).expect("the beginning") + begin.len();
    let length = text[from..].find(end).expect("the end");
    &text[from..from + length]
}

fn json(page: &str, id: &str) -> Value {
    let begin = format!("<script type=\"application/json\" id=\"{id}\">");
    serde_json::from_str(between(page, &begin, "</script>")).expect("JSON")
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first().expect("another byte");
            self.0 = rest;
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn text(&mut self) -> String {
        let length = self.varint() as usize;
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8(text.to_vec()).expect("UTF-8")
    }
}

/// A time, a state, the worker, how long that was held, and who woke.
type Change = (u64, u64, Option<u64>, Option<u64>, u64);

/// A row of the page.
#[derive(Debug, Default, PartialEq)]
struct Row {
    name: String,
    parent: Option<u64>,
    is_root: bool,
    begins_lane: bool,
    /// Time, state, worker, and the time for which it was held.
    transitions: Vec<Change>,
}

/// Reads the rows of each section by the description of the format, without code of the writer.
fn rows(page: &str) -> Vec<Vec<Row>> {
    let (meta, tail) = (json(page, "statemap-meta"), json(page, "statemap-tail"));
    let begin = "<script type=\"text/plain\" class=\"statemap-chunk\">";
    let chunks: Vec<&str> = page
        .split(begin)
        .skip(1)
        .map(|rest| rest.split("</script>").next().expect("text"))
        .collect();
    assert_eq!(tail["chunks"], chunks.len());
    let mut sections: Vec<Vec<Row>> =
        meta["sections"].as_array().expect("sections").iter().map(|_| Vec::new()).collect();
    for chunk in chunks {
        let bytes = decompress_to_vec(&STANDARD.decode(chunk).expect("base64")).expect("deflate");
        let mut head = Bytes(&bytes);
        let section = head.varint() as usize;
        let pieces = head.varint();
        let lengths: Vec<usize> = (0..6).map(|_| head.varint() as usize).collect();
        let mut rest = head.0;
        let mut columns = lengths.into_iter().map(|length| {
            let (column, after) = rest.split_at(length);
            rest = after;
            Bytes(column)
        });
        let mut column = || columns.next().expect("six columns");
        let (mut of_rows, mut times, mut states) = (column(), column(), column());
        let (mut workers, tags, mut wakers) = (column(), column(), column());
        assert!(tags.0.is_empty());
        let rows = &mut sections[section];
        let meta = &meta["sections"][section];
        for _ in 0..pieces {
            let (flags, count) = (of_rows.varint(), of_rows.varint());
            if flags & 1 == 1 {
                let name = match of_rows.varint() {
                    0 => of_rows.text(),
                    n => {
                        let prefix = &tail["sections"][section]["prefixes"][n as usize - 1];
                        format!("{}{}", prefix.as_str().expect("a prefix"), of_rows.varint())
                    }
                };
                rows.push(Row {
                    name,
                    parent: of_rows.varint().checked_sub(1),
                    is_root: flags & 8 != 0,
                    begins_lane: flags & 2 != 0,
                    transitions: Vec::new(),
                });
            }
            let row = rows.last_mut().expect("a row");
            let mut now = 0;
            for _ in 0..count {
                now += times.varint();
                let state = states.varint();
                let (mut worker, mut held, mut waker) = (None, None, 0);
                let is_poll = meta["states"][state as usize]["role"] == "running";
                if meta["hasWakers"] == true && is_poll {
                    waker = wakers.varint();
                }
                if meta["hasWorkers"] == true && is_poll {
                    let value = workers.varint();
                    worker = (value / 2).checked_sub(1);
                    held = (value % 2 == 1).then(|| workers.varint());
                }
                row.transitions.push((now, state, worker, held, waker));
            }
        }
        assert!([of_rows, times, states, workers, wakers].iter().all(|column| column.0.is_empty()));
    }
    for (rows, section) in sections.iter().zip(tail["sections"].as_array().expect("sections")) {
        assert_eq!(section["rows"], rows.len());
        let transitions: usize = rows.iter().map(|row| row.transitions.len()).sum();
        assert_eq!(section["transitions"], transitions);
    }
    sections
}

fn expected(picture: &Picture<'_>) -> Vec<Vec<Row>> {
    let sections = picture.sections.iter().map(|section| {
        let place = |row| section.rows.iter().position(|&other| other == row).expect("a place");
        let lanes = (0..section.lanes.len() - 1).flat_map(|lane| {
            section.lane(lane).iter().enumerate().map(|(n, &row)| {
                let mut found = Row {
                    parent: section.source.parent(row).map(|parent| place(parent) as u64),
                    is_root: section.source.is_root(row),
                    begins_lane: n == 0,
                    ..Row::default()
                };
                section.source.name(row, &mut found.name);
                section.source.walk(row, &mut |t| {
                    let is_poll = section.role_of(t.state) == Role::Running;
                    let worker = t.worker.filter(|_| is_poll).map(u64::from);
                    let waker = match t.woken_by {
                        None => 0,
                        Some(Waker::Runtime) => 1,
                        Some(Waker::BlockingTask) => 2,
                        Some(Waker::Thread) => 3,
                        Some(Waker::NotShown) => 4,
                        Some(Waker::Row(row)) => 5 + place(row) as u64,
                    };
                    let state = u64::from(t.state);
                    found.transitions.push((t.time_ns, state, worker, t.held_ns, waker));
                });
                found
            })
        });
        lanes.collect()
    });
    sections.collect()
}

#[test]
fn the_columns_contain_the_picture() {
    for seed in 0..20 {
        let mut timeline = timeline(seed * 13, seed);
        timeline.runtime =
            [None, Some("api".to_owned()), Some("7".to_owned())][seed as usize % 3].clone();
        let picture = Picture::of_timeline(&timeline, &labels("x"));
        assert_eq!(rows(&page_of(&timeline, &labels("x"))), expected(&picture));
    }
}

#[test]
#[ignore = "slow"]
fn a_long_row_is_cut_into_pieces() {
    let mut timeline = timeline(3, 1);
    let polls = &mut timeline.tasks[1].polls;
    polls.clear();
    for n in 0..200_000 {
        let start = timeline.begin_ns + n * 10;
        polls.push(crate::trace::timeline::Poll::open(start, 0, Some(0)).ended(start + 5));
    }
    timeline.tasks[1].terminated_ns = None;
    timeline.tasks[1].first_ns = timeline.begin_ns;
    timeline.end_ns = timeline.end_ns.max(3_000_000);
    let picture = Picture::of_timeline(&timeline, &labels("x"));
    assert_eq!(rows(&page_of(&timeline, &labels("x"))), expected(&picture));
}

#[test]
fn hostile_names_stay_text() {
    let hostile =
        "]]></script><script>alert(1)</script><!--\"'\\ \u{2028}\u{2029}\u{202e}{{answer}}&amp;";
    let hostile = format!("{hostile}{}", "x".repeat(10_000));
    let mut timeline = timeline(5, 2);
    timeline.runtime = Some(hostile.clone());
    for task in &mut timeline.tasks {
        if let Some(location) = &mut task.location {
            location.file = "</script><script>alert(2)//\u{2028}";
        }
    }
    let labels = Labels { title: hostile.clone(), host: Some(hostile.clone()) };
    let page = page_of(&timeline, &labels);
    assert!(!page.contains("alert(1)</script>"));
    assert!(!page.contains("<script>alert"));
    // The tag that opens is the one of the page itself.
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(
        page.matches("<!--").count(),
        page_of(&timeline, &self::labels("x")).matches("<!--").count()
    );
    assert_eq!(page.matches("</script>").count(), page.matches("<script").count());
    let meta = json(&page, "statemap-meta");
    assert_eq!(meta["title"], hostile.as_str());
    assert_eq!(meta["host"], hostile.as_str());
    let rows = rows(&page);
    assert!(rows.iter().flatten().all(|row| row.name.starts_with(&hostile)));
}

#[test]
fn hostile_source_stays_text() {
    let folder = std::env::temp_dir().join(format!("statemap-source-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let hostile =
        "</script><script>alert(1)</script><!--\u{2028}\u{202e}\0".replace('\0', "\u{1b}");
    std::fs::write(folder.join("src/a.rs"), format!("{hostile}\n").repeat(40)).expect("a file");
    let (timeline, _) = explained("shop::compute");
    let picture = Picture::of_timeline(&timeline, &labels("x"));
    let picture = picture.with_source(&SourceFiles::in_folder(&folder));
    std::fs::remove_dir_all(&folder).expect("it is there");
    let mut page = Vec::new();
    write(&picture, &mut page).expect("memory doesn't fail");
    let page = String::from_utf8(page).expect("a page is UTF-8");
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.contains("alert(1)</script>") && !page.contains(['\u{2028}', '\u{1b}']));
    let source = &json(&page, "statemap-meta")["source"];
    let lines = source["all"][0][2].as_array().expect("lines");
    assert_eq!(lines.len(), 7);
    assert!(lines[3].as_str().expect("text").starts_with("</script><script>alert(1)"), "{source}");
    assert_eq!(source["frames"][0][2], 0);
    // Nothing is read unless it is asked for.
    assert!(json(&page_of(&timeline, &labels("x")), "statemap-meta")["source"].is_null());
}

#[test]
fn a_path_is_shown_as_in_all_outputs() {
    let (mut timeline, _) = explained("axum::serve");
    let registry = "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/axum-0.8.9/src";
    let file: &'static str = Box::leak(format!("{registry}/serve/mod.rs").into_boxed_str());
    for frame in timeline.long_polls.samples.iter_mut().flat_map(|sample| &mut sample.frames) {
        frame.file = Some(file.into());
    }
    for task in &mut timeline.tasks {
        if let Some(location) = &mut task.location {
            location.file = file;
        }
    }
    let page = page_of(&timeline, &labels("x"));
    let verdict = timeline.report().verdict.to_string();
    for (what, text) in [("page", &page), ("verdict", &verdict)] {
        assert!(!text.contains("/registry/src/") && !text.contains("/root/"), "{what}");
        assert!(text.contains("axum-0.8.9/src/serve/mod.rs:"), "{what}");
    }
    #[cfg(feature = "svg")]
    {
        let mut svg = Vec::new();
        crate::render::svg::write(&Picture::of_timeline(&timeline, &labels("x")), &mut svg)
            .expect("memory");
        let svg = String::from_utf8(svg).expect("UTF-8");
        assert!(!svg.contains("/registry/src/") && svg.contains("mod.rs:21"), "{svg}");
    }
    let text = timeline.report().to_string();
    assert!(!text.contains("/registry/src/") && !text.contains("/root/"), "{text}");
}

#[test]
fn the_policy_has_the_hashes_of_what_runs() {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    let hashes = format!("{}\n{}\n", hash(&page::script()), hash(&page::style()));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/render/html/page/hashes.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &hashes).expect("hashes.txt");
    }
    let found = std::fs::read_to_string(path).expect("hashes.txt");
    assert_eq!(found, hashes, "UPDATE_GOLDEN=1 writes them anew");
    let page = page_of(&timeline(1, 1), &labels("x"));
    let script = between(&page, "<script>", "</script>");
    let style = between(&page, "<style>", "</style>");
    assert_eq!((script, style), (page::script().as_str(), page::style().as_str()));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_script_is_all_modules_and_can_stand_in_a_page() {
    let script = page::script();
    for forbidden in
        ["</script", "<!--", "\nimport ", "\nexport ", "innerHTML", "eval(", "new Function"]
    {
        assert!(!script.contains(forbidden), "{forbidden}");
    }
    let listed: Vec<&str> = include_str!("page/modules.txt").lines().collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/render/html/page");
    let mut files = Vec::new();
    scripts_in(&folder, &folder, &mut files);
    files.sort_unstable();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, files);
    // The imports of a module come before it.
    for (n, module) in listed.iter().enumerate() {
        let text = std::fs::read_to_string(folder.join(module)).expect("a module");
        for line in text.lines().filter(|line| line.starts_with("import ")) {
            assert!(line.ends_with(';'), "{module}: an import is one line: {line}");
            let from = resolved(module, between(line, "from \"", "\""));
            assert!(listed[..n].contains(&&*from), "{module} imports {from}, which comes later");
        }
    }
}

/// Returns the paths of all scripts in `folder`, relative to `root`.
fn scripts_in(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            scripts_in(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "js") {
            let inside = path.strip_prefix(root).expect("a path in the folder");
            found.push(inside.to_str().expect("UTF-8").replace('\\', "/"));
        }
    }
}

/// Returns the relative imports of `module`.
fn resolved(module: &str, path: &str) -> String {
    let mut folders: Vec<&str> = module.split('/').collect();
    folders.pop();
    let mut rest = path.strip_prefix("./").unwrap_or(path);
    while let Some(below) = rest.strip_prefix("../") {
        folders.pop();
        rest = below;
    }
    folders.push(rest);
    folders.join("/")
}

#[test]
fn the_causes_of_long_polls_refer_to_frames_and_words() {
    let hostile = "shop::</script><b>\u{2028}";
    let (timeline, (_, start_ns)) = explained(hostile);
    let page = page_of(&timeline, &labels("why"));
    assert!(!page.contains("<b>") && !page.contains('\u{2028}'));
    let meta = json(&page, "statemap-meta");
    let report = timeline.report();
    assert_eq!(meta["verdict"], *report.verdict.to_string());
    let sections = meta["sections"].as_array().expect("sections");
    let why = &sections.iter().find(|section| section["kind"] == "tasks").expect("tasks")["why"];
    assert!(sections.iter().all(|section| section["kind"] == "tasks" || section["why"].is_null()));
    let index = |value: &Value| value.as_u64().expect("an index") as usize;
    let culprit = &why["culprits"][0];
    assert_eq!(culprit["polls"].as_u64(), Some(report.blame.culprits[0].polls));
    let frame = &why["frames"][index(&culprit["frame"])];
    assert_eq!(why["names"][index(&frame[0])], hostile);
    assert_eq!(why["names"][index(&frame[1]) - 1], "src/a.rs");
    assert_eq!(why["words"][index(&culprit["blockingCause"])], "computed");
    let poll = &why["polls"][index(&culprit["longest"])];
    assert_eq!(poll[1].as_u64(), Some(start_ns - timeline.begin_ns));
    assert_eq!(poll[2][2].as_u64(), Some(7));
    let samples = poll[4].as_array().expect("samples");
    assert_eq!(samples.len(), 3);
    // From the innermost call outwards.
    let mut names = Vec::new();
    let mut at = index(&samples[0][2]);
    while at > 0 {
        let call = &why["calls"][at - 1];
        let frame = &why["frames"][index(&call[0]) - 1];
        names.push(why["names"][index(&frame[0])].clone());
        at = index(&call[1]);
    }
    assert_eq!(names, ["core::hint::spin", hostile, "async shop::handle"]);
}

#[cfg(has_requests)]
#[test]
fn a_request_is_shown_where_its_task_is_drawn() {
    use crate::trace::requests::{Parts, Request, RequestSpan, Requests};
    use crate::trace::timeline::TaskKey;

    let mut timeline = timeline(9, 3);
    let (begin_ns, end_ns) = (timeline.begin_ns, timeline.end_ns);
    let span = |task, opened_ns, length_ns| RequestSpan {
        task,
        opened_ns,
        parts: Parts { spans: 1, length_ns, unknown_ns: length_ns, ..Parts::default() },
    };
    let task = TaskKey::Spawned(5);
    let longest = vec![
        // From before what is shown to after it.
        span(Some(TaskKey::Root(0)), begin_ns - 400, end_ns),
        span(Some(task), begin_ns + 128, 256),
        span(Some(TaskKey::Spawned(77)), begin_ns - 100, 50),
    ];
    let row = Request { name: "request".to_owned(), count: 3, longest, ..Request::default() };
    timeline.requests = Requests { rows: vec![row], ..Requests::default() };
    let page = page_of(&timeline, &labels("requests"));
    let (meta, rows) = (json(&page, "statemap-meta"), rows(&page));
    let sections = meta["sections"].as_array().expect("sections");
    let place = sections.iter().position(|section| section["kind"] == "tasks").expect("tasks");
    let shown = sections[place]["requests"]["rows"][0]["longest"].as_array().expect("spans");
    let unit = meta["unit"].as_u64().expect("a unit");
    let expected = [
        (Some("main".to_owned()), Some([0, end_ns - begin_ns])),
        (Some("task-5".to_owned()), Some([128, 384])),
        (None, None),
    ];
    assert_eq!(shown.len(), expected.len());
    for (span, (name, time)) in shown.iter().zip(expected) {
        let row = span["row"].as_u64().map(|row| rows[place][row as usize].name.clone());
        assert_eq!(row, name);
        let time = time.map(|ns| ns.map(|ns| ns / unit * unit));
        assert_eq!(span["shown"], serde_json::to_value(time).expect("numbers"));
    }
}
