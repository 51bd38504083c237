//! A layer that notes each call with the time that the tested layer read, and computes anew what came of them.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::recorder::hot::spans::tests::LAST;
use crate::recorder::spans::SpansSeen;

thread_local! {
    /// `true` on a thread of the blocking pool.
    pub(super) static IS_BLOCKING: Cell<bool> = const { Cell::new(false) };
}

#[derive(Clone, Debug)]
enum Call {
    Open { name: &'static str },
    Set { field: &'static str, value: String },
    Enter { task: Option<u64> },
    Exit,
    Close,
}

#[derive(Clone, Debug)]
struct Noted {
    /// The number of the span, in the order of their openings.
    span: usize,
    thread: ThreadId,
    ticks: u64,
    call: Call,
}

#[derive(Debug, Default)]
struct Log {
    noted: Vec<Noted>,
    /// The numbers of open spans.
    numbers: HashMap<u64, usize>,
    opened: usize,
}

/// Its calls come after those of the tested layer, on the same thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Oracle(Arc<Mutex<Log>>);

impl Oracle {
    fn note(&self, id: &Id, call: Call) {
        let mut log = self.0.lock().unwrap();
        let span = match call {
            Call::Open { .. } => {
                let number = log.opened;
                log.opened += 1;
                log.numbers.insert(id.into_u64(), number);
                number
            }
            _ => log.numbers[&id.into_u64()],
        };
        // Nothing is compared of what happens while nothing is recorded.
        let ticks = LAST.get().unwrap_or(0);
        log.noted.push(Noted { span, thread: thread::current().id(), ticks, call });
    }
}

struct Values<'a>(&'a Oracle, &'a Id);

impl Visit for Values<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.note(self.1, Call::Set { field: field.name(), value: format!("{value:?}") });
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Oracle {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        self.note(id, Call::Open { name: attributes.metadata().name() });
        attributes.record(&mut Values(self, id));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(&mut Values(self, id));
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        // Those of the blocking pool are polled by no worker.
        let task = tokio::task::try_id().filter(|_| !IS_BLOCKING.get());
        let task = task.map(|id| id.to_string().parse().expect("a number"));
        self.note(id, Call::Enter { task });
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        self.note(id, Call::Exit);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.note(&id, Call::Close);
    }
}

/// A time in which a thread was in a span: from and to in ticks, and the task if it is one.
type Stint = (u64, u64, Option<u64>);

/// A span that a thread is in: its number, since when, and the task.
type Entered = (usize, u64, Option<u64>);

#[derive(Debug, Default)]
struct Span {
    name: &'static str,
    values: BTreeMap<&'static str, String>,
    opened: u64,
    closed: Option<u64>,
    own: u64,
    stints: Vec<Stint>,
}

impl Span {
    fn label(&self) -> (&'static str, String) {
        let values = ["late", "order"].into_iter().filter_map(|name| self.values.get(name));
        (self.name, values.cloned().collect::<Vec<_>>().join(" "))
    }

    /// The time in which any thread was in it: that between two neighbouring times, where one was.
    fn running(&self) -> u64 {
        let mut times: Vec<_> = self.stints.iter().flat_map(|&(from, to, _)| [from, to]).collect();
        times.sort_unstable();
        let is_in = |at: u64| self.stints.iter().any(|&(from, to, _)| from <= at && at < to);
        times.windows(2).filter(|pair| is_in(pair[0])).map(|pair| pair[1] - pair[0]).sum()
    }
}

impl Oracle {
    fn spans(&self) -> Vec<Span> {
        let log = self.0.lock().unwrap();
        let mut spans: Vec<Span> = Vec::new();
        // The spans that each thread is in, with the times of their entries, and when that last changed.
        let mut threads: HashMap<ThreadId, (Vec<Entered>, u64)> = HashMap::new();
        for Noted { span, thread, ticks, call } in log.noted.iter().cloned() {
            let (stack, since) = threads.entry(thread).or_default();
            if matches!(call, Call::Enter { .. } | Call::Exit) {
                if let Some(&(innermost, ..)) = stack.last() {
                    spans[innermost].own += ticks.saturating_sub(*since);
                }
                *since = ticks;
            }
            match call {
                Call::Open { name } => {
                    assert_eq!(span, spans.len());
                    spans.push(Span { name, opened: ticks, ..Span::default() });
                }
                Call::Set { field, value } => drop(spans[span].values.insert(field, value)),
                Call::Enter { task } => stack.push((span, ticks, task)),
                Call::Exit => {
                    let place = stack.iter().rposition(|entered| entered.0 == span).unwrap();
                    let (_, from, task) = stack.remove(place);
                    spans[span].stints.push((from, ticks.max(from), task));
                }
                Call::Close => {
                    let last = spans[span].stints.iter().map(|stint| stint.1).max();
                    spans[span].closed = Some(ticks.max(last.unwrap_or(0)));
                }
            }
        }
        spans
    }

