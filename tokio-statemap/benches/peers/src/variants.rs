//! The observers of a runtime: none, our crate, or a peer.

mod console;
mod dial9;
mod listeners;
mod spawner;
mod traced;

use crate::functions::Functions;
use crate::programs::Build;
pub(crate) use spawner::Spawner;
pub(crate) use traced::{Account, Limits, Traced};

/// The observer of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variant {
    None,
    Empty,
    /// Hooks that only read the clock, as often as ours do.
    Ticks,
    /// Tokio's own latency tracking, which ready times require.
    Clock,
    LeanLast,
    LeanFirst,
    DefaultLast,
    DefaultFirst,
    /// Our hooks after `stop()`.
    Stopped,
    /// Our hooks with `keep = "first"`, after `max_events`.
    Full,
    Dial9,
    Dial9Spawn,
    TaskMonitor,
    TokioDtrace,
    /// Tokio's feature for the console, without a listener.
    Spans,
    Console,
    /// Like `LeanLast`, in a build with the static trace points.
    LeanSdt,
    /// Like `LeanLast`, in a build without `stacks`.
    LeanNoStacks,
    /// Like `LeanLast`, and it is known where tasks wait.
    Located,
    /// Like `LeanLast`, with instrumented functions, whose times are measured.
    Timed,
    /// Both `Located` and `Timed`.
    LocatedTimed,
    /// Like `LocatedTimed`, with the static trace points.
    LocatedTimedSdt,
    /// Instrumented functions without a recording.
    TimedOff,
    AwaitTree,
    AsyncBacktrace,
    /// The peer without a reporter.
    FastraceOff,
    FastraceCalls,
    FastracePolls,
    HotpathCalls,
    HotpathPolls,
    /// The peer without a subscriber.
    TracingOff,
    TracingRegistry,
}

impl Variant {
    /// The variants of `RESULTS.md`.
    pub(crate) const ALL: [Self; 17] = [
        Self::None,
        Self::Empty,
        Self::Ticks,
        Self::Clock,
        Self::LeanLast,
        Self::LeanFirst,
        Self::Located,
        Self::DefaultLast,
        Self::DefaultFirst,
        Self::Stopped,
        Self::Full,
        Self::Dial9,
        Self::Dial9Spawn,
        Self::TaskMonitor,
        Self::TokioDtrace,
        Self::Spans,
        Self::Console,
    ];

    /// Builds of our crate with different features.
    pub(crate) const FEATURES: [Self; 4] =
        [Self::None, Self::LeanNoStacks, Self::LeanLast, Self::LeanSdt];

    /// The tools that look into async functions, and their baselines.
    pub(crate) const FUNCTIONS: [Self; 17] = [
        Self::None,
        Self::LeanLast,
        Self::Located,
        Self::Timed,
        Self::LocatedTimed,
        Self::LocatedTimedSdt,
        Self::TimedOff,
        Self::AwaitTree,
        Self::AsyncBacktrace,
        Self::FastraceOff,
        Self::FastraceCalls,
        Self::FastracePolls,
        Self::HotpathCalls,
        Self::HotpathPolls,
        Self::TaskMonitor,
        Self::TracingOff,
        Self::TracingRegistry,
    ];

