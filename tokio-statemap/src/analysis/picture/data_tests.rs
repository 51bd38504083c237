//! Tests that the picture of data is that of the timeline from which the data was written, and that a picture of
//! unrelated files can be read, too.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::analysis::picture::tests::timeline;
use crate::analysis::picture::why_tests::explained;
use crate::analysis::picture::{Picture, Role, Section, SectionKind};
use crate::statemap::read::{Statemap, read};
use crate::statemap::{Labels, write_tasks, write_workers};
use crate::trace::timeline::Timeline;

fn labels() -> Labels {
    Labels { title: "api".to_owned(), host: Some("box".to_owned()) }
}

/// The workers and tasks of a timeline as data, in another order than they are drawn.
fn files(timeline: &Timeline) -> [Statemap; 2] {
    let (mut tasks, mut workers) = (Vec::new(), Vec::new());
    write_tasks(timeline, &labels(), &mut tasks).unwrap();
    write_workers(timeline, &labels(), &mut workers).unwrap();
    [read(&tasks[..]).unwrap(), read(&workers[..]).unwrap()]
}

/// The rows of a section: group and changes of state, by name.
fn rows(section: &Section<'_>) -> BTreeMap<String, (String, Vec<(u64, Role)>)> {
    let mut rows = BTreeMap::new();
    for group in &section.groups {
        for &row in section.group(group) {
            let mut name = String::new();
            section.source.name(row, &mut name);
            let mut changes = Vec::new();
            section.source.walk(row, &mut |transition| {
                changes.push((transition.time_ns, section.role_of(transition.state)));
            });
            rows.insert(name, (group.label.clone(), changes));
        }
    }
    rows
}

#[test]
fn it_is_the_picture_of_the_timeline() {
    for seed in 0..30 {
        let timeline = timeline(1 + seed * 3, seed);
        let files = files(&timeline);
        let (of_data, of_timeline) =
            (Picture::of_data(&files), Picture::of_timeline(&timeline, &labels()));
        assert_eq!(of_data.title, "api");
        assert_eq!((of_data.host.as_deref(), of_data.start), (Some("box"), of_timeline.start));
        assert!(of_data.is_ready_known && of_data.are_tasks_known);
        assert!(of_data.length_ns.abs_diff(of_timeline.length_ns) < 100);
        let kinds = |picture: &Picture<'_>| -> Vec<SectionKind> {
            picture.sections.iter().map(|section| section.kind).collect()
        };
        assert_eq!(kinds(&of_data), kinds(&of_timeline));
        for (data, timeline) in of_data.sections.iter().zip(&of_timeline.sections) {
            assert_eq!((&data.title, &data.states), (&timeline.title, &timeline.states));
            let (data, timeline) = (rows(data), rows(timeline));
            assert_eq!(data.len(), timeline.len());
            for ((name, data), (other, timeline)) in data.iter().zip(&timeline) {
                assert_eq!((name, &data.0), (other, &timeline.0));
                assert_eq!(data.1.len(), timeline.1.len(), "{name}");
                for (data, timeline) in data.1.iter().zip(&timeline.1) {
                    assert_eq!(data.1, timeline.1, "{name}");
                    // Equal times are written 1 ns apart.
                    assert!(data.0.abs_diff(timeline.0) < 100, "{name}: {data:?} {timeline:?}");
                }
            }
        }
    }
}

#[test]
fn no_row_is_lost_and_no_two_of_a_lane_overlap() {
    let timeline = timeline(200, 7);
    let files = files(&timeline);
    let picture = Picture::of_data(&files);
    for section in &picture.sections {
        assert_eq!(section.rows.iter().collect::<BTreeSet<_>>().len(), section.rows.len());
        for lane in 0..section.lanes.len() - 1 {
            let mut last = 0;
            let mut is_over = true;
            for &row in section.lane(lane) {
                assert!(is_over, "a row follows one that goes on");
                section.source.walk(row, &mut |transition| {
                    assert!(transition.time_ns >= last && transition.time_ns <= picture.length_ns);
                    last = transition.time_ns;
                    is_over = section.role_of(transition.state).is_end();
                });
            }
        }
    }
}

fn file(start: u64, end: u64) -> Statemap {
    let data = format!(
        "{{\"start\":[{start},0],\"title\":\"from {start}\",\"states\":{{\"a\":{{\"value\":0}}}}}}\
         {{\"time\":\"0\",\"entity\":\"e\",\"state\":0}}{{\"time\":\"{end}\",\"entity\":\"e\",\"state\":0}}"
    );
    read(data.as_bytes()).unwrap()
}

#[test]
fn no_files_or_empty_ones_make_an_empty_picture() {
    let picture = Picture::of_data(&[]);
    assert_eq!((picture.sections.len(), picture.length_ns), (0, 0));
    let empty = r#"{"start":[7,5],"title":"nothing","states":{}}"#;
    let files = [read(empty.as_bytes()).unwrap(), file(9, 1_000)];
    let picture = Picture::of_data(&files[..1]);
    assert_eq!((picture.title.as_str(), picture.sections.len()), ("nothing", 0));
    // A picture that isn't there is no reason to begin earlier.
    let picture = Picture::of_data(&files);
    assert_eq!((picture.start.as_secs(), picture.length_ns), (9, 1_000));
    assert!(picture.notes.is_empty(), "{:?}", picture.notes);
}

