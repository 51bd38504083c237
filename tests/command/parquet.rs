//! `render -o run.parquet`: the tables, as another reader has them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use tests::{planted, real};
use tokio_statemap::Timeline;

use super::binary::{folder, names_in, run};
use super::export::write;

fn table(folder: &Path, name: &str) -> SerializedFileReader<File> {
    let file = File::open(folder.join("run.parquet").join(name)).unwrap();
    SerializedFileReader::new(file).unwrap()
}

fn columns(table: &SerializedFileReader<File>) -> Vec<String> {
    let schema = table.metadata().file_metadata().schema_descr();
    schema.columns().iter().map(|column| column.name().to_owned()).collect()
}

fn rows(table: &SerializedFileReader<File>) -> Vec<Row> {
    table.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field<'a>(row: &'a Row, column: &str) -> &'a Field {
    row.get_column_iter().find(|(name, _)| *name == column).unwrap().1
}

fn number(row: &Row, column: &str) -> u64 {
    match field(row, column) {
        Field::Long(number) => *number as u64,
        other => panic!("{column}: {other:?}"),
    }
}

/// Writes the tables of a run into a folder, and returns that and the run as it was read.
fn tables_of(name: &str, timeline: &Timeline) -> (std::path::PathBuf, Timeline) {
    let folder = folder(&format!("parquet_{name}"));
    let timeline = write(&folder, timeline);
    run(&folder, "render tasks.json workers.json -o run.parquet").stdout();
    (folder, timeline)
}

#[test]
fn the_guide_has_all_columns() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tokio-statemap/src/guide/export.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (folder, _) = tables_of("columns", &planted::blocked());
    let names = names_in(&folder.join("run.parquet"));
    assert_eq!(names.len(), 6, "{names:?}");
    for name in names {
        let stem = name.trim_end_matches(".parquet");
        let row = guide.lines().find(|line| line.starts_with(&format!("| `{stem}` |")));
        let row = row.unwrap_or_else(|| panic!("the guide has no row of `{stem}`"));
        let told: Vec<_> = row.split('`').skip(3).step_by(2).collect();
        assert_eq!(told, columns(&table(&folder, &name)), "{stem}");
    }
}

#[test]
fn the_polls_are_those_of_the_report() {
    for (name, timeline) in [("taken", planted::verdicts::partly_taken()), ("real", real::run())] {
        let (folder, timeline) = tables_of(name, &timeline);
        let report = timeline.report();
        let rows = rows(&table(&folder, "polls.parquet"));
        assert_eq!(rows.len() as u64, report.counts.polls);
        let polls = timeline.tasks.iter().flat_map(|task| &task.polls);
        for (row, poll) in rows.iter().zip(polls) {
            assert_eq!(number(row, "start_ns"), poll.start_ns());
        }
        if name == "taken" {
            let (nth, own_ns, length_ns) = planted::verdicts::LONGEST;
            let start_ns = (20 + 50 * nth as u64) * 1_000_000;
            let row = rows.iter().find(|row| number(row, "start_ns") == start_ns).unwrap();
            assert_eq!(*field(row, "blamed_function"), Field::Str("shop::nap".to_owned()));
            assert_eq!(number(row, "blamed_line"), 21);
            assert_eq!(number(row, "run_delay_ns"), length_ns - own_ns);
        }
        let is_blamed = |row: &&Row| *field(row, "blocking_cause") != Field::Null;
        let own_ns: u64 = rows.iter().filter(is_blamed).map(|row| number(row, "own_ns")).sum();
        let culprits = &report.blame.culprits;
        let blamed = culprits.iter().filter(|culprit| !culprit.blocking_cause.is_empty());
        assert_eq!(own_ns, blamed.map(|culprit| culprit.own_ns).sum::<u64>());
        assert!(own_ns > 0);
    }
}

#[test]
fn runs_have_ids_of_their_own() {
    let folder = folder("parquet_ids");
    for (name, runtime) in
        [("one", None), ("other", Some("\u{202e}a\n".to_owned())), ("third", None)]
    {
        let mut timeline = planted::blocked();
        timeline.runtime = runtime;
        // The tasks and the workers of a run are matched by it.
        timeline.utc_at_zero += std::time::Duration::from_secs(u64::from(name == "third"));
        fs::create_dir(folder.join(name)).unwrap();
        write(&folder.join(name), &timeline);
    }
    let files =
        "one/tasks.json one/workers.json other/tasks.json other/workers.json third/tasks.json";
    run(&folder, &format!("render {files} -o run.parquet")).stdout();
    let rows = rows(&table(&folder, "run.parquet"));
    let ids: BTreeSet<_> = rows.iter().map(|row| field(row, "run").to_string()).collect();
    assert_eq!((rows.len(), ids.len()), (3, 3), "{ids:?}");
    let runtimes: Vec<_> = rows.iter().map(|row| field(row, "runtime").clone()).collect();
    let cleaned = Field::Str("\\u{202e}a\\n".to_owned());
    assert!(runtimes.contains(&cleaned) && runtimes.contains(&Field::Null), "{runtimes:?}");
}

#[test]
fn groups_of_rows_follow_each_other() {
    // More than twice as many as are in a group.
    let (folder, timeline) = tables_of("groups", &planted::verdicts::saturated(70, 2_000, 1_000));
    let table = table(&folder, "polls.parquet");
    assert_eq!(table.num_row_groups(), 3);
    let rows = rows(&table);
    let polls = timeline.tasks.iter().flat_map(|task| &task.polls);
    assert!(rows.iter().map(|row| number(row, "start_ns")).eq(polls.map(|poll| poll.start_ns())));
    assert_eq!(rows.len(), 140_000);
}
