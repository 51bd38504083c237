//! The crate's own reader returns the data that was written.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, RowAccessor};

use super::*;
use crate::analysis::picture::why_tests::explained;
use crate::statemap::Labels;
use crate::trace::timeline::Timeline;

fn labels(host: Option<&str>) -> Labels {
    Labels { title: "shop".to_owned(), host: host.map(str::to_owned) }
}

fn read(run: &Run<'_>, name: TableName) -> SerializedFileReader<bytes::Bytes> {
    let mut written = Vec::new();
    write(&[run], name, &mut written).unwrap();
    SerializedFileReader::new(bytes::Bytes::from(written)).unwrap()
}

#[test]
fn each_table_has_its_columns() {
    let (timeline, _) = explained("shop::compute");
    let labels = labels(Some("pod-1"));
    let run = Run::new(&timeline, &labels, None);
    for name in TableName::ALL {
        let file = read(&run, name);
        let schema = file.metadata().file_metadata().schema_descr();
        let columns: Vec<_> = schema.columns().iter().map(|column| column.name()).collect();
        let expected: Vec<_> = name.columns().iter().map(|(name, _)| *name).collect();
        assert_eq!(columns, expected);
    }
}

#[test]
fn the_guide_has_all_columns() {
    let guide = include_str!("../../../guide/export.md");
    for name in TableName::ALL {
        let table = name.file_name().trim_end_matches(".parquet");
        let row = guide.lines().find(|line| line.starts_with(&format!("| `{table}` |")));
        let row = row.unwrap_or_else(|| panic!("the guide has no row of `{table}`"));
        let told: Vec<_> = row.split('`').skip(3).step_by(2).collect();
        let columns: Vec<_> = name.columns().iter().map(|(name, _)| *name).collect();
        assert_eq!(told, columns, "{table}");
    }
}

#[test]
fn the_polls_are_those_of_the_report() {
    let (timeline, longest) = explained("shop::compute");
    let labels = labels(None);
    let run = Run::new(&timeline, &labels, None);
    let file = read(&run, TableName::Polls);
    let polls = timeline.tasks.seen().iter().flat_map(|task| &task.polls);
    let (mut rows, mut own_ns) = (0, 0);
    for (row, poll) in file.get_row_iter(None).unwrap().zip(polls) {
        let row = row.unwrap();
        rows += 1;
        assert_eq!(row.get_long(6).unwrap() as u64, poll.start_ns());
        if poll.key() == longest {
            assert_eq!(row.get_string(21).unwrap(), "shop::compute");
            assert_eq!((row.get_long(23).unwrap(), row.get_long(16).unwrap()), (21, 7));
        }
        let blamed = row.get_column_iter().nth(24).map(|(_, act)| act.clone());
        if blamed != Some(Field::Null) {
            own_ns += row.get_long(13).unwrap() as u64;
        }
    }
    assert_eq!(rows, run.report.counts.polls);
    let blamed =
        run.report.blame.culprits.iter().filter(|culprit| !culprit.blocking_cause.is_empty());
    assert_eq!(own_ns, blamed.map(|culprit| culprit.own_ns).sum::<u64>());
}

#[test]
fn runs_have_ids_of_their_own() {
    let (timeline, _) = explained("shop::compute");
    let named = Timeline { runtime: Some("api".to_owned()), ..timeline.clone() };
    let (labels, other) = (labels(Some("pod-1")), labels(None));
    let runs = [
        Run::new(&timeline, &labels, Some("a title")),
        Run::new(&timeline, &other, None),
        Run::new(&named, &labels, None),
        Run::new(&timeline, &labels, None),
    ];
    let mut ids = ids(&runs.iter().collect::<Vec<_>>());
    let number = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), number, "{ids:?}");
}

#[test]
fn groups_of_rows_follow_each_other() {
    let mut written = Vec::new();
    let columns: &[Column] = &[("n", table::Kind::Number), ("t", table::Kind::Text)];
    let mut table = Table::new(columns, &mut written).unwrap();
    let rows = (1 << 17) + 3_u64;
    for n in 0..rows {
        let text = (n % 3 == 0).then_some("\u{202e}a\n");
        table.row(&[table::Cell::Number(Some(n)), table::Cell::Text(text)]).unwrap();
    }
    table.finish().unwrap();
    let file = SerializedFileReader::new(bytes::Bytes::from(written)).unwrap();
    assert_eq!(file.num_row_groups(), 3);
    let mut n = 0;
    for row in file.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        assert_eq!(row.get_long(0).unwrap(), n);
        match n % 3 {
            0 => assert_eq!(row.get_string(1).unwrap(), "\\u{202e}a\\n"),
            _ => assert!(row.get_string(1).is_err()),
        }
        n += 1;
    }
    assert_eq!(n as u64, rows);
}
