//! The bounds of tools that look into async functions.

use super::{Bound, at_most, beside, on};
use crate::callgrind::INSTRUCTIONS;
use crate::functions::DEPTHS;
use crate::measure::CPU_NS;
use crate::samples::{Samples, Spread};
use crate::variants::Variant::{self, *};
use crate::workloads::Kind;

/// Our variant, and the peers that offer no more.
struct Comparison {
    what: &'static str,
    ours: Variant,
    peers: &'static [Variant],
    of: &'static [Kind],
}

const POLLS: [Kind; 3] = [Kind::Waits(1), Kind::Waits(4), Kind::Waits(16)];

const COMPARISONS: [Comparison; 4] = [
    Comparison {
        what: "where a task waits",
        ours: Located,
        peers: &[AwaitTree, AsyncBacktrace],
        of: &POLLS,
    },
    Comparison {
        what: "times of polls: `instrument`",
        ours: Timed,
        peers: &[FastracePolls, HotpathPolls],
        of: &POLLS,
    },
    Comparison {
        what: "times of calls: `instrument`",
        ours: Timed,
        peers: &[FastraceCalls, HotpathCalls],
        of: &[Kind::Calls(4)],
    },
    Comparison {
        what: "times of whole tasks: the hooks",
        ours: LeanLast,
        peers: &[TaskMonitor],
        of: &POLLS,
    },
];

/// Checks all bounds for which there are measurements.
pub(crate) fn check(samples: &Samples) -> Vec<Bound> {
    let mut bounds = Vec::new();
    for comparison in &COMPARISONS {
        for &peer in comparison.peers {
            for &kind in comparison.of {
                compare(samples, comparison, peer, kind, &mut bounds);
            }
        }
    }
    for (variant, what) in
        [(Timed, "`instrument`"), (LocatedTimed, "`instrument`, and where tasks wait")]
    {
        let what = format!("{what}: ns a function and poll, with its times");
        let each = Spread::from_figures(a_function(samples, variant, CPU_NS));
        bounds.extend(each.map(|each| at_most(what, each, 25.0, " ns")));
    }
    unprobed(samples, &mut bounds);
    bounds
}

/// The cost of `stacks` for programs that don't use it. As in the gate of the hooks, a few
/// instructions are tolerated.
fn unprobed(samples: &Samples, bounds: &mut Vec<Bound>) {
    let workload = on(Kind::Waits(0), 0);
    let [with, without] = [LeanLast, LeanNoStacks]
        .map(|variant| Spread::from_figures(samples.over_none((workload, variant), INSTRUCTIONS)));
    let (Some(with), Some(without)) = (with, without) else { return };
    let (more, all) = (with.median - without.median, without.median);
    let percent = Spread::from_figures([100.0 * more / all]).expect("a figure");
    let what = "a poll of a task that isn't probed: what `stacks` adds to its recording".to_owned();
    let mut bound = at_most(what, percent, 2.0, " %");
    bound.measured += &format!("; {more:.1} instructions of {all:.1}");
    bounds.push(bound);
}

fn compare(
    samples: &Samples,
    comparison: &Comparison,
    peer: Variant,
    kind: Kind,
    bounds: &mut Vec<Bound>,
) {
    for (metric, name) in [(INSTRUCTIONS, "instructions"), (CPU_NS, "ns")] {
        let times = beside(samples, metric, on(kind, 0), comparison.ours, peer);
        let name_of_peer = peer.title().split(',').next().expect("a title");
        let what =
            format!("{}, {}: extra {name} to {name_of_peer}'s", comparison.what, kind.functions());
        bounds.extend(times.map(|times| at_most(what, times, 1.0, " ×")));
    }
}

/// Returns the cost of one more function in the chain per poll, beyond the program without hooks.
pub(crate) fn a_function(
    samples: &Samples,
    variant: Variant,
    metric: &'static str,
) -> impl Iterator<Item = f64> {
    let [one, .., most] = DEPTHS;
    let [few, many] =
        [one, most].map(|depth| samples.over_none((on(Kind::Waits(depth), 0), variant), metric));
    many.zip(few).map(move |(many, few)| (many - few) / f64::from(most - one))
}
