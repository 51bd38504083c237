//! Invalid data: one line with position and problem, exit status 1, no output.

use std::fs;
use std::path::Path;

use super::binary::{TASKS, folder, names_in, run, run_with, tasks};

/// Returns each kind of invalid data, with the message.
fn bad() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let with = |records: &str| format!("{TASKS}{records}").into_bytes();
    let datum = "{\"time\":\"130\",\"entity\":\"main\",\"state\":1}\n";
    let mut not_utf8 = with(datum);
    let at = not_utf8.len() - 16;
    not_utf8[at] = 0xff;
    let one_line = |begin: &str| {
        let mut line = begin.as_bytes().to_vec();
        line.resize(20 << 20, b'1');
        line
    };
    vec![
        (
            "truncated",
            with(&format!("{datum}{{\"time\":\"140\",\"ent")),
            "line 3, byte 331: the data is truncated: this record has no end; a record is a whole \
             JSON object",
        ),
        (
            "no-end",
            with(&format!("{}{datum}", datum.trim_end_matches("}\n"))),
            "line 2, byte 329: this is no JSON: expected `,` or `}`",
        ),
        (
            "back",
            with(&format!("{datum}{}", datum.replace("130", "120"))),
            "line 3, byte 331: time goes back for entity `main`: 120 after 130; it must be greater \
             each time",
        ),
        (
            "twice",
            with(&format!("{datum}{datum}")),
            "line 3, byte 331: time stands still for entity `main`: 130 twice; it must be greater \
             each time",
        ),
        (
            "state",
            with(&datum.replace(":1}", ":5}")),
            "line 2, byte 290: `state` is 5; it must be the value of a state of the metadata: 0 to 4",
        ),
        (
            "integer",
            with(&datum.replace("\"130\"", "130")),
            "line 2, byte 290: `time` is 130; it must be a string of whole ns since `start`, such as \
             \"1500\"",
        ),
        (
            "metadata",
            with(TASKS),
            "line 2, byte 290: this is a second metadata object; there is one, the first record",
        ),
        (
            "none",
            datum.into(),
            "line 1, byte 0: there is no metadata: the first object must have `start`, `title` and \
             `states`",
        ),
        (
            "long",
            one_line("{\"start\":[0,0],\"title\":\""),
            "line 1, byte 0: this record is longer than 8 MiB; a record is a JSON object of a few \
             hundred bytes",
        ),
        ("longer", one_line("x"), "line 1, byte 0: this is no JSON: expected value"),
        ("number", one_line("1"), "line 1, byte 0: this is no record; a record is a JSON object"),
        ("utf8", not_utf8, "line 2, byte 315: this is not UTF-8; statemap data is JSON in UTF-8"),
        (
            "utf16",
            vec![0xff, 0xfe, b'{', 0, b'}', 0],
            "line 1, byte 0: this is not UTF-8; statemap data is JSON in UTF-8",
        ),
        (
            "nothing",
            Vec::new(),
            "line 1, byte 0: there is nothing; the metadata comes first: an object with `start`, \
             `title` and `states`",
        ),
        (
            "newlines",
            b"\n \n".to_vec(),
            "line 3, byte 3: there is nothing; the metadata comes first: an object with `start`, \
             `title` and `states`",
        ),
    ]
}

#[test]
fn one_line_says_what_is_wrong_and_nothing_is_left() {
    let folder = folder("bad_input");
    let mut names: Vec<String> = Vec::new();
    for (name, data, problem) in bad() {
        fs::write(folder.join(name), &data).unwrap();
        names.push(name.to_owned());
        names.sort();
        for args in
            ["render FILE -o out.html", "render FILE -o out.svg", "report FILE", "check FILE"]
        {
            let ended = run(&folder, &args.replace("FILE", name));
            let line = format!("tokio-statemap: {name}: {problem}\n");
            assert_eq!((&*ended.stderr, &*ended.stdout), (&*line, ""), "{args}");
            assert_eq!(ended.status, Some(1), "{args}");
            assert_eq!(names_in(&folder), names, "{args}");
        }
        let ended = run_with(&folder, "check -", &data);
        assert_eq!(ended.stderr, format!("tokio-statemap: standard input: {problem}\n"));
        assert_eq!(ended.status, Some(1));
    }
}

#[test]
fn a_directory_and_a_file_that_is_not_there() {
    let folder = folder("no_file");
    fs::create_dir(folder.join("data")).unwrap();
    let ended = run(&folder, "render data -o out.html");
    let line = "tokio-statemap: data: this is a directory; name the files in it, such as \
                data/tasks.json\n";
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(1), line));
    let ended = run(&folder, "render missing -o out.html");
    assert_eq!(ended.status, Some(1));
    let line = "tokio-statemap: missing: can't be opened: ";
    assert!(ended.stderr.starts_with(line), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1);
    assert_eq!(names_in(&folder), ["data"]);
}

#[test]
fn the_output_that_was_there_stays_after_an_error() {
    let folder = folder("stays");
    fs::write(folder.join("good"), tasks()).unwrap();
    fs::write(folder.join("bad"), "{").unwrap();
    fs::write(folder.join("out.html"), "mine").unwrap();
    let ended = run(&folder, "render good bad -o out.html");
    assert_eq!(ended.status, Some(1));
    assert!(ended.stderr.starts_with("tokio-statemap: bad: line 1, byte 0: "), "{}", ended.stderr);
    assert_eq!(fs::read(folder.join("out.html")).unwrap(), b"mine");
    assert_eq!(names_in(&folder), ["bad", "good", "out.html"]);
}

#[test]
fn an_output_that_cannot_be_written() {
    let folder = folder("unwritable");
    fs::write(folder.join("good"), tasks()).unwrap();
    fs::create_dir(folder.join("out.html")).unwrap();
    let refused = |output: &str| {
        let ended = run(&folder, &format!("render good -o {output}"));
        assert_eq!(ended.status, Some(1), "{output}");
        let line = format!("tokio-statemap: {output}: can't be written: ");
        assert!(ended.stderr.starts_with(&line), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1);
        assert_eq!(names_in(&folder), ["good", "out.html"]);
    };
    refused("out.html");
    refused("no/such/folder.html");
    if Path::new("/dev/full").exists() {
        let ended = run(&folder, "render good --format html -o /dev/full");
        assert_eq!(ended.status, Some(1));
        assert!(ended.stderr.starts_with("tokio-statemap: /dev/full: "), "{}", ended.stderr);
    }
}

#[test]
fn what_is_said_is_one_line_whatever_the_names_are() {
    let folder = folder("hostile_names");
    let name = "\\n\\u001b[2J\\u202e".to_owned() + &"x".repeat(10_000);
    let datum = format!("{{\"time\":\"5\",\"entity\":\"{name}\",\"state\":0}}\n");
    fs::write(folder.join("bad"), format!("{TASKS}{datum}{datum}")).unwrap();
    for args in ["report bad", "check bad"] {
        let ended = run(&folder, args);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(ended.stderr.len() < 300, "{}", ended.stderr);
        assert!(ended.stderr.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
    }
}

#[test]
fn the_first_bad_file_of_several_is_no_reason_not_to_check_the_others() {
    let folder = folder("several");
    fs::write(folder.join("good"), tasks()).unwrap();
    fs::write(folder.join("bad"), "{").unwrap();
    let ended = run(&folder, "check bad good");
    assert_eq!(ended.status, Some(1));
    assert_eq!(ended.stdout, "good: ok, 2 entities, 9 changes of state\n");
    assert_eq!(ended.stderr.lines().count(), 1);
}
