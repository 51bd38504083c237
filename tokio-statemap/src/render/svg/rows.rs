//! The drawn rows, as they stand in the file.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::columns::{self, Columns, Look, Scale};
use super::plan::LABELS;
use super::survey::{self, CELLS, Candidate, LongPoll, Order, Survey};
use super::text::{display, escape, fit};
use super::{path, plan};
use crate::analysis::picture::{Picture, Section, SectionKind};
use crate::util::json::array;

/// The minimum size of a row in bytes.
const LEAST: u64 = 150;

/// A row as it stands in the file, without its position.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) section: usize,
    pub(super) group: u32,
    /// The place of the row within its section.
    pub(super) order: Order,
    /// `true` if the row contains the worst poll.
    pub(super) is_worst: bool,
    /// The attributes and the content of the element.
    pub(super) body: String,
    /// The label beside the row, empty if the row is too low for one.
    pub(super) label: String,
}

/// The rows of all sections and their heights.
#[derive(Debug)]
pub(super) struct DrawnRows {
    pub(super) heights: Vec<u32>,
    pub(super) scale: Scale,
    /// The rows, most important first.
    pub(super) drawn: Vec<Drawn>,
}

impl DrawnRows {
    /// Draws rows, the most important first, until `room` bytes are used. The number of columns is as high as
    /// that allows, so that a picture of a few tasks can be zoomed far.
    pub(super) fn draw(picture: &Picture<'_>, survey: &Survey, room: u64) -> Self {
        let candidates = order(picture, survey);
        // Drawing a row takes time in proportion to its events, so the size of many rows is estimated from
        // some. The step is odd because two sections of equal length alternate.
        let step = candidates.len().div_ceil(plan::SAMPLE) | 1;
        let some: Vec<_> = candidates.iter().step_by(step).copied().collect();
        let bytes = |columns: u32| {
            let drawn = Self::draw_at(picture, survey, &some, u64::MAX, columns);
            drawn.bytes() * candidates.len() as u64 / some.len().max(1) as u64
        };
        let mut columns = plan::COLUMNS.start;
        // Twice the columns may take somewhat more than twice the bytes.
        let limit = (room / 5).min(plan::CLOSE_ENOUGH);
        while limit > 0 && columns < plan::COLUMNS.end && bytes(columns) < limit {
            columns *= 2;
        }
        loop {
            let rows = Self::draw_at(picture, survey, &candidates, room, columns);
            if rows.drawn.len() == candidates.len() || columns == plan::COLUMNS.start {
                return rows;
            }
            // The rows outside the sample are larger.
            columns = plan::COLUMNS.start.max(columns / 2);
        }
    }

    /// Returns the size of the rows in bytes.
    fn bytes(&self) -> u64 {
        self.drawn.iter().map(|row| row.body.len() as u64).sum()
    }

    fn draw_at(
        picture: &Picture<'_>,
        survey: &Survey,
        candidates: &[(usize, Candidate)],
        room: u64,
        columns: u32,
    ) -> Self {
        let heights = picture
            .sections
            .iter()
            .zip(&survey.sections)
            .map(|(section, survey)| plan::row_height(section.kind, survey.candidates.len()));
        let scale = Scale::new(picture.length_ns, columns);
        let mut rows = Self { heights: heights.collect(), scale, drawn: Vec::new() };
        let mut room = room;
        let mut groups: BTreeSet<(usize, u32)> = BTreeSet::new();
        for &(section, candidate) in candidates {
            if room < LEAST {
                break;
            }
            let mut row = rows.row(picture, survey, section, candidate);
            // The rest of the row: its position, written twice, and the heading of its group.
            let mut cost = (row.body.len() + row.label.len() + 120) as u64;
            if !groups.contains(&(section, row.group)) {
                cost += 1000;
            }
            if cost <= room {
                room -= cost;
                groups.insert((section, row.group));
                row.body.shrink_to_fit();
                rows.drawn.push(row);
            }
        }
        rows
    }

    fn row(
        &self,
        picture: &Picture<'_>,
        survey: &Survey,
        index: usize,
        candidate: Candidate,
    ) -> Drawn {
        let section = &picture.sections[index];
        let height = self.heights[index];
        let mut name = String::new();
        section.source.name(candidate.row, &mut name);
        let mut polls = Vec::new();
        let mut columns = columns::reduce(
            section,
            candidate.row,
            self.scale,
            Look { long_poll_ns: picture.long_poll_ns_of(section), gaps: &picture.gaps },
            |poll, held_ns| {
                let (start_ns, worker, row) = (poll.time_ns, poll.worker, candidate.row);
                let own_ns = survey.sections[index].own_ns(row, start_ns, held_ns);
                let poll = LongPoll {
                    section: 0,
                    group: 0,
                    row,
                    start_ns,
                    held_ns,
                    own_ns,
                    worker,
                    is_wait: false,
                };
                survey::add(&mut polls, poll);
            },
        );
        let mut held = String::new();
        if let Some(worker) = section.source.worker_index(candidate.row) {
            let worker = (section.origin, worker);
            if let Some(held) = survey.held.get(&worker) {
                columns.long = stretches(&held.cells, self.scale.columns);
            }
            held = held_by(picture, survey.longest_on(worker));
        }
        let mut body = String::new();
        attributes(section, candidate, &columns, &mut body);
        let polls = long_polls(polls);
        if !polls.is_empty() {
            let _ = write!(body, " data-p=\"{polls}\"");
        }
        if held.len() > "[]".len() {
            let _ = write!(body, " data-q=\"{}\"", escape(&held));
        }
        let _ = write!(body, "><title>{}</title>", escape(&display(&name, 200)));
        path::write(&columns, &section.states, height, &mut body);
        if let Some(stretch) = self.worst(picture, survey, index, candidate.row) {
            path::outline(&[stretch], "w", height, &mut body);
        }
        let label = if height >= 9 { label(&name, height) } else { String::new() };
        Drawn {
            section: index,
            group: candidate.group,
            order: candidate.order(section.kind),
            is_worst: survey.worst.is_some_and(|w| (w.section, w.row) == (index, candidate.row)),
            body,
            label,
        }
    }

