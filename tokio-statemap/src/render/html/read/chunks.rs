//! Reads the rows from the page's columns, which `chunk` writes.

use super::columns::{Bytes, Drawn, Row};
use super::damaged;
use super::origin::File;
use super::parts::{Parts, SectionMeta, StateMeta, TailSection};
use crate::error::ReadError;
use crate::render::html::chunk::{COLUMNS, HAS_DESCRIPTION, NEW_ROW};

/// Reads all rows, and passes them to their files.
pub(super) fn read(
    text: &str,
    parts: &Parts<'_>,
    files: &mut [(usize, File)],
) -> Result<(), ReadError> {
    let mut counts = vec![(0, 0); parts.meta.sections.len()];
    let mut give = |section: usize, row: Row| {
        counts[section].0 += 1;
        counts[section].1 += row.transitions.len() as u64;
        match files.iter_mut().find(|(_, file)| file.section == Some(section)) {
            Some((_, file)) => file.row(row, parts.meta.unit, &parts.meta.sections[section]),
            None => Ok(()),
        }
    };
    let mut at = 0;
    // A row may continue in the next chunk.
    let mut row = None;
    for chunk in &parts.chunks {
        let mut read = || {
            let bytes = chunk.inflate()?;
            let mut bytes = Bytes::new(&bytes);
            let section: usize = bytes.number()?;
            if section < at || section >= parts.meta.sections.len() {
                return Err("its parts are out of order".to_owned());
            }
            if section != at {
                row.take().map_or(Ok(()), |row| give(at, row))?;
                at = section;
            }
            let (meta, tail) = (&parts.meta.sections[section], &parts.tail.sections[section]);
            pieces(bytes, meta, tail, &mut row, &mut |row| give(section, row))
        };
        read().map_err(|problem| damaged(text, chunk.byte, &problem))?;
    }
    let last = row.map_or(Ok(()), |row| give(at, row));
    last.map_err(|problem| damaged(text, text.len(), &problem))?;
    let expected = parts.tail.sections.iter().map(|tail| (tail.rows, tail.transitions));
    match expected.eq(counts) {
        true => Ok(()),
        false => Err(damaged(text, text.len(), "a part of it is missing")),
    }
}

/// Reads the pieces of one chunk. A row that may continue in the next one is left in `row`.
fn pieces(
    mut bytes: Bytes<'_>,
    meta: &SectionMeta,
    tail: &TailSection,
    row: &mut Option<Row>,
    end: &mut impl FnMut(Row) -> Result<(), String>,
) -> Result<(), String> {
    let pieces = bytes.varint()?;
    let mut lengths = [0; COLUMNS];
    for length in &mut lengths {
        *length = bytes.varint()?;
    }
    let mut columns = [bytes; COLUMNS];
    for (column, length) in columns.iter_mut().zip(lengths) {
        *column = Bytes::new(bytes.take(length)?);
    }
    let [mut rows, mut times, mut states, mut workers, mut tags, mut wakers] = columns;
    let is_poll = |state: &StateMeta| state.role == "running";
    let are_polls: Vec<bool> = meta.states.iter().map(is_poll).collect();
    for _ in 0..pieces {
        let (flags, count) = (rows.varint()?, rows.varint()?);
        if flags & NEW_ROW != 0 {
            if let Some(before) = row.replace(new_row(&mut rows, tail, flags)?) {
                end(before)?;
            }
        }
        let row = row.as_mut().ok_or("it goes on with a row that didn't begin")?;
        let mut time: u64 = 0;
        for _ in 0..count {
            time = time.checked_add(times.varint()?).ok_or("a time is too late")?;
            let state: u32 = states.number()?;
            let is_poll = *are_polls.get(state as usize).ok_or("a state isn't there")?;
            let mut worker = None;
            if is_poll && meta.has_workers {
                let value = workers.varint()?;
                let number = (value / 2).checked_sub(1).map(u16::try_from).transpose();
                worker = number.map_err(|_| "a worker's number is too large")?;
                if value % 2 == 1 {
                    workers.varint()?;
                }
            }
            let tag = if meta.has_tags { tags.varint()?.checked_sub(1) } else { None };
            let waker = if is_poll && meta.has_wakers { wakers.varint()? } else { 0 };
            row.transitions.push(Drawn { time, state, worker, tag, waker });
        }
    }
    match [rows, times, states, workers, tags, wakers, bytes].iter().all(|column| column.is_empty())
    {
        true => Ok(()),
        false => Err("a column is too long".to_owned()),
    }
}

fn new_row(rows: &mut Bytes<'_>, tail: &TailSection, flags: u64) -> Result<Row, String> {
    let name = match rows.varint()? {
        0 => rows.text()?.to_owned(),
        number => {
            let prefix = usize::try_from(number - 1).ok().and_then(|n| tail.prefixes.get(n));
            let prefix = prefix.ok_or("a row's name isn't there")?;
            format!("{prefix}{}", rows.varint()?)
        }
    };
    let parent = rows.varint()?.checked_sub(1);
    let description = match flags & HAS_DESCRIPTION {
        0 => None,
        _ => Some(rows.text()?.to_owned()),
    };
    Ok(Row { name, parent, description, transitions: Vec::new() })
}
