//! Writes a table.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use crate::util::clean::clean;

pub(super) use crate::render::export::rows::{Cell, Column, Kind};

/// The number of rows that are written at once. They are in memory until then.
const ROWS_OF_GROUP: usize = 1 << 16;

/// Writes rows, a group of them at a time.
pub(super) struct Table<'a> {
    w: &'a mut dyn Write,
    file: SerializedFileWriter<Vec<u8>>,
    columns: Vec<Values>,
    rows: usize,
}

/// The values of a column that aren't written yet, and whether each row has one.
struct Values {
    values: Typed,
    is_there: Vec<i16>,
}

enum Typed {
    Texts(Vec<ByteArray>),
    Numbers(Vec<i64>),
    Bools(Vec<bool>),
}

impl<'a> Table<'a> {
    pub(super) fn new(columns: &[Column], w: &'a mut dyn Write) -> io::Result<Self> {
        let mut schema = "message row {\n".to_owned();
        for (name, kind) in columns {
            let kind = match kind {
                Kind::Text => format!("BYTE_ARRAY {name} (STRING)"),
                Kind::Number => format!("INT64 {name}"),
                Kind::Bool => format!("BOOLEAN {name}"),
                Kind::Moment => format!("INT64 {name} (TIMESTAMP(MICROS,true))"),
            };
            schema.push_str(&format!("OPTIONAL {kind};\n"));
        }
        schema.push('}');
        let schema = Arc::new(parse_message_type(&schema).map_err(failed)?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("tokio-statemap ", env!("CARGO_PKG_VERSION")).to_owned());
        let properties = Arc::new(properties.build());
        let file = SerializedFileWriter::new(Vec::new(), schema, properties).map_err(failed)?;
        let values = columns.iter().map(|(_, kind)| Values {
            values: match kind {
                Kind::Text => Typed::Texts(Vec::new()),
                Kind::Number | Kind::Moment => Typed::Numbers(Vec::new()),
                Kind::Bool => Typed::Bools(Vec::new()),
            },
            is_there: Vec::new(),
        });
        Ok(Self { w, file, columns: values.collect(), rows: 0 })
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// If the cells don't match the columns.
    pub(super) fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.add(*cell);
        }
        self.rows += 1;
        if self.rows == ROWS_OF_GROUP { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(failed)?;
        for values in &mut self.columns {
            let column = group.next_column().map_err(failed)?;
            values.write(column.ok_or_else(|| io::Error::other("a column is missing"))?)?;
        }
        group.close().map_err(failed)?;
        self.rows = 0;
        // The writer keeps count of its bytes, so they may be taken away.
        self.w.write_all(&std::mem::take(self.file.inner_mut()))
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.write_group()?;
        let rest = self.file.into_inner().map_err(failed)?;
        self.w.write_all(&rest)?;
        self.w.flush()
    }
}

impl Values {
    fn add(&mut self, cell: Cell<'_>) {
        let is_there = match (&mut self.values, cell) {
            (Typed::Texts(texts), Cell::Text(text)) => {
                texts.extend(text.map(|text| ByteArray::from(&*clean(text))));
                text.is_some()
            }
            (Typed::Numbers(numbers), Cell::Number(number)) => {
                // Parquet has no larger number; 2^63 ns are 292 years.
                numbers.extend(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX)));
                number.is_some()
            }
            (Typed::Bools(bools), Cell::Bool(value)) => {
                bools.push(value);
                true
            }
            (_, cell) => unreachable!("{cell:?} is in a column of another kind"),
        };
        self.is_there.push(is_there.into());
    }

    fn write(&mut self, mut column: SerializedColumnWriter<'_>) -> io::Result<()> {
        let is_there = Some(&*self.is_there);
        let written = match &self.values {
            Typed::Texts(texts) => {
                column.typed::<ByteArrayType>().write_batch(texts, is_there, None)
            }
            Typed::Numbers(numbers) => {
                column.typed::<Int64Type>().write_batch(numbers, is_there, None)
            }
            Typed::Bools(bools) => column.typed::<BoolType>().write_batch(bools, is_there, None),
        };
        written.map_err(failed)?;
        column.close().map_err(failed)?;
        self.is_there.clear();
        match &mut self.values {
            Typed::Texts(texts) => texts.clear(),
            Typed::Numbers(numbers) => numbers.clear(),
            Typed::Bools(bools) => bools.clear(),
        }
        Ok(())
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
