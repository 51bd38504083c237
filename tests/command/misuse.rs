//! Wrong use of the command: one line on stderr with the name of the command, the problem, its position and what to do;
//! the exit status; and nothing is written.

use std::fs;
use std::path::Path;

use super::binary::{Ended, folder, names_in, run, run_with, tasks, workers};
use super::gzip::packed;

/// The command line, its exit status, the begin of the message behind the prefix, and its advice.
const MISUSES: &[(&str, i32, &str, &str)] = &[
    ("", 2, "no command is given; the commands are render, report", "see `tokio-statemap --help`"),
    ("draw tasks.json", 2, "unrecognized subcommand 'draw'", "the commands are render, report"),
    ("reprt tasks.json", 2, "unrecognized subcommand 'reprt'", "'report'"),
    ("tasks.json", 2, "unrecognized subcommand 'tasks.json'", "the commands are render, report"),
    ("report", 2, "the following required arguments were not provided: <FILE>", "report --help`"),
    (
        "render tasks.json",
        2,
        "the following required arguments were not provided: --output <FILE>",
        "render --help`",
    ),
    (
        "render -o out.html",
        2,
        "the following required arguments were not provided: <FILE>",
        "render --help`",
    ),
    (
        "render tasks.json -o",
        2,
        "a value is required for '--output <FILE>' but none was supplied",
        "render --help`",
    ),
    (
        "render tasks.json -o out.html --titel x",
        2,
        "unexpected argument '--titel' found",
        "'--title'",
    ),
    (
        "render tasks.json -o out.png",
        2,
        "the name of the output, out.png, doesn't tell the format",
        "end it with .html, .svg, .pftrace, .folded, .csv or .parquet, or use `--format`",
    ),
    ("render tasks.json -o -", 2, "the name of the output, -, doesn't tell", "use `--format`"),
    (
        "render tasks.json -o out.svg --format html",
        2,
        "`-o out.svg` is svg, but `--format` is html",
        "leave `--format` out, or name the output .html",
    ),
    (
        "render tasks.json -o out.svg --source .",
        2,
        "`--source` is for a page",
        "write an .html, or leave it out",
    ),
    (
        "render tasks.json -o out --format pdf",
        2,
        "invalid value 'pdf' for '--format <FORMAT>'",
        "[possible values: html, svg, perfetto, folded, csv, parquet]",
    ),
    (
        "diff tasks.json other.json -o out.html --format json",
        2,
        "`-o out.html` is html, but `--format` is json",
        "leave `--format` out, or name the output .json",
    ),
    (
        "diff tasks.json other.json --format html",
        2,
        "a page is written to a file",
        "name it by `-o FILE`",
    ),
    (
        "diff tasks.json ./tasks.json",
        2,
        "tasks.json and ./tasks.json are the same file",
        "name it once",
    ),
    (
        "check tasks.json --max-poll -5ms",
        2,
        "invalid value '-5ms' for '--max-poll <TIME>': it is negative",
        "use 5ms",
    ),
    (
        "check tasks.json --max-ready 0s",
        2,
        "invalid value '0s' for '--max-ready <TIME>': it is 0: a limit must be positive",
        "such as 5ms",
    ),
    (
        "symbolize tasks.json.gz --binary shop",
        2,
        "tasks.json.gz is compressed, but the output isn't",
        "name it by `-o FILE`",
    ),
    (
        "symbolize tasks.json --binary shop --source .",
        2,
        "`--source` is for a page",
        "leave it out, or name a page",
    ),
    (
        "render tasks.json -o out.html --max-size 4MB",
        2,
        "`--max-size` is for an SVG",
        "write an .svg",
    ),
    (
        "render tasks.json -o out.svg --max-size much",
        2,
        "invalid value 'much' for '--max-size <SIZE>'",
        "such as 4MB",
    ),
    (
        "render tasks.json -o out.svg --max-size -1",
        2,
        "invalid value '-1' for '--max-size <SIZE>'",
        "such as 4MB",
    ),
    (
        "render tasks.json -o out.html --begin -5ms",
        2,
        "invalid value '-5ms' for '--begin <TIME>': it is negative",
        "use 5ms, or leave it out",
    ),
    (
        "report tasks.json --duration -1.5s",
        2,
        "invalid value '-1.5s' for '--duration <TIME>': it is negative",
        "use 1.5s",
    ),
    ("report tasks.json --begin 5", 2, "invalid value '5' for '--begin <TIME>'", "such as 250ms"),
    (
        "report tasks.json --duration 0s",
        2,
        "invalid value '0s' for '--duration <TIME>': it is 0",
        "leave it out",
    ),
    (
        "report tasks.json --begin 1s",
        1,
        "tasks.json: there is nothing in this window",
        "--begin counts from the start of the data",
    ),
    ("report - -", 2, "standard input (`-`) can be read only once", "name the other file"),
    (
        "report tasks.json workers.json tasks.json",
        2,
        "tasks.json and tasks.json are the same file",
        "name it once",
    ),
    (
        "render tasks.json ./tasks.json -o out.html",
        2,
        "tasks.json and ./tasks.json are the same file",
        "name it once",
    ),
    ("check tasks.json missing.json", 1, "missing.json: can't be opened: ", "No such file"),
    ("report dir", 1, "dir: this is a directory", "name the files in it, such as dir/tasks.json"),
    ("check dir", 1, "dir: this is a directory", "name the files in it"),
    ("render tasks.json dir -o out.html", 1, "dir: this is a directory", "name the files in it"),
    (
        "render tasks.json --format svg -o tasks.json",
        2,
        "the output, tasks.json, is one of the input files",
        "name another",
    ),
    (
        "render tasks.json --format svg -o ./tasks.json",
        2,
        "the output, ./tasks.json, is one of the input files",
        "name another",
    ),
    (
        "render tasks.json -o no/folder.html",
        1,
        "no/folder.html: can't be written: ",
        "No such file",
    ),
    ("render tasks.json -o dir.html", 1, "dir.html: can't be written: ", "irectory"),
    ("report cut.html", 1, "cut.html: line ", "the page is cut off here; copy it again"),
    ("render cut.html -o out.svg", 1, "cut.html: line ", "the page is cut off here; copy it again"),
    ("check cut.html", 1, "cut.html: line ", "the page is cut off here; copy it again"),
    (
        "report other.html",
        1,
        "other.html: line 1, byte 0: this is HTML, but no page of tokio-statemap",
        "give one, or statemap data",
    ),
    (
        "report picture.svg",
        1,
        "picture.svg: line 1, byte 0: this is an SVG",
        "give the data that it was made from",
    ),
    ("report cut.gz", 1, "cut.gz: line ", "the gzip file is cut off; copy it again"),
    ("check bad.gz", 1, "bad.gz: line ", "the gzip file is damaged"),
    (
        "symbolize picture.svg --binary tasks.json",
        1,
        "picture.svg: line 1, byte 0: this is an SVG",
        "give the data that it was made from",
    ),
    (
        "awaits tasks.json --all shop",
        2,
        "the argument '--all' cannot be used with '[PATTERN]'",
        "awaits --help`",
    ),
    ("awaits tasks.json", 1, "tasks.json: this is no program", ""),
    ("completions tcl", 2, "invalid value 'tcl' for '<SHELL>'", "[possible values: bash"),
];

