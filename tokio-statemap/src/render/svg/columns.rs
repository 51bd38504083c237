//! A row, reduced to what can be seen of it: one state a column.

use crate::analysis::picture::{Role, Section, Transition, recorded_ns};

/// Columns in one state: from, to, state.
pub(super) type Run = (u32, u32, u32);

/// A row at the picture's resolution.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// What is seen, from left to right. Before the first transition there is nothing.
    pub(super) runs: Vec<Run>,
    /// Where a poll is long: from and to, those close by taken together.
    pub(super) long: Vec<(u32, u32)>,
    /// How long the row was in each state, in ns: exactly, without the gaps in the recording.
    pub(super) totals: Vec<u64>,
}

/// How time is divided into columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// How long the picture is, in ns.
    pub(super) length_ns: u64,
    pub(super) columns: u32,
}

impl Scale {
    /// `columns` of a picture, but none that is shorter than a nanosecond.
    pub(super) fn new(length_ns: u64, columns: u32) -> Self {
        let length_ns = length_ns.max(1);
        Self { length_ns, columns: u64::from(columns).min(length_ns) as u32 }
    }

    /// The column that a moment lies in.
    pub(super) fn column(self, ns: u64) -> u32 {
        let column = u128::from(ns) * u128::from(self.columns) / u128::from(self.length_ns);
        column.min(u128::from(self.columns)) as u32
    }

    /// When a column begins, in ns.
    fn begin(self, column: u32) -> u64 {
        let ns = u128::from(column) * u128::from(self.length_ns);
        ns.div_ceil(u128::from(self.columns)) as u64
    }

    /// The columns that a stretch of time touches: one at least.
    pub(super) fn touched(self, from_ns: u64, to_ns: u64) -> (u32, u32) {
        let from = self.column(from_ns).min(self.columns - 1);
        let last = self.column(to_ns.saturating_sub(1)).min(self.columns - 1);
        (from, last.max(from) + 1)
    }
}

/// Calls `each` with the spans of a row: from, to, and the transition that it starts with.
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

/// What a row is looked at with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) long_poll_ns: u64,
    /// Whether it is known which polls were on workers: only those can be long then.
    pub(super) has_workers: bool,
    /// The gaps in the recording.
    pub(super) gaps: &'a [(u64, u64)],
}

/// Reduces a row. `each_long` is told of each long poll, and how long it held its thread.
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
    // What is less than two pixels apart is outlined as one.
    let close = scale.columns / 500;
    spans(section, row, scale.length_ns, |from, to, begun| {
        if let Some(total) = totals.get_mut(begun.state as usize) {
            *total += recorded_ns(look.gaps, from, to);
        }
        let held_ns = begun.held_ns.map_or(to - from, |held| held.min(to - from));
        let is_long = section.role_of(begun.state) == Role::Running
            && held_ns > look.long_poll_ns
            && (begun.worker.is_some() || !look.has_workers);
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
        // It came to be at the very end.
        let (from, end) = scale.touched(at, at);
        reducer.runs.push((from, end, state));
    }
    Columns { runs: reducer.runs, long, totals }
}

/// Takes spans from left to right, and sees which state has the largest share of each column.
#[derive(Debug)]
struct Reducer {
    scale: Scale,
    /// Of each state, whether nothing is there any more: it gives way to any other.
    ends: Vec<bool>,
    runs: Vec<Run>,
    column: u32,
    /// From and to in ns, of `column`.
    bounds: (u64, u64),
    /// What lies in `column`: state and ns.
    shares: Vec<(u32, u64)>,
    /// The state of `column`, if it must not be another.
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
            // There may be millions in a column, and to find a moment's takes a division.
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
        // A long poll that no column shows: its last one does.
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

    /// Ends the column; gives its state.
    fn flush(&mut self) -> Option<u32> {
        let is_end = |state: u32| self.ends.get(state as usize).copied().unwrap_or_default();
        // Of equals the first.
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