#[test]
fn files_of_different_times_begin_at_the_left_edge() {
    let files = [file(0, u64::MAX), file(u64::MAX, 5), file(3, 7)];
    let picture = Picture::of_data(&files);
    assert_eq!(picture.length_ns, u64::MAX);
    assert!(picture.notes[0].starts_with("The files are from different times"));
    for section in &picture.sections {
        section.source.walk(0, &mut |transition| assert!(transition.time_ns <= picture.length_ns));
    }
}

#[test]
fn an_event_is_shown_when_it_was_or_not_at_all() {
    let data = br#"{"start":[1,0],"title":"","states":{"a":{"value":0}}}
        {"time":"0","entity":"e","state":0} {"time":"5","entity":"e","event":"shown"}
        {"time":"9","entity":"e","state":0} {"time":"10","entity":"e","event":"late"}
        {"time":"3","entity":"nobody","event":"rowless"}"#;
    let files = [read(&data[..]).unwrap()];
    let picture = Picture::of_data(&files);
    let events = picture.sections[0].events.iter().map(|event| (event.time_ns, &event.event[..]));
    assert_eq!(events.collect::<Vec<_>>(), [(5, "shown")]);
    assert_eq!(
        picture.notes,
        [
            "One event is after the last change of state and isn't shown.",
            "One event is of an entity without any state and isn't shown."
        ]
    );
}

#[test]
fn titles_say_what_is_missing() {
    let mut timeline = timeline(5, 1);
    timeline.lost.refused_events = 12;
    timeline.gaps = [1, 3].map(|ns| (timeline.begin_ns + ns, timeline.begin_ns + ns + 1)).to_vec();
    let picture_files = files(&timeline);
    let picture = Picture::of_data(&picture_files);
    assert_eq!(picture.title, "api");
    assert!(picture.is_cut && picture.notes[0].starts_with("Only the first "));
    for note in ["12 events lost: max_events.", "2 gaps in the recording."] {
        assert_eq!(picture.notes.iter().filter(|found| *found == note).count(), 1, "{note}");
    }
    timeline.settings.task_hooks = false;
    timeline.tasks.clear();
    let picture_files = files(&timeline);
    let picture = Picture::of_data(&picture_files);
    assert!(!picture.are_tasks_known);
    assert_eq!(picture.sections.len(), 1);
    let note = "Workers only: task hooks need --cfg tokio_unstable.";
    assert!(picture.notes.iter().any(|found| found == note), "{:?}", picture.notes);
}

#[test]
fn two_runtimes_are_told_apart() {
    let timeline = timeline(5, 1);
    let [tasks, workers] = files(&timeline);
    let mut other = tasks.clone();
    other.run.as_mut().unwrap().facts.program = "jobs".to_owned();
    let files = [tasks, other, workers];
    let picture = Picture::of_data(&files);
    let titles: Vec<_> = picture.sections.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(titles, ["Workers of api", "Tasks of api", "Tasks of jobs"]);
    assert_eq!(picture.title, "api, jobs");
}

#[test]
fn runtimes_of_one_program_keep_their_names_their_workers_and_what_is_long() {
    let mut all = Vec::new();
    let runs = [("api", 1), ("db", 10), ("jobs", 5)];
    for (runtime, ms) in runs {
        let mut timeline = timeline(20, 3);
        timeline.runtime = Some(runtime.to_owned());
        timeline.settings.long_poll = Duration::from_millis(ms);
        all.extend(files(&timeline));
    }
    let picture = Picture::of_data(&all);
    assert_eq!((&*picture.title, picture.runtime.as_deref()), ("api", Some("api, db, jobs")));
    let of_kind = |kind| picture.sections.iter().filter(move |section| section.kind == kind);
    for (kind, what) in [(SectionKind::Workers, "Workers"), (SectionKind::Tasks, "Tasks")] {
        let titles: Vec<_> = of_kind(kind).map(|section| section.title.as_str()).collect();
        assert_eq!(titles, runs.map(|(runtime, _)| format!("{what} of {runtime}")));
    }
    for (section, (runtime, ms)) in of_kind(SectionKind::Tasks).zip(runs) {
        assert!(section.source.knows_workers());
        let mut polls_on_workers = 0;
        for &row in &section.rows {
            section
                .source
                .walk(row, &mut |drawn| polls_on_workers += drawn.worker.map_or(0, |_| 1));
        }
        assert!(polls_on_workers > 0);
        assert_eq!(picture.long_poll_ns_of(section), ms * 1_000_000);
        assert_eq!(picture.origins[section.origin].name, runtime);
    }
    assert_eq!(picture.long_poll_ns, 1_000_000);
    assert!(picture.verdict.unwrap().headline.starts_with("api: "));
}

#[test]
fn the_worst_verdict_comes_first() {
    let mut all = Vec::new();
    for (runtime, mut timeline) in [("db", timeline(20, 3)), ("api", explained("shop::compute").0)]
    {
        timeline.runtime = Some(runtime.to_owned());
        all.extend(files(&timeline));
    }
    let picture = Picture::of_data(&all);
    let verdict = picture.verdict.unwrap();
    assert!(verdict.headline.starts_with("api: "), "{verdict}");
    assert!(verdict.to_string().contains(" db: "), "{verdict}");
}

#[test]
fn runs_that_are_called_the_same_are_numbered() {
    let files = [timeline(5, 1), timeline(6, 2)].map(|timeline| files(&timeline)).concat();
    let picture = Picture::of_data(&files);
    let tasks = picture.sections.iter().filter(|section| section.kind == SectionKind::Tasks);
    let titles: Vec<_> = tasks.map(|section| section.title.as_str()).collect();
    assert_eq!(titles, ["Tasks of api (1)", "Tasks of api (2)"]);
}