    /// Returns the columns of the worst poll if this is the row of its task or its worker.
    fn worst(
        &self,
        picture: &Picture<'_>,
        survey: &Survey,
        index: usize,
        row: u32,
    ) -> Option<(u32, u32)> {
        let worst = survey.worst?;
        let is_task = (index, row) == (worst.section, worst.row);
        let section = &picture.sections[index];
        let is_worker = worst.worker.is_some()
            && section.origin == picture.sections[worst.section].origin
            && section.source.worker_index(row) == worst.worker;
        (is_task || is_worker).then(|| {
            self.scale.touched(worst.start_ns, worst.start_ns.saturating_add(worst.held_ns))
        })
    }
}

/// Returns all rows that may be drawn with their sections: first the workers, then the others in turns, then
/// the blocking threads.
fn order(picture: &Picture<'_>, survey: &Survey) -> Vec<(usize, Candidate)> {
    let mut order: Vec<(u8, usize, usize, Candidate)> = Vec::new();
    for (index, (section, survey)) in picture.sections.iter().zip(&survey.sections).enumerate() {
        let turn = match section.kind {
            SectionKind::Workers => 0,
            SectionKind::Tasks | SectionKind::Other => 1,
            SectionKind::Blocking => 2,
        };
        order.extend(
            survey.candidates.iter().enumerate().map(|(rank, row)| (turn, rank, index, *row)),
        );
    }
    order.sort_by_key(|&(turn, rank, index, _)| (turn, rank, index));
    order.into_iter().map(|(_, _, index, row)| (index, row)).collect()
}

fn attributes(section: &Section<'_>, candidate: Candidate, columns: &Columns, to: &mut String) {
    let _ = write!(to, " data-g=\"{}\" data-t=\"", candidate.group);
    for (i, total) in columns.totals.iter().enumerate() {
        let _ = if i > 0 { write!(to, ",{total}") } else { write!(to, "{total}") };
    }
    to.push('"');
    if let Some(description) = section.source.description(candidate.row) {
        let _ = write!(to, " data-d=\"{}\"", escape(&display(description, 200)));
    }
}

/// Returns the longest of a row's long polls by time: start, time for which it held its worker, own time, all
/// in ns, and the worker if known.
fn long_polls(polls: Vec<LongPoll>) -> String {
    let mut text = String::new();
    for poll in survey::longest(polls) {
        if !text.is_empty() {
            text.push(';');
        }
        let _ = write!(text, "{} {} {}", poll.start_ns, poll.held_ns, poll.own_ns);
        if let Some(worker) = poll.worker {
            let _ = write!(text, " {worker}");
        }
    }
    text
}

/// Returns the longest polls that held a worker, as JSON: start, duration, task, location and own time; times
/// in ns.
fn held_by(picture: &Picture<'_>, polls: Vec<LongPoll>) -> String {
    let polls = array(&polls, |poll| {
        let section = &picture.sections[poll.section];
        let mut name = String::new();
        section.source.name(poll.row, &mut name);
        let group = &section.groups[poll.group as usize].label;
        let (name, group) = (display(&name, 60), display(group, 120));
        (poll.start_ns, poll.held_ns, name, group, poll.own_ns)
    });
    polls.into_string()
}

fn label(name: &str, height: u32) -> String {
    escape(&fit(name, f64::from(label_size(height)), f64::from(LABELS - 8)))
}

/// Returns the font size of the label beside a row.
pub(super) fn label_size(height: u32) -> u32 {
    (height - 1).min(11)
}

/// Returns the columns in which a worker was held.
fn stretches(held: &[bool], columns: u32) -> Vec<(u32, u32)> {
    let at = |cell: usize| (cell as u64 * u64::from(columns) / CELLS as u64) as u32;
    let mut stretches: Vec<(u32, u32)> = Vec::new();
    for (cell, _) in held.iter().enumerate().filter(|(_, held)| **held) {
        let (from, to) = (at(cell), at(cell + 1).max(at(cell) + 1));
        match stretches.last_mut() {
            Some(last) if last.1 + columns / 500 >= from => last.1 = to,
            _ => stretches.push((from, to)),
        }
    }
    stretches
}
