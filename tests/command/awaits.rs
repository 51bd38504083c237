//! `tokio-statemap awaits`: the suspend points of each async fn are the `.await`s of its source, in the same
//! order and with the same lines and awaited futures. Wrong files are reported in one line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tests::awaits::{Listed, compare, listed, written};
use tests::build::{Variant, build_program};

use super::binary::binary;

const FILES: [(&str, &str); 2] = [
    ("tests/awaits/main.rs", include_str!("../awaits/main.rs")),
    ("tests/awaits/ways.rs", include_str!("../awaits/ways.rs")),
];

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// The program with full debug information.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build_program(Path::new(TARGET), Variant::FullDebug, "awaits"))
}

fn folder_of(name: &str) -> PathBuf {
    let folder = Path::new(TARGET).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(file: &Path, more: &[&str]) -> Output {
    Command::new(binary()).arg("awaits").arg(file).args(more).output().unwrap()
}

#[track_caller]
fn text(file: &Path, more: &[&str]) -> String {
    let output = run(file, more);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn problem(file: &Path) -> String {
    let output = run(file, &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

/// Counts the points that are as in the source.
#[track_caller]
fn assert_as_written(all: &[Listed]) -> usize {
    let mut points = 0;
    for (file, source) in FILES {
        let compared = compare(all, file, written(source).unwrap());
        let rest = (&compared.wrong[..], &compared.left_out[..], compared.unclear);
        assert_eq!(rest, (&[][..], &[][..], 0), "{file}");
        points += compared.points;
    }
    points
}

/// Returns the expectations in the comments of the lines.
#[track_caller]
fn assert_awaits_as_commented(all: &[Listed]) {
    let mut checked = 0;
    for (place, name) in all.iter().flat_map(|listed| &listed.awaits) {
        let (file, line) = place.rsplit_once(':').unwrap();
        let Some((_, source)) = FILES.iter().find(|(of, _)| *of == file) else { continue };
        let Ok(line) = line.parse::<usize>() else { continue };
        let Some((_, expected)) = source.lines().nth(line - 1).unwrap().split_once("// awaits ")
        else {
            continue;
        };
        let name = name.strip_suffix(" [as above]").unwrap_or(name);
        let name = name.split(" (tests/").next().unwrap();
        assert_eq!(name, expected, "{place}");
        checked += 1;
    }
    let comments = FILES.iter().map(|(_, source)| source.matches("// awaits ").count());
    assert!(checked >= comments.sum::<usize>(), "{checked}");
}

#[test]
fn suspend_points_are_those_of_the_source() {
    let debug = text(program(), &[]);
    let all = listed(&debug);
    assert!(assert_as_written(&all) >= 60);
    assert_awaits_as_commented(&all);

    // The possible waits don't depend on optimisation.
    let release = build_program(Path::new(TARGET), Variant::Release, "awaits");
    assert_eq!(text(&release, &[]), debug);
}

#[test]
fn what_is_awaited_has_its_own_below() {
    let tree = text(program(), &["ways::tried"]);
    let (place, join) = ("tests/awaits/ways.rs", "tokio::try_join!");
    let lines: Vec<_> = tree.split("\n\n").next().unwrap().lines().collect();
    assert!(lines[0].starts_with("async fn awaits::ways::tried ("), "{tree}");
    assert!(lines[1].starts_with("└─ ") && lines[1].ends_with(join), "{tree}");
    assert!(lines[2].starts_with("   ├─ async block in awaits::ways::tried ("), "{tree}");
    assert!(lines[3].starts_with(&format!("   │  └─ {place}:")), "{tree}");
    assert!(lines[3].ends_with("  awaits::ways::leaf"), "{tree}");
    assert!(lines[4].ends_with("  tokio::time::sleep::Sleep"), "{tree}");
    assert_eq!(lines[5], "   └─ awaits::ways::fails", "{tree}");
    assert!(lines[6].ends_with("  awaits::ways::leaf [as above]"), "{tree}");
    assert_eq!(lines.len(), 7, "{tree}");

    let tree = text(program(), &["ways::selected"]);
    let branches: Vec<_> = tree.lines().filter(|line| line.starts_with("│  ")).collect();
    assert_eq!(branches.len(), 6, "four branches, two of them with lines below\n{tree}");
    assert!(branches.contains(&"│  ├─ tokio::time::sleep::Sleep"), "{tree}");

    let tree = text(program(), &["ways::generic"]);
    let one_of: Vec<_> =
        tree.lines().filter(|line| line.starts_with("│  ├") || line.starts_with("│  └")).collect();
    assert_eq!(one_of.len(), 3, "{tree}");
    assert!(tree.contains("─ awaits::ways::ByHand\n"), "{tree}");

    let wrapped = text(program(), &["ways::wrapped"]);
    assert!(wrapped.contains("│  └─ awaits::ways::leaf\n"), "{wrapped}");
}

#[test]
fn dependencies_are_shown_if_they_are_asked_for() {
    let own = listed(&text(program(), &[]));
    assert!(own.iter().all(|listed| listed.file.starts_with("tests/awaits/")));
    let all = listed(&text(program(), &["--all"]));
    assert!(all.len() > own.len() + 10, "{} of {}", own.len(), all.len());
    let is_in_registry = |listed: &&Listed| listed.file.starts_with("tokio-1.");
    assert!(all.iter().any(|listed| is_in_registry(&listed)));
    let named = listed(&text(program(), &["tokio::task::yield_now"]));
    assert!(named.iter().all(|listed| listed.path.contains("yield_now")) && !named.is_empty());

    let none = run(program(), &["no::such::path"]);
    assert_eq!(none.status.code(), Some(1));
    let stderr = String::from_utf8(none.stderr).unwrap();
    assert!(stderr.ends_with("no async fn has `no::such::path` in its path\n"), "{stderr}");
}

#[test]
fn the_page_has_all_of_the_text_and_no_script() {
    let file = folder_of("awaits-page").join("awaits.html");
    assert_eq!(text(program(), &["--html", file.to_str().unwrap()]), "");
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(text(program(), &["--html", "-"]), page);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("<script") && !page.contains("://"));
    for (open, close) in [("<details", "</details>"), ("<ul", "</ul>"), ("<li", "</li>")] {
        assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
    }
    let lines = text(program(), &[]);
    let lines = lines.lines().filter(|line| !line.is_empty()).count();
    let labels = page.matches("<summary>").count() + page.matches("<li><span>").count();
    assert_eq!(labels, lines);
    assert!(page.contains("Timeout&lt;async awaits::ways::leaf&gt;"));
}

#[test]
fn a_file_that_says_too_little_is_told_why() {
    const FULL: &str = "build it with `debug = \"full\"` in its profile";
    // The profile of this workspace, with which the command itself is built, has only lines.
    let lines_only = problem(binary());
    assert!(lines_only.contains("no types") && lines_only.contains(FULL), "{lines_only}");
    let folder = folder_of("awaits-less");
    for (option, part) in [
        ("--strip-all", FULL),
        ("--strip-debug", FULL),
        ("--compress-debug-sections=zlib", "`objcopy --decompress-debug-sections` undoes it"),
    ] {
        let file = folder.join(option.trim_start_matches('-'));
        let done = Command::new("objcopy").arg(option).arg(program()).arg(&file).status();
        if !done.is_ok_and(|status| status.success()) {
            println!("not run: there is no objcopy that has {option}");
            continue;
        }
        let problem = problem(&file);
        assert!(problem.contains(part), "{option}: {problem}");
        assert!(problem.contains(file.to_str().unwrap()), "{option}: {problem}");
    }
    let no_program = folder.join("no-program");
    fs::write(&no_program, "text").unwrap();
    assert!(problem(&no_program).contains("no program or library"));
    assert!(problem(&folder.join("nothing")).contains("can't be read"));
}

/// The command ends soon for any debug information, as that comes from outside.
#[test]
fn damaged_debug_information_does_no_harm() {
    let whole = fs::read(program()).unwrap();
    let file = folder_of("awaits-damaged").join("awaits");
    // Build it before, so that the first run isn't slowed down.
    binary();
    let mut random = 7_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap()
    };
    for round in 0..12 {
        let mut bytes = whole.clone();
        let (from, to) = section(&whole, [".debug_info", ".debug_abbrev", ".debug_str"][round % 3]);
        for _ in 0..1 << (round % 12) {
            bytes[from + next(to - from)] = u8::try_from(next(256)).unwrap();
        }
        if round % 4 == 3 {
            bytes.truncate(next(whole.len()));
        }
        fs::write(&file, &bytes).unwrap();
        let began = Instant::now();
        let output = run(&file, &["--all"]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{round}: {stderr}");
        assert!(stderr.lines().count() <= 1, "{round}: {stderr}");
        assert!(began.elapsed() < Duration::from_secs(60), "{round}");
    }
}

/// Returns the position of a section in an ELF file of 64 bits, by its headers.
fn section(file: &[u8], name: &str) -> (usize, usize) {
    let number = |at: usize, bytes: usize| {
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(&file[at..at + bytes]);
        usize::try_from(u64::from_le_bytes(number)).unwrap()
    };
    let (table, count, names) = (number(0x28, 8), number(0x3c, 2), number(0x3e, 2));
    let header = |i: usize| table + i * 64;
    let names = number(header(names) + 24, 8);
    let is_it = |i: &usize| {
        let at = names + number(header(*i), 4);
        file[at..].starts_with(name.as_bytes()) && file[at + name.len()] == 0
    };
    let i = (0..count).find(is_it).unwrap();
    let offset = number(header(i) + 24, 8);
    (offset, offset + number(header(i) + 32, 8))
}
