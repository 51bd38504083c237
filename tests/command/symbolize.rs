//! `symbolize`: the data of a stripped program becomes that of the whole one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::build::build;
use tests::check::check;
use tests::child;
use tokio_statemap::Timeline;
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, recordings};
use tokio_statemap::timeline::{FrameOrigin, PollSample};

use super::binary::{binary, folder, names_in, run, run_with, tasks};

/// Builds a program. Returns `None` where it can't be stripped.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    if Command::new("objcopy").arg("--version").output().is_err() {
        println!("not run: there is no objcopy");
        return None;
    }
    Some(build(Path::new(env!("CARGO_TARGET_TMPDIR")), "command", &["build", "--bin", name], name))
}

pub(super) fn objcopy(folder: &Path, option: &str, from: &Path, to: &str) {
    let mut command = Command::new("objcopy");
    let status = command.current_dir(folder).arg(option).arg(from).arg(to).status().unwrap();
    assert!(status.success(), "objcopy {option}");
}

pub(super) fn timeline(file: &Path) -> Timeline {
    let bytes = fs::read(file).unwrap();
    check(&bytes).unwrap();
    match recordings(&[read(&bytes[..]).unwrap()]).pop() {
        Some(Recording::Run { timeline, .. }) => *timeline,
        other => panic!("{other:?}"),
    }
}

/// Returns the samples of the poll that blocked.
fn samples(timeline: &Timeline) -> Vec<PollSample> {
    let polls = timeline.tasks.iter().flat_map(|task| &task.polls);
    polls.flat_map(|poll| timeline.samples(poll)).cloned().collect()
}

#[test]
fn a_stripped_program_s_functions_have_names_then() {
    let Some(whole) = program("sleeps") else { return };
    let folder = folder("symbolize");
    objcopy(&folder, "--strip-all", &whole, "stripped");
    objcopy(&folder, "--only-keep-debug", &whole, "sleeps.debug");
    let ended = child::Running::start(&mut child::command(folder.join("stripped"), &folder)).end();
    assert!(ended.status.success(), "{ended:?}");
    let file = folder.join("tasks.json");
    let before = timeline(&file);
    let unnamed = samples(&before);
    assert!(!unnamed.is_empty(), "a poll of 400 ms has a sample");
    let is_address =
        |sample: &PollSample| sample.frames.iter().any(|frame| frame.function.starts_with("0x"));
    assert!(unnamed.iter().all(is_address), "{unnamed:?}");
    assert!(unnamed.iter().all(|sample| sample.blamed().is_none()), "{unnamed:?}");

    // Neither the stripped program nor another one has its names.
    let bytes = fs::read(&file).unwrap();
    let itself = run(&folder, "symbolize tasks.json --binary stripped");
    assert_eq!(
        (itself.status, &*itself.stderr),
        (
            Some(1),
            "tokio-statemap: stripped: it has no symbols for the addresses: is it stripped, too?\n"
        )
    );
    let other = run(&folder, &format!("symbolize tasks.json --binary {}", binary().display()));
    assert_eq!((other.status, other.stderr.lines().count()), (Some(1), 1));
    let (its, theirs) = other.stderr.split_once("; the addresses belong to a file with").unwrap();
    assert!(its.contains(": its build id is ") && theirs.contains(" build id "), "{its};{theirs}");
    objcopy(&folder, "--remove-section=.note.gnu.build-id", &whole, "nameless");
    fs::write(folder.join("text"), "no program").unwrap();
    for (path, problem) in [
        ("nameless", "it has no build id, so it can't be matched with the addresses"),
        ("text", "this is no program or library of this system: "),
        ("missing", "can't be read: "),
        (".", "can't be read: "),
    ] {
        let ended = run(&folder, &format!("symbolize tasks.json --binary {path} -o out.json"));
        let begin = format!("tokio-statemap: {path}: {problem}");
        assert!(ended.stderr.starts_with(&begin), "{ended:?}");
        assert_eq!((ended.status, ended.stderr.lines().count()), (Some(1), 1));
    }
    assert_eq!(fs::read(&file).unwrap(), bytes);
    assert!(!folder.join("out.json").exists());

    // Everything but functions and places of waiting stays.
    let whole = whole.display();
    let said = run(&folder, &format!("symbolize tasks.json --binary {whole} -o whole.json"));
    assert!(said.stdout().contains(" addresses have names"));
    let lines = |file: &str| -> Vec<String> {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let is_other = |line: &&str| {
            !line.starts_with("{\"tag\":\"tokio-statemap ") && !line.contains("\"wait\":")
        };
        let without_place = |line: &str| match line.split_once(" waits (") {
            Some((line, _)) => line.to_owned(),
            None => line.to_owned(),
        };
        text.lines().filter(is_other).map(without_place).collect()
    };
    assert_eq!(lines("whole.json"), lines("tasks.json"));
    let named = timeline(&folder.join("whole.json"));
    for sample in samples(&named) {
        let names: Vec<_> = sample.frames.iter().map(|frame| &*frame.function).collect();
        let render = names.iter().position(|name| *name == "sleeps::render_invoice");
        let render = render.unwrap_or_else(|| panic!("{names:?}"));
        assert!(names[render - 1].ends_with("wait_for_printer"), "{names:?}");
        let file = sample.frames[render].file.as_deref().unwrap();
        assert!(file.ends_with("src/bin/sleeps.rs") && sample.frames[render].line == Some(9));
        let blamed = sample.blamed().unwrap();
        assert!(blamed.function.ends_with("wait_for_printer"), "{blamed:?}");
        assert!(sample.is_complete, "it goes up to the task's own");
        assert!(sample.frames.iter().all(|frame| frame.origin != FrameOrigin::Runtime));
    }
    // Without names only the spawn location can be blamed.
    let [before, named_text] = [before.report(), named.report()].map(|report| report.to_string());
    assert!(
        before.starts_with("Tasks spawned at tests/src/bin/sleeps.rs:21:5 held the runtime up"),
        "{before}"
    );
    assert!(before.contains("the program was stripped"), "{before}");
    assert!(!named_text.contains("stripped"), "{named_text}");
    assert!(named_text.contains("wait_for_printer at tests/src/bin/sleeps.rs:15"), "{named_text}");
    assert!(
        named_text.replace('\n', " ").contains("it blocked in std::thread::sleep"),
        "{named_text}"
    );

    // Its debug information works too, with FILE as the output and with standard output.
    let piped = run_with(&folder, "symbolize - --binary sleeps.debug", &fs::read(&file).unwrap());
    assert_eq!(piped.status, Some(0), "{piped:?}");
    run(&folder, "symbolize tasks.json --binary sleeps.debug").stdout();
    assert_eq!(piped.stdout, fs::read_to_string(&file).unwrap());
    assert_eq!(samples(&timeline(&file)), samples(&named));
}