fn prepare(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("tasks.json", tasks().as_bytes());
    write("workers.json", workers().as_bytes());
    run(&folder, "render tasks.json workers.json -o page.html").stdout();
    let page = fs::read(folder.join("page.html")).unwrap();
    write("cut.html", &page[..page.len() / 2]);
    write("other.html", b"<!DOCTYPE html>\n<html><body>mine</body></html>\n");
    write("picture.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n");
    let whole = packed(tasks().as_bytes());
    write("cut.gz", &whole[..200]);
    let mut bad = whole;
    let crc = bad.len() - 8;
    bad[crc] ^= 1;
    write("bad.gz", &bad);
    write("out.html", b"mine");
    write("out.svg", b"mine");
    fs::create_dir(folder.join("dir")).unwrap();
    fs::create_dir(folder.join("dir.html")).unwrap();
    folder
}

fn assert_refused(folder: &Path, args: &str, ended: &Ended, status: i32, says: &str, to_do: &str) {
    assert_eq!(ended.status, Some(status), "{args}: {ended:?}");
    let said = ended
        .stderr
        .strip_prefix("tokio-statemap: ")
        .unwrap_or_else(|| panic!("{args}: {ended:?}"));
    assert!(said.starts_with(says), "{args}: {said}");
    assert!(said.contains(to_do), "{args}: {said}");
    assert!(said.ends_with('\n') && said.lines().count() == 1, "{args}: {said}");
    let can_print = args.starts_with("check ");
    assert!(ended.stdout.is_empty() || can_print, "{args}: {ended:?}");
    for output in ["out.html", "out.svg"] {
        assert_eq!(fs::read(folder.join(output)).unwrap(), b"mine", "{args}");
    }
}

