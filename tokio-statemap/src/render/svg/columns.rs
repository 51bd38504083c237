//! A row, reduced to what can be seen: one state per column.

use crate::analysis::picture::{Role, Section, Transition, recorded_ns};

/// Columns in one state: first, end, state.
pub(super) type Run = (u32, u32, u32);

/// A row at the resolution of the picture.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The visible states, from left to right. There is nothing before the first transition.
    pub(super) runs: Vec<Run>,
    /// The columns of long polls: first and end; polls that lie close together are one.
    pub(super) long: Vec<(u32, u32)>,
    /// The exact time in each state in ns, without the gaps in the recording.
    pub(super) totals: Vec<u64>,
}

/// The division of time into columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The length of the picture in ns.
    pub(super) length_ns: u64,
    pub(super) columns: u32,
}

impl Scale {
    /// Divides a picture into `columns`, or fewer where a column would be shorter than a nanosecond.
    pub(super) fn new(length_ns: u64, columns: u32) -> Self {
        let length_ns = length_ns.max(1);
        Self { length_ns, columns: u64::from(columns).min(length_ns) as u32 }
    }

    /// Returns the column that contains a time.
    pub(super) fn column(self, ns: u64) -> u32 {
        let column = u128::from(ns) * u128::from(self.columns) / u128::from(self.length_ns);
        column.min(u128::from(self.columns)) as u32
    }

    /// Returns the time at which a column begins, in ns.
    fn begin(self, column: u32) -> u64 {
        let ns = u128::from(column) * u128::from(self.length_ns);
        ns.div_ceil(u128::from(self.columns)) as u64
    }

    /// Returns the first and end of the columns that a span touches, at least one.
    pub(super) fn touched(self, from_ns: u64, to_ns: u64) -> (u32, u32) {
        let from = self.column(from_ns).min(self.columns - 1);
        let last = self.column(to_ns.saturating_sub(1)).min(self.columns - 1);
        (from, last.max(from) + 1)
    }
}

/// Calls `each` with the spans of a row: start, end, and the transition that begins it.
pub(super) fn spans(
    section: &Section<'_>,
    row: u32,
    length_ns: u64,
    mut each: impl FnMut(u64, u64, Transition),
) {
    let mut open: Option<Transition> = None;
    section.source.walk(row, &mut |next| {
        if let Some(begun) = open.replace(next) {
            each(begun.time_ns, next.time_ns.max(begun.time_ns), begun);
        }
    });
    if let Some(begun) = open {
        each(begun.time_ns, length_ns.max(begun.time_ns), begun);
    }
}

/// The settings for reading a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) long_poll_ns: u64,
    pub(super) gaps: &'a [(u64, u64)],
}

/// Reduces a row. Calls `each_long` with each long poll and the time for which it held its thread.
pub(super) fn reduce(
    section: &Section<'_>,
    row: u32,
    scale: Scale,
    look: Look<'_>,
    mut each_long: impl FnMut(Transition, u64),
) -> Columns {
    let ends = section.states.iter().map(|state| state.role.is_end()).collect();
    let mut reducer = Reducer { scale, ends, ..Reducer::default() };
    let mut totals = vec![0; section.states.len()];
    let mut long: Vec<(u32, u32)> = Vec::new();
    let mut last = None;
    // Long polls less than two pixels apart get one outline.
    let close = scale.columns / 500;
    spans(section, row, scale.length_ns, |from, to, begun| {
        if let Some(total) = totals.get_mut(begun.state as usize) {
            *total += recorded_ns(look.gaps, from, to);
        }
        let held_ns = begun.held_ns.map_or(to - from, |held| held.min(to - from));
        let is_long = section.role_of(begun.state) == Role::Running
            && held_ns > look.long_poll_ns
            && begun.worker.is_some();
        if is_long {
            each_long(begun, held_ns);
            let (first, last) = scale.touched(from, from.saturating_add(held_ns));
            match long.last_mut() {
                Some(before) if before.1 + close >= first => before.1 = last.max(before.1),
                _ => long.push((first, last)),
            }
        }
        reducer.span(from, to, begun.state, is_long);
        last = Some((from, begun.state));
    });
    reducer.flush();
    if let (true, Some((at, state))) = (reducer.runs.is_empty(), last) {
        // The row begins at the very end of the picture.
        let (from, end) = scale.touched(at, at);
        reducer.runs.push((from, end, state));
    }
    Columns { runs: reducer.runs, long, totals }
}

/// Reads spans from left to right and finds the state with the largest share of each column.
#[derive(Debug)]
struct Reducer {
    scale: Scale,
    /// For each state, whether the row has ended in it. Such a state gives way to any other.
    ends: Vec<bool>,
    runs: Vec<Run>,
    column: u32,
    /// The start and end of `column` in ns.
    bounds: (u64, u64),
    /// The states in `column` with their times in ns.
    shares: Vec<(u32, u64)>,
    /// The state that `column` must have.
    forced: Option<u32>,
}

impl Default for Reducer {
    fn default() -> Self {
        Self {
            scale: Scale { length_ns: 1, columns: 1 },
            ends: Vec::new(),
            runs: Vec::new(),
            column: 0,
            bounds: (0, 0),
            shares: Vec::new(),
            forced: None,
        }
    }
}

impl Reducer {
    fn span(&mut self, from: u64, to: u64, state: u32, is_long: bool) {
        if from == to {
            return;
        }
        if from >= self.bounds.0 && to <= self.bounds.1 {
            // A column may contain millions of spans, and finding the column of a time takes a division.
            self.share(state, to - from);
            if is_long {
                self.forced = Some(state);
            }
            return;
        }
        let (first, end) = self.scale.touched(from, to);
        if first != self.column {
            self.flush();
            self.column = first;
        }
        let mut is_seen = false;
        if end - first == 1 {
            self.share(state, (to - from).max(1));
        } else {
            self.share(state, self.scale.begin(first + 1).saturating_sub(from));
            is_seen |= self.flush() == Some(state);
            if first + 1 < end - 1 {
                self.push((first + 1, end - 1, state));
                is_seen = true;
            }
            self.column = end - 1;
            self.share(state, to - self.scale.begin(end - 1).min(to));
        }
        // If no column shows a long poll, its last one must.
        if is_long && !is_seen {
            self.forced = Some(state);
        }
        self.bounds = (self.scale.begin(self.column), self.scale.begin(self.column + 1));
    }

    fn share(&mut self, state: u32, ns: u64) {
        match self.shares.iter_mut().find(|share| share.0 == state) {
            Some(share) => share.1 += ns,
            None => self.shares.push((state, ns)),
        }
    }

    /// Ends the column. Returns its state.
    fn flush(&mut self) -> Option<u32> {
        let is_end = |state: u32| self.ends.get(state as usize).copied().unwrap_or_default();
        // The first one of equal shares.
        let largest = self.shares.iter().rev().max_by_key(|&&(state, ns)| (!is_end(state), ns));
        let state = self.forced.take().or(largest.map(|share| share.0))?;
        self.shares.clear();
        self.push((self.column, self.column + 1, state));
        Some(state)
    }

    fn push(&mut self, run: Run) {
        match self.runs.last_mut() {
            Some(last) if last.1 == run.0 && last.2 == run.2 => last.1 = run.1,
            _ => self.runs.push(run),
        }
    }
}