    /// Compares what the layer saw with what was noted, to the tick.
    pub(super) fn compare(&self, seen: &SpansSeen, seed: u64) {
        let spans = self.spans();
        let closed: Vec<_> = spans.iter().filter(|span| span.closed.is_some()).collect();
        // The length, running and own time of each span, by label.
        type Sums = (u64, u64, u64, u64, u64);
        let mut sums: BTreeMap<(&str, String), Sums> = BTreeMap::new();
        let mut each = Vec::new();
        for span in &closed {
            let length = span.closed.unwrap().saturating_sub(span.opened);
            let (count, all, longest, running, own) = sums.entry(span.label()).or_default();
            *count += 1;
            *all += length;
            *longest = length.max(*longest);
            *running += span.running();
            *own += span.own;
            let mut stints: Vec<_> = span.stints.iter().map(|&(from, to, _)| (from, to)).collect();
            stints.sort_unstable();
            each.push((span.label(), span.opened, span.closed.unwrap(), stints));
        }
        let mut found = BTreeMap::new();
        for (number, of) in seen.sums.iter().enumerate().filter(|(_, of)| of.lengths.count > 0) {
            let label = &seen.labels[number];
            let lengths = (of.lengths.count, of.lengths.sum_ticks, of.lengths.longest_ticks);
            let all = (lengths.0, lengths.1, lengths.2, of.running_ticks, of.own_ticks);
            found.insert((label.name, label.fields.clone()), all);
        }
        assert_eq!(found, sums, "seed {seed}");
        let mut found = Vec::new();
        for span in &seen.newest {
            let label = &seen.labels[span.label];
            let mut stints: Vec<_> =
                span.stints.iter().map(|stint| (stint.enter_ticks, stint.exit_ticks)).collect();
            stints.sort_unstable();
            let label = (label.name, label.fields.clone());
            found.push((label, span.opened_ticks, span.closed_ticks, stints));
        }
        each.sort();
        found.sort();
        assert_eq!(found, each, "seed {seed}");
        let open = (spans.len() - closed.len()) as u64;
        assert_eq!((seen.dropped, seen.cut, seen.lost, seen.open), (0, 0, 0, open), "seed {seed}");
        self.compare_tasks(&spans, seen, seed);
    }

    /// The tasks that polled, as far as Tokio tells them.
    fn compare_tasks(&self, spans: &[Span], seen: &SpansSeen, seed: u64) {
        let mut tasks = HashMap::new();
        for span in &seen.newest {
            for stint in &*span.stints {
                let key = (span.opened_ticks, stint.enter_ticks, stint.exit_ticks);
                tasks.entry(key).or_insert_with(Vec::new).push(stint.task);
            }
        }
        for span in spans.iter().filter(|span| span.closed.is_some()) {
            for &(from, to, task) in &span.stints {
                let found = &tasks[&(span.opened, from, to)];
                if let Some(task) = task {
                    assert!(found.contains(&task), "seed {seed}: {found:?} are not {task}");
                }
            }
        }
    }
}
