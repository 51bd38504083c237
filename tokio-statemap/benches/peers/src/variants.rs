//! What looks at the runtime: nothing, ours, a peer.

mod console;
mod dial9;
mod spawner;
mod traced;

pub(crate) use spawner::Spawner;
pub(crate) use traced::{Account, Limits, Traced};

/// What looks at the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variant {
    None,
    Empty,
    /// Empty hooks but that they read the clock as often as ours do.
    Ticks,
    /// Tokio's own latency tracking, which *ready* needs.
    Clock,
    LeanLast,
    LeanFirst,
    DefaultLast,
    DefaultFirst,
    /// After `stop()`.
    Stopped,
    /// With `keep = "first"`, after `max_events`.
    Full,
    Dial9,
    Dial9Spawn,
    TaskMonitor,
    TokioDtrace,
    /// Tokio's feature that the console needs, and nobody who listens.
    Spans,
    Console,
}

impl Variant {
    pub(crate) const ALL: [Self; 16] = [
        Self::None,
        Self::Empty,
        Self::Ticks,
        Self::Clock,
        Self::LeanLast,
        Self::LeanFirst,
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

    /// What a child process is told.
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
        }
    }

    pub(crate) fn of_id(id: &str) -> Self {
        let variant = Self::ALL.into_iter().find(|variant| variant.id() == id);
        variant.unwrap_or_else(|| panic!("{id} is no variant"))
    }

    /// What people are told.
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
        }
    }

    /// The console is so slow that it gets one of so many parts of the work.
    pub(crate) fn slowness(self) -> u64 {
        if self == Self::Console { 10 } else { 1 }
    }

    /// Whether it is in the build with Tokio's spans.
    pub(crate) fn needs_spans(self) -> bool {
        matches!(self, Self::Spans | Self::Console)
    }

    /// Whether it can tell what it kept.
    pub(crate) fn keeps_account(self) -> bool {
        use Variant::*;
        matches!(
            self,
            LeanLast | LeanFirst | DefaultLast | DefaultFirst | Full | Dial9 | Dial9Spawn
        )
    }
}
