//! A table for each program.

use std::fmt::Write as _;

use super::Measured;
use crate::accounts::Account;
use crate::callgrind::INSTRUCTIONS;
use crate::measure::{CPU_NS, P50_NS, P99_NS, PEAK_BYTES, REQUESTS_PER_S};
use crate::samples::Spread;
use crate::variants::Variant;
use crate::workloads::{Kind, Workload};

/// Nothing if nothing was measured.
pub(super) fn of(kind: Kind, measured: &Measured) -> String {
    let columns = if kind == Kind::Http { service(measured) } else { storm(kind, measured) };
    let all = if kind == Kind::Http { &Variant::SERVICE[..] } else { &Variant::ALL[..] };
    let mut rows = String::new();
    for &variant in all {
        let cells: Vec<String> = columns.iter().map(|column| (column.cell)(variant)).collect();
        // It couldn't be built.
        if cells.iter().all(|cell| cell == MISSING) {
            continue;
        }
        let part = match kind.slowness(variant) {
            1 => String::new(),
            slowness => format!(" (1/{slowness} of the work)"),
        };
        let _ = writeln!(rows, "| {}{part} | {} |", variant.title(), cells.join(" | "));
    }
    if rows.is_empty() {
        return rows;
    }
    let heads: String = columns.iter().map(|column| format!(" {} |", column.head)).collect();
    let rule = " ---: |".repeat(columns.len());
    format!("\n## {}\n\n| |{heads}\n| --- |{rule}\n{rows}", kind.title())
}

const MISSING: &str = "–";

struct Column<'a> {
    head: String,
    cell: Box<dyn Fn(Variant) -> String + 'a>,
}

fn column<'a>(
    head: impl Into<String>,
    cell: impl Fn(Variant) -> Option<String> + 'a,
) -> Column<'a> {
    let cell = move |variant| cell(variant).unwrap_or_else(|| MISSING.to_owned());
    Column { head: head.into(), cell: Box::new(cell) }
}

fn storm(kind: Kind, measured: &Measured) -> Vec<Column<'_>> {
    let unit = kind.unit();
    let samples = &measured.samples;
    let mut columns = Vec::new();
    let one = Workload { kind, workers: 0 };
    let two = Workload { kind, workers: 2 };
    for (workload, metric, head) in [
        (one, INSTRUCTIONS, format!("instructions a {unit}")),
        (one, CPU_NS, format!("ns a {unit}, 1 thread")),
        (two, CPU_NS, format!("ns a {unit}, 2 workers")),
    ] {
        columns.push(column(head, move |variant| {
            let spread = Spread::of(samples.of((workload, variant), metric).iter().copied())?;
            Some(format!("{:.1}", spread.median))
        }));
        columns.push(column("over none", move |variant| {
            let spread = Spread::of(samples.over_none((workload, variant), metric))?;
            (variant != Variant::None).then(|| over(spread))
        }));
    }
    columns.push(column("bytes an event", move |variant| {
        let bytes = measured.accounts.get(&(one, variant))?.event_bytes?;
        Some(format!("{bytes:.1}"))
    }));
    columns.push(column("peak RSS over none", move |variant| peak(measured, one, variant)));
    columns.push(column("events lost, 1 thread / 2 workers", move |variant| {
        let [one, two] = [one, two].map(|workload| measured.accounts.get(&(workload, variant)));
        Some(format!("{} / {}", lost(one?), lost(two?)))
    }));
    columns
}

fn service(measured: &Measured) -> Vec<Column<'_>> {
    let workload = Workload { kind: Kind::Http, workers: 1 };
    let samples = &measured.samples;
    let median = move |variant, metric| {
        Spread::of(samples.of((workload, variant), metric).iter().copied()).map(|s| s.median)
    };
    // By how many percent it is over the one without hooks.
    let percent = move |variant, metric| {
        let none = (workload, Variant::None);
        let pairs = samples.pairs((workload, variant), none, metric);
        let spread = Spread::of(pairs.map(|(this, none)| 100.0 * (this / none - 1.0)))?;
        (variant != Variant::None).then(|| format!("{} %", over(spread)))
    };
    let mut columns = vec![
        column("requests/s", move |v| Some(format!("{:.0}", median(v, REQUESTS_PER_S)?))),
        column("over none", move |v| percent(v, REQUESTS_PER_S)),
    ];
    for (metric, head) in [(P50_NS, "p50, µs"), (P99_NS, "p99, µs"), (CPU_NS, "CPU a request, µs")]
    {
        columns.push(column(head, move |v| Some(format!("{:.1}", median(v, metric)? / 1e3))));
        columns.push(column("over none", move |v| percent(v, metric)));
    }
    columns.push(column("peak RSS over none", move |v| peak(measured, workload, v)));
    columns
        .push(column("events lost", move |v| Some(lost(measured.accounts.get(&(workload, v))?))));
    columns
}

fn peak(measured: &Measured, workload: Workload, variant: Variant) -> Option<String> {
    let spread = Spread::of(measured.samples.over_none((workload, variant), PEAK_BYTES))?;
    (variant != Variant::None).then(|| format!("{:+.1} MB", spread.median / 1e6))
}

/// `+5.3 (4.9…5.8)`.
pub(crate) fn over(Spread { median, low, high }: Spread) -> String {
    match low == high {
        true => format!("{median:+.1}"),
        false => format!("{median:+.1} ({low:.1}…{high:.1})"),
    }
}

fn lost(account: &Account) -> String {
    let share = |share: f64| match share {
        0.0 => "0".to_owned(),
        share => format!("{:.1} %", 100.0 * share),
    };
    match account.surplus_share {
        0.0 => share(account.lost_share),
        surplus => format!("{} (and {} as told)", share(account.lost_share), share(surplus)),
    }
}