#[test]
fn each_misuse_is_one_line_that_says_what_to_do() {
    let folder = prepare("misuse");
    let before = names_in(&folder);
    for &(args, status, says, to_do) in MISUSES {
        let ended = run(&folder, args);
        assert_refused(&folder, args, &ended, status, says, to_do);
        assert_eq!(names_in(&folder), before, "{args}");
        assert_eq!(fs::read(folder.join("tasks.json")).unwrap(), tasks().as_bytes(), "{args}");
    }
}

#[test]
fn what_comes_by_standard_input_can_be_wrong_too() {
    let folder = prepare("misuse_stdin");
    let page = fs::read(folder.join("page.html")).unwrap();
    let packed = packed(tasks().as_bytes());
    for (input, to_do) in [
        (&page[..page.len() - 20], "the page is cut off here; copy it again"),
        (&packed[..packed.len() - 3], "the gzip file is cut off; copy it again"),
        (b"<p>", "this is HTML, but no page of tokio-statemap"),
    ] {
        let ended = run_with(&folder, "report -", input);
        assert_refused(&folder, "report -", &ended, 1, "standard input: line ", to_do);
    }
}

/// A cut page is reported with the position of its end.
#[test]
fn a_page_that_is_cut_anywhere_is_told_as_such() {
    let folder = prepare("misuse_cut");
    let page = fs::read(folder.join("page.html")).unwrap();
    let last = page.len() - "</html>\n".len();
    for end in [1, 40, 100, 200, 1_000, last / 2, last - 2_000, last - 1_000, last - 100, last] {
        fs::write(folder.join("cut.html"), &page[..end]).unwrap();
        let ended = run(&folder, "report cut.html");
        let what = format!("byte {end}: the page is cut off here; copy it again, all of it\n");
        assert_refused(&folder, "report cut.html", &ended, 1, "cut.html: line ", &what);
    }
    let text = String::from_utf8(page).unwrap();
    // Missing or changed parts in the middle are found.
    for class in ["statemap-chunk", "statemap-origin"] {
        let at = text.find(&format!("class=\"{class}\">")).unwrap() + class.len() + 9;
        let damaged = format!("{}!{}", &text[..at + 4], &text[at + 5..]);
        fs::write(folder.join("cut.html"), damaged).unwrap();
        let ended = run(&folder, "report cut.html");
        let what = format!("byte {at}: the page is damaged: this is no base64; copy it again\n");
        assert_refused(&folder, class, &ended, 1, "cut.html: line ", &what);
    }
}

#[cfg(unix)]
#[test]
fn a_file_has_one_name() {
    let folder = prepare("misuse_links");
    std::os::unix::fs::symlink("tasks.json", folder.join("soft.json")).unwrap();
    for (args, says) in [
        ("report tasks.json soft.json", "tasks.json and soft.json are the same file: name it once"),
        (
            "render dir/../tasks.json soft.json -o out.html",
            "dir/../tasks.json and soft.json are the",
        ),
        (
            "render tasks.json --format svg -o soft.json",
            "the output, soft.json, is one of the input files",
        ),
    ] {
        assert_refused(&folder, args, &run(&folder, args), 2, says, "name");
    }
}

/// Returns the two ends of a terminal for the command's output.
#[cfg(unix)]
fn terminal() -> (fs::File, fs::File) {
    use std::os::fd::FromRawFd;
    let (mut main, mut other) = (0, 0);
    let null = std::ptr::null_mut();
    // SAFETY: the two descriptors are there to be written, and nothing else is asked for.
    let opened =
        unsafe { libc::openpty(&raw mut main, &raw mut other, null, null.cast(), null.cast()) };
    assert_eq!(opened, 0);
    // SAFETY: they were just opened, and are no one else's.
    unsafe { (fs::File::from_raw_fd(main), fs::File::from_raw_fd(other)) }
}

#[cfg(unix)]
#[test]
fn a_page_is_not_printed_on_a_terminal() {
    use std::process::{Command, Stdio};
    let folder = prepare("misuse_terminal");
    for (args, what) in [
        ("render tasks.json --format html -o -", "`-o -` would print it on the terminal"),
        ("render tasks.json --format svg -o -", "`-o -` would print it on the terminal"),
        (
            "diff tasks.json workers.json --format html -o -",
            "`-o -` would print it on the terminal",
        ),
        ("awaits tasks.json --html -", "`--html -` would print it on the terminal"),
    ] {
        let (_main, terminal) = terminal();
        let output = Command::new(super::binary::binary())
            .args(args.split(' '))
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::from(terminal))
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_refused(
            &folder,
            args,
            &output.into(),
            2,
            what,
            "FILE`, or redirect standard output",
        );
    }
}
