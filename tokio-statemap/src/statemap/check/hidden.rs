//! Tests that errors escape what they quote from a file: it can't move a terminal's cursor, change the direction of
//! text, begin a line, or hide.

use std::error::Error as _;
use std::io;

use super::{check, check_ours};
use crate::Error;
use crate::statemap::read::{ReadError, read};
use crate::util::clean::is_hidden;
use crate::util::json;

/// ESC, RLO, newline, NUL, line separator, DEL, CSI as one character, and characters that are not drawn.
const HIDDEN: [char; 12] = [
    '\u{1b}',
    '\u{202e}',
    '\n',
    '\0',
    '\u{2028}',
    '\u{7f}',
    '\u{9b}',
    '\r',
    '\u{200b}',
    '\u{feff}',
    '\u{e0041}',
    '\u{3164}',
];

const STATES: &str = r#"{"a":{"value":0},"b":{"value":1}}"#;
const TASKS: &str = r##"{"start":[1,2],"title":"t","states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"}},"entityKind":"Task"}"##;

/// Files with a name in each place that an error quotes. `@` stands for a string with the name.
fn files() -> Vec<String> {
    let metadata = |rest: &str| format!(r#"{{"start":[0,0],"title":"t",{rest}}}"#);
    let others = metadata(&format!(r#""states":{STATES}"#));
    let with = |records: &str| format!("{others}\n{records}\n");
    let ours = |records: &str| format!("{TASKS}\n{records}\n");
    vec![
        // Metadata.
        format!(r#"{{"start":@,"title":"t","states":{STATES}}}"#),
        format!(r#"{{"start":[@],"title":"t","states":{STATES}}}"#),
        format!(r#"{{"start":[0,0],"title":[@],"states":{STATES}}}"#),
        metadata(r#""states":@"#),
        metadata(r#""states":{@:7}"#),
        metadata(r#""states":{@:{}}"#),
        metadata(r#""states":{@:{"value":1}}"#),
        metadata(r#""states":{@:{"value":@}}"#),
        metadata(r#""states":{@:{"value":0,"color":[@]}}"#),
        metadata(r#""states":{"a":{"value":0,@:1}}"#),
        metadata(r#""states":{@:{"value":0},"b":{"value":0}}"#),
        metadata(&format!(r#""states":{STATES},@:1"#)),
        metadata(&format!(r#""states":{STATES},"host":[@]"#)),
        // No record, or an unknown one.
        "@".to_owned(),
        with("@"),
        with("[@]"),
        with(r#"{"what":@}"#),
        with(r#"{@:1}"#),
        // Data of an entity.
        with(r#"{"time":@,"entity":"e","state":0}"#),
        with(r#"{"time":"1","entity":[@],"state":0}"#),
        with(r#"{"time":"1","entity":"e","state":@}"#),
        with(r#"{"time":"1","entity":"e","state":0,"tag":[@]}"#),
        with(r#"{"time":"1","entity":"e","state":0,@:0}"#),
        with(r#"{"time":"1","entity":@,"state":0}{"time":"1","entity":@,"state":0}"#),
        with(r#"{"time":"2","entity":@,"state":0}{"time":"1","entity":@,"state":0}"#),
        // Other records.
        with(r#"{"state":0,"tag":[@]}"#),
        with(r#"{"state":@,"tag":"t"}"#),
        with(r#"{"entity":"e","description":[@]}"#),
        with(r#"{"entity":"e","description":"d",@:0}"#),
        with(r#"{"time":"1","entity":"e","event":[@]}"#),
        with(r#"{"time":"1","entity":"e","event":"e","target":[@]}"#),
        with(r#"{"time":"1","entity":"e","event":"e",@:0}"#),
        // Only the strict check finds these.
        with(r#"{"time":"1","entity":"e","state":0,"tag":@}"#),
        ours(r#"{"time":"1","entity":"task-1","state":0,"tag":@}"#),
    ]
}

/// Returns the errors of all ways to read a file.
fn errors(file: &str) -> Vec<ReadError> {
    let ways = [read(file.as_bytes()), check(file.as_bytes()), check_ours(file.as_bytes())];
    ways.into_iter().filter_map(Result::err).collect()
}

#[test]
fn an_error_shows_all_that_it_quotes() {
    let mut quoted = 0;
    for (index, file) in files().iter().enumerate() {
        let mut is_quoted = false;
        for hidden in HIDDEN {
            let name = format!("a{hidden}b");
            // JSON allows most of these characters as they are, and all of them as escapes.
            let escaped = name.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
            for name in [json::string(&name), format!("\"{}\"", escaped.collect::<String>())] {
                let file = file.replace('@', &name);
                let errors = errors(&file);
                assert!(!errors.is_empty(), "nothing is wrong with {file}");
                for error in errors {
                    let told = [
                        error.to_string(),
                        error.problem.clone(),
                        format!("{error:?}"),
                        Error::from(error).to_string(),
                    ];
                    for told in told {
                        assert!(!told.chars().any(is_hidden), "{told:?} of {file}");
                        is_quoted |= told.contains(&hidden.escape_default().to_string());
                    }
                }
            }
        }
        quoted += usize::from(is_quoted);
        println!("{index}: {is_quoted}");
    }
    // Some errors quote nothing, as the file is also wrong in other places.
    assert!(quoted >= 25, "only {quoted} quote what is in the file");
}

/// A message is never a megabyte long, whatever the file contains.
#[test]
fn an_error_is_one_short_line() {
    let name = json::string(&"long \u{1b}".repeat(3_000));
    for file in files() {
        for error in errors(&file.replace('@', &name)) {
            let told = error.to_string();
            assert!(told.chars().count() < 1_500, "{} characters: {}…", told.len(), &told[..200]);
        }
    }
}

/// The error of a reader is escaped too, but unchanged in the source.
#[test]
fn an_error_of_the_reader_is_shown_as_well() {
    struct Fails;
    impl io::Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no\u{1b}[2J\nmore"))
        }
    }
    let error = read(Fails).unwrap_err();
    assert_eq!(error.to_string(), "line 1, byte 0: reading failed: no\\u{1b}[2J\\nmore");
    assert_eq!(error.source().unwrap().to_string(), "no\u{1b}[2J\nmore");
}