/// A page becomes the one of the whole program's data.
#[test]
fn a_page_is_written_again_with_names() {
    let Some(whole) = program("sleeps") else { return };
    let folder = folder("symbolize_page");
    objcopy(&folder, "--strip-all", &whole, "stripped");
    let ended = child::Running::start(&mut child::command(folder.join("stripped"), &folder)).end();
    assert!(ended.status.success(), "{ended:?}");
    let (whole, source) = (whole.display(), concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    run(&folder, &format!("symbolize tasks.json --binary {whole} -o named.json")).stdout();
    let of = |name: &str| fs::read(folder.join(name)).unwrap();
    let symbolize = |page: &str, options: &str| {
        run(&folder, &format!("symbolize {page} --binary {whole} {options}")).stdout()
    };
    // This holds for a part too, and with source.
    for (render, options) in [
        ("", ""),
        ("--begin 50ms --duration 100ms", ""),
        ("--title mine", ""),
        (&*format!("--source {source}"), &*format!("--source {source}")),
    ] {
        run(&folder, &format!("render tasks.json -o page.html {render}")).stdout();
        run(&folder, &format!("render named.json -o named.html {render}")).stdout();
        let said = symbolize("page.html", options);
        assert!(said.ends_with(" addresses have names\n"), "{render}: {said}");
        assert!(of("page.html") == of("named.html"), "{render}");
    }
    assert!(String::from_utf8(of("page.html")).unwrap().contains("fn wait_for_printer() {"));
    assert!(run(&folder, "report page.html").stdout().contains("wait_for_printer at "));

    // The command says that the page no longer shows source. It writes the page to standard output here.
    run(&folder, &format!("render tasks.json -o page.html --source {source}")).stdout();
    let said = run(&folder, &format!("symbolize page.html --binary {whole} -o -"));
    assert!(
        said.stderr.ends_with("the page no longer shows source: `--source DIR` reads it again\n"),
        "{said:?}"
    );
    run(&folder, "render named.json -o named.html").stdout();
    assert!(said.stdout.as_bytes() == of("named.html"));

    // Each of several runs gets names.
    let text = fs::read_to_string(folder.join("tasks.json")).unwrap();
    for name in ["io", "cpu"] {
        let program = "\"program\":\"stripped\"";
        let run = text.replace(program, &format!("{program},\"runtime\":\"{name}\""));
        let run = run.replace("\"entity\":\"", &format!("\"entity\":\"{name}/"));
        fs::write(folder.join(format!("{name}.json")), run).unwrap();
    }
    run(&folder, "render io.json cpu.json -o both.html").stdout();
    symbolize("both.html", "-o both-named.html");
    let report = run(&folder, "report both-named.html").stdout();
    let verdicts = report.matches("wait_for_printer at tests/src/bin/sleeps.rs:15 held").count();
    assert_eq!(verdicts, 2, "{report}");
    assert!(report.contains("io") && report.contains("cpu"), "{report}");
}

#[test]
fn where_there_is_nothing_to_do_nothing_is_written() {
    let folder = folder("symbolize_nothing");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    let said = run(&folder, "symbolize tasks.json --binary missing -o out.json").stdout();
    let line = "tasks.json: nothing to do: no function is an address with a build id\n";
    assert_eq!(said, line);
    let said = run(&folder, "symbolize tasks.json --binary missing -o -");
    assert_eq!(
        (said.status, &*said.stdout, &*said.stderr),
        (Some(0), "", &*format!("tokio-statemap: {line}"))
    );
    assert_eq!(names_in(&folder), ["tasks.json"]);
    fs::write(folder.join("tasks.json"), tasks().replace("\"format\":1", "\"format\":2")).unwrap();
    let said = run(&folder, "symbolize tasks.json --binary missing");
    let line =
        "tokio-statemap: tasks.json: this isn't the data of a run as tokio-statemap wrote it\n";
    assert_eq!((said.status, &*said.stderr), (Some(1), line));
}
