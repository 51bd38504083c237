//! The polls: one row for each.

use std::io;

use super::table::Table;
use crate::render::export::Run;
use crate::render::export::rows::for_each_poll;

pub(super) fn write(run: &Run<'_>, id: &str, table: &mut Table<'_>) -> io::Result<()> {
    for_each_poll(run, |row| row.cells(id, |cells| table.row(cells)))
}