    /// Returns the name that is passed to a child process.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Empty => "empty",
            Self::Ticks => "ticks",
            Self::Clock => "clock",
            Self::LeanLast => "lean-last",
            Self::LeanFirst => "lean-first",
            Self::DefaultLast => "default-last",
            Self::DefaultFirst => "default-first",
            Self::Stopped => "stopped",
            Self::Full => "full",
            Self::Dial9 => "dial9",
            Self::Dial9Spawn => "dial9-spawn",
            Self::TaskMonitor => "task-monitor",
            Self::TokioDtrace => "tokio-dtrace",
            Self::Spans => "spans",
            Self::Console => "console",
            Self::LeanSdt => "lean-sdt",
            Self::LeanNoStacks => "lean-no-stacks",
            Self::Located => "located",
            Self::Timed => "timed",
            Self::LocatedTimed => "located-timed",
            Self::LocatedTimedSdt => "located-timed-sdt",
            Self::TimedOff => "timed-off",
            Self::AwaitTree => "await-tree",
            Self::AsyncBacktrace => "async-backtrace",
            Self::FastraceOff => "fastrace-off",
            Self::FastraceCalls => "fastrace-calls",
            Self::FastracePolls => "fastrace-polls",
            Self::HotpathCalls => "hotpath-calls",
            Self::HotpathPolls => "hotpath-polls",
            Self::TracingOff => "tracing-off",
            Self::TracingRegistry => "tracing-registry",
        }
    }

    pub(crate) fn of_id(id: &str) -> Self {
        let all = [&Self::ALL[..], &Self::FEATURES, &Self::FUNCTIONS].concat();
        let variant = all.into_iter().find(|variant| variant.id() == id);
        variant.unwrap_or_else(|| panic!("{id} is no variant"))
    }

    /// Returns the name for readers.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::None => "no hooks",
            Self::Empty => "eight empty hooks",
            Self::Ticks => "hooks that only read the clock",
            Self::Clock => "Tokio's latency tracking, empty hooks",
            Self::LeanLast => "**ours, lean**, `keep = \"last\"`",
            Self::LeanFirst => "**ours, lean**, `keep = \"first\"`",
            Self::DefaultLast => "**ours, default** (`keep = \"last\"`)",
            Self::DefaultFirst => "**ours, default**, `keep = \"first\"`",
            Self::Stopped => "ours, after `stop()`",
            Self::Full => "ours, `keep = \"first\"`, full",
            Self::Dial9 => "dial9, plain `tokio::spawn`, task tracking",
            Self::Dial9Spawn => "dial9, its own spawn (wakes recorded)",
            Self::TaskMonitor => "tokio-metrics, `TaskMonitor`",
            Self::TokioDtrace => "tokio-dtrace (its probes do nothing here)",
            Self::Spans => "Tokio's feature `tracing`, no subscriber",
            Self::Console => "console-subscriber, no client",
            Self::LeanSdt => "the same with the feature `sdt`, nobody listens",
            Self::LeanNoStacks => "**ours, lean**, without the feature `stacks`",
            Self::Located => "**ours, where tasks wait**",
            Self::Timed => "**ours, `instrument`**",
            Self::LocatedTimed => "**ours, where tasks wait, and `instrument`**",
            Self::LocatedTimedSdt => "the same with the feature `sdt`, nobody listens",
            Self::TimedOff => "ours, `instrument`, nothing is recorded",
            Self::AwaitTree => "await-tree, `spawn` and `instrument_await`",
            Self::AsyncBacktrace => "async-backtrace, `framed`",
            Self::FastraceOff => "fastrace, `trace`, no reporter",
            Self::FastraceCalls => "fastrace, `trace`",
            Self::FastracePolls => "fastrace, `trace(enter_on_poll = true)`",
            Self::HotpathCalls => "hotpath, `measure`",
            Self::HotpathPolls => "hotpath, `measure(future = true)`",
            Self::TracingOff => "tracing, `instrument`, no subscriber",
            Self::TracingRegistry => "tracing, `instrument`, a `Registry`",
        }
    }

    /// Returns the divisor of the work for slow variants.
    pub(crate) fn slowness(self) -> u64 {
        match self {
            Self::Console | Self::FastraceCalls | Self::FastracePolls | Self::HotpathPolls => 10,
            _ => 1,
        }
    }

    /// Returns the build that has it.
    pub(crate) fn build(self) -> Build {
        match self {
            Self::Spans | Self::Console => Build::Spans,
            Self::LeanSdt | Self::LocatedTimedSdt => Build::Sdt,
            Self::LeanNoStacks => Build::NoStacks,
            _ => Build::Plain,
        }
    }

    /// Returns the annotations of async functions for it.
    pub(crate) fn functions(self) -> Functions {
        match self {
            Self::Timed | Self::LocatedTimed | Self::LocatedTimedSdt | Self::TimedOff => {
                Functions::Ours
            }
            Self::AwaitTree => Functions::AwaitTree,
            Self::AsyncBacktrace => Functions::AsyncBacktrace,
            Self::FastraceOff | Self::FastraceCalls => Functions::Fastrace,
            Self::FastracePolls => Functions::FastracePolls,
            Self::HotpathCalls => Functions::Hotpath,
            Self::HotpathPolls => Functions::HotpathPolls,
            Self::TracingOff | Self::TracingRegistry => Functions::Tracing,
            _ => Functions::Plain,
        }
    }

    /// Returns `true` if it reports the events that it kept.
    pub(crate) fn keeps_account(self) -> bool {
        use Variant::*;
        matches!(
            self,
            LeanLast | LeanFirst | Located | DefaultLast | DefaultFirst | Full | Dial9 | Dial9Spawn
        )
    }
}
