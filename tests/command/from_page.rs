//! Pages as input: they hold the data that they were made from, of runs and of other programs. (See `story`
//! for more on runs.)

use std::fs;

use tokio_statemap::html;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::read::read;

use super::binary::{folder, run, run_with, tasks, workers};
use super::page::Page;

const CPUS: &str = r##"{"start":[1000,20000000],"title":"CPUs","host":"box","entityKind":"CPU","states":{"idle":{"value":0,"color":"#e0e0e0"},"busy":{"value":1}}}
{"time":"5","entity":"cpu-10","state":0}
{"entity":"cpu-10","description":"the last one"}
{"time":"6","entity":"cpu-2","state":1,"tag":"7"}
{"state":1,"tag":"7","who":"\u2028</script>"}
{"time":"7","entity":"cpu-2","state":0,"tag":"undefined"}
{"time":"8","entity":"cpu-10","event":"wake","target":"cpu-2"}
{"time":"9","entity":"cpu-99","event":"offline"}
{"entity":"cpu-98","description":"never seen"}
{"time":"9000000","entity":"cpu-10","state":1}
{"time":"9000001","entity":"cpu-2","event":"late"}
"##;

#[test]
fn other_programs_data_is_in_it() {
    let folder = folder("from_page_other");
    fs::write(folder.join("cpus.json"), CPUS).unwrap();
    let of_file = read(CPUS.as_bytes()).unwrap();
    run(&folder, "render cpus.json -o page.html").stdout();
    let page = fs::read(folder.join("page.html")).unwrap();
    let of_page = html::read(&page[..]).unwrap();
    let [of_page] = &of_page[..] else { panic!("one file") };
    assert_eq!((&of_page.metadata, &of_page.tags), (&of_file.metadata, &of_file.tags));
    let named = |of: &tokio_statemap::statemap::read::Statemap| {
        let mut events: Vec<_> = of
            .events
            .iter()
            .map(|e| {
                (e.time_ns, of.entities[e.entity].name.clone(), e.event.clone(), e.target.clone())
            })
            .collect();
        events.sort();
        let mut entities = of.entities.clone();
        entities.sort_by(|a, b| a.name.cmp(&b.name));
        (events, entities)
    };
    assert_eq!(named(of_page), named(&of_file));
    assert_eq!(of_page.end_ns, of_file.end_ns);
    let report = run(&folder, "report cpus.json").stdout();
    assert_eq!(run(&folder, "report page.html").stdout(), report);
    assert_eq!(run_with(&folder, "report -", &page).stdout(), report);
    for output in ["svg", "html"] {
        run(&folder, &format!("render cpus.json -o of_file.{output}")).stdout();
        run(&folder, &format!("render page.html -o of_page.{output}")).stdout();
        let of = |name: &str| fs::read(folder.join(format!("{name}.{output}"))).unwrap();
        assert!(of("of_file") == of("of_page"), "{output}");
    }
    let checked = run(&folder, "check page.html");
    assert_eq!(checked.status, Some(1));
    assert!(checked.stderr.contains("tag `undefined` of state 0 has no definition"), "{checked:?}");
}

/// A page of several recordings holds all of them, each at its time.
#[test]
fn of_several_each_is_in_it() {
    let folder = folder("from_page_several");
    let run_named = |name: &str, data: String| {
        let runtime = format!("\"program\":\"api\",\"runtime\":\"{name}\"");
        data.replace("\"program\":\"api\"", &runtime)
            .replace("\"entity\":\"", &format!("\"entity\":\"{name}/"))
    };
    for name in ["io", "cpu"] {
        fs::write(folder.join(format!("{name}-tasks.json")), run_named(name, tasks())).unwrap();
        fs::write(folder.join(format!("{name}-workers.json")), run_named(name, workers())).unwrap();
    }
    fs::write(folder.join("cpus.json"), CPUS).unwrap();
    let all = "io-tasks.json io-workers.json cpu-tasks.json cpu-workers.json cpus.json";
    run(&folder, &format!("render {all} -o page.html")).stdout();
    let drawn = fs::read(folder.join("page.html")).unwrap();
    let files = html::read(&drawn[..]).unwrap();
    assert_eq!(files.len(), 5);
    for (file, name) in files.iter().zip(all.split(' ')).take(4) {
        assert!(*file == read(&fs::read(folder.join(name)).unwrap()[..]).unwrap(), "{name}");
    }
    let mut again = Vec::new();
    html::write(&Picture::of_data(&files), &mut again).unwrap();
    assert!(again == drawn);
    let heads = |of: &str| {
        let report = run(&folder, of).stdout();
        let lines = report.lines().filter(|line| !line.starts_with("==> "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(heads("report page.html"), heads(&format!("report {all}")));
    run(&folder, "report page.html --begin 1ms --duration 20ms").stdout();

    // Each keeps its name.
    let page = Page::read(&drawn);
    assert_eq!(page.meta["title"], "api, CPUs");
    assert_eq!(page.meta["runtime"], "io, cpu");
    let titles: Vec<_> = page.sections.iter().map(|section| section.title.as_str()).collect();
    let expected = ["Workers of io", "Workers of cpu", "Tasks of io", "Tasks of cpu", "CPUs"];
    assert_eq!(titles, expected);
    let verdict = page.meta["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("io: "), "{verdict}");
    assert!(verdict.contains(" cpu: "), "{verdict}");
}

/// A given title stays, and a window of a page is that of the files.
#[test]
fn what_is_made_of_it_is_what_is_made_of_the_files() {
    let folder = folder("from_page");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    run(&folder, "render tasks.json workers.json -o page.html --title mine").stdout();
    run(&folder, "render page.html -o again.html").stdout();
    let of = |name: &str| fs::read(folder.join(name)).unwrap();
    assert!(of("again.html") == of("page.html"));
    assert_eq!(Page::read(&of("again.html")).meta["title"], "mine");
    for window in ["--begin 10ms", "--begin 1ms --duration 20ms", "--duration 700us"] {
        let report = run(&folder, &format!("report tasks.json workers.json {window}")).stdout();
        assert_eq!(run(&folder, &format!("report page.html {window}")).stdout(), report);
        run(&folder, &format!("render tasks.json workers.json {window} -o part.html")).stdout();
        assert_eq!(run(&folder, "report part.html").stdout(), report);
        run(&folder, "render part.html -o part-again.html").stdout();
        assert!(of("part-again.html") == of("part.html"), "{window}");
        run(&folder, "check part.html").stdout();
    }
    let said = run(&folder, "check page.html tasks.json").stdout();
    assert_eq!(
        said,
        "page.html: ok, 3 entities, 15 changes of state\ntasks.json: ok, 2 entities, 9 changes of \
         state\n"
    );
    let alone = run(&folder, "report tasks.json").stdout();
    run(&folder, "render tasks.json -o tasks.html").stdout();
    assert_eq!(run(&folder, "report tasks.html").stdout(), alone);
}
