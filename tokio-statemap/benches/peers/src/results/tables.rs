//! The table of each program.

use std::fmt::Write as _;

use super::Measured;
use crate::accounts::Account;
use crate::bounds::Bound;
use crate::callgrind::INSTRUCTIONS;
use crate::measure::{CPU_NS, PEAK_BYTES};
use crate::samples::Spread;
use crate::service::{self, Of, Pair, Service};
use crate::variants::Variant;
use crate::workloads::{Kind, Workload};

pub(super) fn bounds(bounds: &[Bound]) -> String {
    if bounds.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## The bounds\n\n");
    text += "| what | bound | measured | |\n| --- | --- | --- | --- |\n";
    for bound in bounds {
        let verdict = if bound.holds { "holds" } else { "**doesn't hold**" };
        let _ =
            writeln!(text, "| {} | {} | {} | {verdict} |", bound.what, bound.bound, bound.measured);
    }
    text
}

/// Formats the table. A variant that does less work than the others, according to `slowness`, is
/// marked.
pub(super) fn table(
    title: &str,
    variants: &[Variant],
    slowness: impl Fn(Variant) -> u64,
    columns: &[Column],
) -> String {
    let mut rows = String::new();
    for &variant in variants {
        let cells: Vec<String> = columns.iter().map(|column| (column.cell)(variant)).collect();
        // The variant couldn't be built.
        if cells.iter().all(|cell| cell == MISSING) {
            continue;
        }
        let part = match slowness(variant) {
            1 => String::new(),
            slowness => format!(" (1/{slowness} of the work)"),
        };
        let _ = writeln!(rows, "| {}{part} | {} |", variant.title(), cells.join(" | "));
    }
    // There are no measurements.
    if rows.is_empty() {
        return rows;
    }
    let heads: String = columns.iter().map(|column| format!(" {} |", column.head)).collect();
    let rule = " ---: |".repeat(columns.len());
    format!("\n## {title}\n\n| |{heads}\n| --- |{rule}\n{rows}")
}

const MISSING: &str = "–";

pub(super) struct Column<'a> {
    head: String,
    cell: Box<dyn Fn(Variant) -> String + 'a>,
}

pub(super) fn column<'a>(
    head: impl Into<String>,
    cell: impl Fn(Variant) -> Option<String> + 'a,
) -> Column<'a> {
    let cell = move |variant| cell(variant).unwrap_or_else(|| MISSING.to_owned());
    Column { head: head.into(), cell: Box::new(cell) }
}

pub(super) fn storm(kind: Kind, measured: &Measured) -> String {
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
            let spread =
                Spread::from_figures(samples.figures((workload, variant), metric).iter().copied())?;
            Some(format!("{:.1}", spread.median))
        }));
        columns.push(column("over none", move |variant| {
            let spread = Spread::from_figures(samples.over_none((workload, variant), metric))?;
            (variant != Variant::None).then(|| over(spread))
        }));
    }
    columns.push(column("bytes an event", move |variant| {
        let bytes = measured.accounts.get(&(one, variant))?.event_bytes?;
        Some(format!("{bytes:.1}"))
    }));
    columns.push(column("peak RSS over none", move |variant| {
        peak(variant, Spread::from_figures(samples.over_none((one, variant), PEAK_BYTES))?)
    }));
    columns.push(column("events lost, 1 thread / 2 workers", move |variant| {
        let [one, two] = [one, two].map(|workload| measured.accounts.get(&(workload, variant)));
        Some(format!("{} / {}", lost(one?), lost(two?)))
    }));
    table(kind.title(), kind.variants(), |variant| kind.slowness(variant), &columns)
}

pub(super) fn service(service: &Service) -> String {
    let figures: [(&str, Of, f64, usize); 3] = [
        ("requests/s", |shop| &shop.requests_per_s, 1.0, 0),
        ("p50, µs", |shop| &shop.p50_ns, 1e3, 1),
        ("p99, µs", |shop| &shop.p99_ns, 1e3, 1),
    ];
    let mut columns = Vec::new();
    for (head, of, unit, digits) in figures {
        columns.push(column(head, move |variant| {
            let figure = |pair: &Pair| service::median(of(&pair.this).iter().copied()) / unit;
            let spread = service.spread(variant, figure)?;
            Some(format!("{:.digits$}", spread.median))
        }));
        columns.push(column("over none", move |variant| {
            let over = service.spread(variant, |pair| pair.percent_over(of))?;
            let Spread { median, low, high } = over;
            Some(format!("{median:+.2} ({low:.1}…{high:.1}) %"))
        }));
    }
    columns.push(column("CPU a request, ns", |variant| {
        let spread = service.spread(variant, |pair| pair.this.cpu_ns)?;
        Some(format!("{:.0}", spread.median))
    }));
    columns.push(column("over none, ns", |variant| {
        let extra = |pair: &Pair| pair.this.cpu_ns - pair.none.cpu_ns;
        Some(over(service.spread(variant, extra)?))
    }));
    columns.push(column("peak RSS over none", |variant| {
        let over = |pair: &Pair| pair.this.peak_bytes - pair.none.peak_bytes;
        peak(variant, service.spread(variant, over)?)
    }));
    columns.push(column("events lost", |variant| Some(lost(service.accounts.get(&variant)?))));
    table(service::TITLE, &service::VARIANTS, Variant::slowness, &columns)
}

/// Returns the increase of the peak memory over the program without hooks.
fn peak(variant: Variant, over: Spread) -> Option<String> {
    (variant != Variant::None).then(|| format!("{:+.1} MB", over.median / 1e6))
}

/// Formats a spread: `+5.3 (4.9…5.8)`.
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
