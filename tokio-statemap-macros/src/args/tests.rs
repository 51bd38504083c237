use quote::quote;

use super::own::ReportPath;
use super::runtime::{Flavor, UnhandledPanic};
use super::table::{ONLY_OF_TESTS, TokioKeys};
use super::{Args, Kind, names};
use crate::Features;

const ALL: Features =
    Features { record: true, html: true, svg: true, black_box: true, recover: true };

fn read(args: proc_macro2::TokenStream, kind: Kind) -> Result<Args, String> {
    Args::split(args).and_then(|metas| Args::read(metas, kind, ALL)).map_err(|err| err.to_string())
}

fn main(args: proc_macro2::TokenStream) -> Result<Args, String> {
    read(args, Kind::Main)
}

fn error(args: proc_macro2::TokenStream) -> String {
    main(args).err().expect("the arguments are wrong")
}

fn in_the_repository(path: &str) -> Option<String> {
    std::fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))).ok()
}

/// A valid value of each key.
const VALID: [(&str, &str); 34] = [
    ("flavor", r#""multi_thread""#),
    ("worker_threads", "2"),
    ("start_paused", "true"),
    ("crate", r#""tokio""#),
    ("unhandled_panic", r#""ignore""#),
    ("name", r#""mine""#),
    ("tasks", r#""tasks.json""#),
    ("workers", r#"concat!("workers", ".json")"#),
    ("html", r#""statemap.html""#),
    ("svg", r#""statemap.svg""#),
    ("report", "stderr"),
    ("trace", r#""both""#),
    ("spawn_location", "true"),
    ("buffer_capacity", "4096"),
    ("max_events", "1_000"),
    ("keep", r#""last""#),
    ("schedule_latency", "false"),
    ("long_poll", r#""1ms""#),
    ("stacks", "false"),
    ("wakes", "false"),
    ("warn_after", r#""100ms""#),
    ("dump_signal", r#""SIGUSR1""#),
    ("dump_on", r#""poll > 100ms, panic""#),
    ("dump_limit", r#""3/h, 20 files, 500MB""#),
    ("dump_after", r#""1s""#),
    ("black_box", "true"),
    ("recover", r#""a.html""#),
    ("source", "false"),
    ("start_after", r#""1s""#),
    ("duration", r#""1m""#),
    ("max_poll", r#""5ms""#),
    ("max_ready", r#""20ms""#),
    ("configure", "settings::configure"),
    ("hooks", "settings::hooks"),
];

#[test]
fn nothing_is_given() {
    let args = main(quote!()).unwrap();
    assert_eq!(args.runtime.flavor, Flavor::MultiThread);
    assert!(args.runtime_tokens.is_empty());
    assert!(args.own.tasks.is_none() && !args.own.changes_the_runtime());

    let args = read(quote!(), Kind::Test).unwrap();
    assert_eq!(args.runtime.flavor, Flavor::CurrentThread);
}

#[test]
fn the_keys_are_those_of_the_table() {
    let valid: Vec<&str> = VALID.iter().map(|(key, _)| *key).collect();
    let keys: Vec<&str> = names(Kind::Test).collect();
    assert_eq!(valid, keys);
    for key in keys {
        let in_docs = format!("| `{key}` |");
        assert!(docs_table!().lines().any(|row| row.starts_with(&in_docs)), "{key}");
    }
}

#[test]
fn the_library_reads_values_by_the_same_rules() {
    for (path, own, name) in [
        ("tokio-statemap/src/util/duration.rs", include_str!("duration.rs"), "duration.rs"),
        ("tokio-statemap/src/recording/dump_on/values.rs", include_str!("dumps.rs"), "dumps.rs"),
    ] {
        // The published package doesn't contain the file.
        let Some(librarys) = in_the_repository(path) else { continue };
        assert!(librarys == own, "{path} differs from args/{name}");
    }
}

/// Returns the cells of a table's rows by key. A row may be about several keys, which its first cell lists.
fn rows(table: &str) -> Vec<(String, Vec<String>)> {
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = line.trim_matches(['|', ' ']).split(" | ").map(str::to_owned);
        let keys = cells.next().unwrap_or_default();
        let cells: Vec<String> = cells.collect();
        for key in keys.split(", ") {
            rows.push((key.trim_matches('`').to_owned(), cells.clone()));
        }
    }
    rows
}

/// The guide's words may differ, but not the values and defaults.
#[test]
fn the_guide_has_the_same_table() {
    // The published package doesn't contain the guide.
    let Some(guide) = in_the_repository("tokio-statemap/src/guide/keys.md") else { return };
    let (_, table) = guide.split_once("\n| key | value | meaning | default |\n").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    // The guide describes Tokio's keys in a sentence of their own.
    let own: Vec<_> = rows(docs_table!()).into_iter().skip(TokioKeys::NAMES.len()).collect();
    let in_guide = rows(table);
    let keys = |rows: &[(String, Vec<String>)]| rows.iter().map(|row| row.0.clone()).collect();
    let (own_keys, keys_in_guide): (Vec<_>, Vec<_>) = (keys(&own), keys(&in_guide));
    assert_eq!(own_keys, keys_in_guide);
    let (_, sentence) = guide.split_once("are supported:").unwrap();
    let (sentence, _) = sentence.split_once(". ").unwrap();
    assert!(TokioKeys::NAMES.iter().all(|key| sentence.contains(&format!("`{key}`"))));
    for ((key, cells), (_, in_guide)) in own.iter().zip(&in_guide) {
        // The guide's alternatives have no comma.
        let takes = |cells: &[String]| cells[0].replace("`, `", "` `");
        assert_eq!(takes(cells), takes(in_guide), "{key}");
        assert_eq!(cells.last(), in_guide.last(), "{key}");
    }
}

#[test]
fn every_key_by_itself_twice_and_without_a_value() {
    for (key, value) in VALID {
        let once = format!("{key} = {value}");
        // Two of Tokio's keys require another flavor than `main`'s default.
        let flavor = match key {
            "start_paused" | "unhandled_panic" => r#"flavor = "current_thread", "#,
            _ => "",
        };
        let parse = |text: String| text.parse::<proc_macro2::TokenStream>().unwrap();
        let kind = if ONLY_OF_TESTS.contains(&key) { Kind::Test } else { Kind::Main };
        assert!(read(parse(format!("{flavor}{once}")), kind).is_ok(), "{key}");
        assert!(read(parse(format!("{flavor}{once},")), kind).is_ok(), "{key}");
        assert_eq!(error(parse(format!("{once}, {once}"))), format!("`{key}` set multiple times."));
        assert_eq!(
            error(parse(key.to_owned())),
            format!("The `{key}` attribute requires an argument.")
        );
    }
}

#[test]
fn an_unknown_key_lists_the_valid_ones() {
    let expected = "Unknown attribute page is specified; expected one of: `flavor`, \
        `worker_threads`, `start_paused`, `crate`, `unhandled_panic`, `name`, `tasks`, `workers`, \
        `html`, `svg`, `report`, `trace`, `spawn_location`, `buffer_capacity`, `max_events`, `keep`, \
        `schedule_latency`, `long_poll`, `stacks`, `wakes`, `warn_after`, `dump_signal`, `dump_on`, `dump_limit`, \
        `dump_after`, `black_box`, `recover`, `source`, `start_after`, `duration`, \
        `configure`, `hooks`.";
    assert_eq!(error(quote!(page = "page.html")), expected);
    assert_eq!(error(quote!(page = page())), expected);
    assert_eq!(error(quote!(PAGE)), expected);
}

/// Limits are only accepted in tests.
#[test]
fn limits_are_of_tests_that_record_what_they_need() {
    let test = |args| read(args, Kind::Test);
    let own = test(quote!(max_poll = "5ms", max_ready = "1s", trace = "tasks")).unwrap().own;
    assert_eq!((own.max_poll, own.max_ready), (Some(5_000_000), Some(1_000_000_000)));
    assert!(error(quote!(max_poll = "5ms")).contains("`tokio-statemap check --max-poll`"));
    assert!(error(quote!(max_ready = "5ms")).contains("`tokio-statemap check --max-ready`"));
    for (args, message) in [
        (quote!(max_poll = "0s"), "`max_poll` may not be 0."),
        (
            quote!(trace = "workers", max_poll = "5ms"),
            "`max_poll` requires recorded tasks: set `trace` to \"both\" or \"tasks\".",
        ),
        (
            quote!(max_ready = "5ms", schedule_latency = false),
            "`max_ready` requires `schedule_latency`, which records when a task becomes ready.",
        ),
    ] {
        assert_eq!(test(args).err().unwrap(), message);
    }
    let unknown = test(quote!(page = 7)).err().unwrap();
    assert!(unknown.contains("`duration`, `max_poll`, `max_ready`, `configure`"), "{unknown}");
}

#[test]
fn pictures_need_their_features_where_something_is_recorded() {
    let read = |args, record, html, svg| {
        let features = Features { record, html, svg, black_box: svg, recover: svg };
        Args::split(args).and_then(|metas| Args::read(metas, Kind::Main, features))
    };
    let error = |args, html, svg| read(args, true, html, svg).err().unwrap().to_string();
    assert_eq!(
        error(quote!(svg = "a", html = "b"), false, true),
        "The key `html` needs the feature `html` of tokio-statemap."
    );
    assert_eq!(
        error(quote!(html = "b", svg = "a"), true, false),
        "The key `svg` needs the feature `svg` of tokio-statemap."
    );
    assert_eq!(
        error(quote!(black_box = true), true, false),
        "The key `black_box` needs the feature `black-box` of tokio-statemap."
    );
    assert_eq!(
        error(quote!(recover = "a.html"), true, false),
        "The key `recover` needs the feature `recover` of tokio-statemap."
    );
    assert!(read(quote!(svg = "a", black_box = folder()), true, false, true).is_ok());
    assert!(read(quote!(html = "b"), true, true, false).is_ok());
    assert!(read(quote!(html = "b", svg = "a"), false, false, false).is_ok());
    // The key is still checked.
    assert!(read(quote!(html = "b", html = "b"), false, false, false).is_err());
}

#[test]
fn tokios_keys_are_kept_as_written() {
    let args = main(quote! {
        tasks = "t", flavor = "local", long_poll = "1s", unhandled_panic = "shutdown_runtime",
        start_paused = true, hooks = h, name = "n",
    })
    .unwrap();
    assert_eq!(args.runtime.flavor, Flavor::Local);
    assert_eq!(args.runtime.unhandled_panic, Some(UnhandledPanic::ShutdownRuntime));
    assert_eq!(args.runtime.start_paused, Some(true));
    assert_eq!(args.runtime.name.as_deref(), Some("n"));
    let kept = &args.runtime_tokens;
    assert_eq!(
        quote!(#kept).to_string(),
        quote! {
            flavor = "local", unhandled_panic = "shutdown_runtime", start_paused = true, name = "n"
        }
        .to_string()
    );
}

#[test]
fn own_values() {
    let own = main(quote! {
        report = stderr, trace = "none", spawn_location = false, buffer_capacity = 64,
        max_events = 1_000, keep = "first", schedule_latency = false, long_poll = "250us",
        stacks = false, wakes = false, warn_after = "100ms", dump_signal = "SIGUSR2", dump_on = "poll > 1s",
        dump_limit = "1/h", dump_after = "0s", source = false, start_after = "0s", duration = "1.5s",
    })
    .unwrap()
    .own;
    assert!(matches!(own.report, Some(ReportPath::Stderr)));
    assert_eq!(own.trace, Some("None"));
    assert_eq!(own.spawn_location, Some(false));
    assert_eq!(own.buffer_capacity, Some(64));
    assert_eq!(own.max_events, Some(1_000));
    assert_eq!(own.keep, Some("First"));
    assert_eq!(own.schedule_latency, Some(false));
    assert_eq!(own.long_poll, Some(250_000));
    assert_eq!((own.stacks, own.wakes), (Some(false), Some(false)));
    assert_eq!(own.source, Some(false));
    assert_eq!(own.warn_after, Some(100_000_000));
    assert_eq!(own.dump_signal, Some("SIGUSR2"));
    assert_eq!(own.dump_on.as_deref(), Some("poll > 1s"));
    assert_eq!((own.dump_limit.as_deref(), own.dump_after), (Some("1/h"), Some(0)));
    assert_eq!(own.start_after, Some(0));
    assert_eq!(own.duration, Some(1_500_000_000));

    for args in [quote!(report = crate::stderr), quote!(report = "./stderr")] {
        let own = main(args).unwrap().own;
        assert!(matches!(own.report, Some(ReportPath::Path(_))));
    }
    let own = main(quote!(buffer_capacity = 16_777_216)).unwrap().own;
    assert_eq!(own.buffer_capacity, Some(1 << 24));
}

#[test]
fn bad_values() {
    for (args, message) in [
        (quote!(buffer_capacity = 0), "`buffer_capacity` may not be 0."),
        (
            quote!(buffer_capacity = 16_777_217),
            "`buffer_capacity` may be at most 16777216 (2^24) events.",
        ),
        (
            quote!(report = "stderr"),
            "Use `stderr` without quotes to print the report, or a path such as \"./stderr\" to write a \
             file.",
        ),
        (quote!(keep = last), "`keep` takes \"first\" or \"last\"."),
        (quote!(trace = workers), "`trace` takes \"tasks\", \"workers\", \"both\" or \"none\"."),
        (quote!(max_events = 0), "`max_events` may not be 0."),
        (quote!(max_events = "1"), "Failed to parse value of `max_events` as integer."),
        (quote!(max_events = 1 + 1), "Must be a literal"),
        (quote!(trace = true), "Failed to parse value of `trace` as string."),
        (quote!(schedule_latency = 1), "Failed to parse value of `schedule_latency` as bool."),
        (quote!(duration = "0s"), "`duration` may not be 0."),
        (quote!(dump_on = true), "Failed to parse value of `dump_on` as string."),
        (quote!(dump_on = all()), "Must be a literal"),
        (
            quote!(dump_on = "panic, steady > 1s"),
            "`dump_on` is invalid: `steady > 1s` is no trigger; it can be `poll > DURATION`, `stall > DURATION`, `ready > DURATION`, `wait > DURATION`, `wait > DURATION at FILES`, `file`, `file = PATH`, `panic`, or a \
             signal: `SIGUSR1`, `SIGUSR2`, `SIGQUIT` or `SIGIO`.",
        ),
        (
            quote!(dump_limit = "3 pages"),
            "`dump_limit` is invalid: `3 pages` is no limit; it can be a number of pages an hour (`3/h`), of files \
             (`20 files`), or of bytes in `kB`, `MB` or `GB` (`500MB`).",
        ),
        (quote!(worker_threads = 0), "`worker_threads` may not be 0."),
        (quote!(core_threads = 1), "Attribute `core_threads` is renamed to `worker_threads`"),
        (quote!(tasks("a")), "Unknown attribute inside the macro"),
        (quote!(keep = "all"), "Unknown value `all` of `keep`; expected \"first\" or \"last\"."),
        (
            quote!(configure = "path"),
            "Failed to parse value of `configure` as path: expected the path of a \
             `fn(&mut tokio::runtime::Builder)`.",
        ),
        (
            quote!(start_paused = true),
            "The `start_paused` option requires the `current_thread` runtime flavor. Use \
             `#[tokio_statemap::main(flavor = \"current_thread\")]`",
        ),
    ] {
        assert_eq!(error(args), message);
    }
}
