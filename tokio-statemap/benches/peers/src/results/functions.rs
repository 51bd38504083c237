//! The text of `FUNCTIONS.md`, about tools that look into async functions.

use std::fmt::Write as _;

use super::tables::{self, Column, column, over};
use crate::bounds::functions::{a_function, check};
use crate::callgrind::INSTRUCTIONS;
use crate::machine;
use crate::measure::CPU_NS;
use crate::plan::Plan;
use crate::samples::{Samples, Spread};
use crate::variants::Variant;
use crate::workloads::{Kind, Workload};

const HOW: &str = "
A task is polled, and the poll goes through a chain of 1, 4 or 16 async functions. Each of them calls the
next one, boxed, and the last one yields. 16 such tasks take turns on one thread. *Polls*: the chain is called
once, and polled again and again. *Calls*: it is called again and again, and each call is polled twice.

Figures are medians, with the quartiles in brackets; those of the row *no hooks* are its own, and all others are
beyond that row in the same turn, in which all variants run one after the other, each in a process of its own.
*Each more* is what one function more takes, by 16 functions and by 1. ns are of CPU time, of all threads of
the process. Instructions are callgrind's: the difference between a longer and a shorter run; the kernel's aren't
seen, and under valgrind a clock that is read by `clock_gettime`, as those of await-tree and tokio-metrics are, is a
system call.

- Ours records polls, too, in all its rows but where nothing is recorded: `schedule_latency = false`,
  `keep = \"last\"`. Without *where tasks wait* it is `wakes = false`, as *ours, lean* of [RESULTS.md](RESULTS.md).
- fastrace has a root span for each task, and a reporter that drops what it gets. `trace` notes when a call
  begins and ends, and nothing of its polls. So does hotpath's `measure`, of which calls that go on cost little: see
  *Calls*.
- tracing has no layer: what a subscriber does with the spans comes on top.
- hotpath is without its server. It and fastrace have a thread that adds up: what it did until the end is in
  their figures, and what it did not is missing.
";

/// The features of each tool: the place where a task waits, the times of its functions, the tree,
/// and the required annotations.
const GIVES: [(&str, [&str; 4]); 9] = [
    (
        "ours",
        [
            "all async functions, each with its line, and since when",
            "no; of each poll of the task",
            "all tasks",
            "nothing",
        ],
    ),
    (
        "ours, `instrument`",
        [
            "the same, and since when each call goes on",
            "of calls: on the thread, own, waiting; percentiles",
            "all tasks",
            "functions whose times are wanted",
        ],
    ),
    (
        "await-tree",
        ["the annotated calls, and since when", "no", "all tasks", "the spawn and each call"],
    ),
    ("async-backtrace", ["the annotated functions", "no", "all tasks", "each function"]),
    (
        "fastrace, `trace`",
        ["no", "of calls: from begin to end", "of spans that ended", "the spawn and each function"],
    ),
    (
        "fastrace, `enter_on_poll`",
        ["no", "of each poll, as a span", "of spans that ended", "the spawn and each function"],
    ),
    (
        "hotpath, `measure`",
        ["no", "of calls: from begin to end; percentiles", "no", "each function"],
    ),
    (
        "hotpath, `future = true`",
        ["no", "of calls: from begin to end; percentiles; of polls", "no", "each function"],
    ),
    ("tokio-metrics", ["no", "no; of all polls of a task", "no", "the spawn"]),
];

pub(super) fn text(plan: &Plan, samples: &Samples) -> String {
    let mut text = String::from(
        "# What it costs to look into async functions\n\n\
         Written by `cargo run --release --manifest-path tokio-statemap/benches/peers/Cargo.toml -- functions`, \
         never by hand.\n\n",
    );
    text += &machine::describe(&machine::OF_FUNCTIONS);
    if plan.turns > 0 {
        let _ = writeln!(text, "- {} turns", plan.turns);
    }
    text += HOW;
    text += &gives();
    text += &tables::bounds(&check(samples));
    text += &polls(samples);
    text += &calls(samples);
    text += &features(samples);
    text
}

fn gives() -> String {
    let mut text = String::from(
        "\n## What they tell\n\n\
         | | where a task waits | times of functions | a tree | to be annotated |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for (who, what) in GIVES {
        let _ = writeln!(text, "| {who} | {} |", what.join(" | "));
    }
    text
}

const METRICS: [(&str, &str); 2] = [(INSTRUCTIONS, "instructions"), (CPU_NS, "ns")];

fn polls(samples: &Samples) -> String {
    let mut columns = Vec::new();
    for (metric, name) in METRICS {
        for kind in [Kind::Waits(1), Kind::Waits(4), Kind::Waits(16)] {
            columns.push(figure(samples, format!("{name}, {}", kind.functions()), kind, metric));
        }
        columns.push(column(format!("{name}, each more"), move |variant| {
            let each = Spread::from_figures(a_function(samples, variant, metric))?;
            (variant != Variant::None).then(|| over(each))
        }));
    }
    table(Kind::Waits(1), &columns)
}

fn calls(samples: &Samples) -> String {
    let of = |(metric, name)| figure(samples, format!("{name} a call"), Kind::Calls(4), metric);
    table(Kind::Calls(4), &METRICS.map(of))
}

fn features(samples: &Samples) -> String {
    let of = |(metric, name)| figure(samples, format!("{name} a poll"), Kind::Waits(0), metric);
    table(Kind::Waits(0), &METRICS.map(of))
}

fn table(kind: Kind, columns: &[Column]) -> String {
    tables::table(kind.title(), kind.variants(), |variant| kind.slowness(variant), columns)
}

/// Returns the time per unit without hooks, and the additional time of each other variant.
fn figure<'a>(samples: &'a Samples, head: String, kind: Kind, metric: &'static str) -> Column<'a> {
    let workload = Workload { kind, workers: 0 };
    column(head, move |variant| match variant {
        Variant::None => {
            let own =
                Spread::from_figures(samples.figures((workload, variant), metric).iter().copied())?;
            Some(format!("{:.1}", own.median))
        }
        _ => Spread::from_figures(samples.over_none((workload, variant), metric)).map(over),
    })
}
