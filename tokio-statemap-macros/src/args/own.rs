//! The keys of this crate.

use syn::{Expr, ExprLit, ExprPath, Lit};

use super::{duration, literal, set_once};

/// In the order of the table in the attribute's docs.
pub(super) const KEYS: &[&str] = &[
    "tasks",
    "workers",
    "html",
    "svg",
    "report",
    "trace",
    "spawn_location",
    "buffer_capacity",
    "max_events",
    "keep",
    "schedule_latency",
    "long_poll",
    "start_after",
    "duration",
    "configure",
    "hooks",
];

/// A buffer is taken from memory at once, so it is no larger than anyone could mean it to be.
const MOST_BUFFER_CAPACITY: usize = 1 << 24;

/// The keys that were given; what is `None` keeps its default.
#[derive(Default)]
pub(crate) struct OwnKeys {
    pub(crate) tasks: Option<Expr>,
    pub(crate) workers: Option<Expr>,
    pub(crate) html: Option<Expr>,
    pub(crate) svg: Option<Expr>,
    pub(crate) report: Option<Report>,
    /// The variant of `TraceTarget`.
    pub(crate) trace: Option<&'static str>,
    pub(crate) spawn_location: Option<bool>,
    pub(crate) buffer_capacity: Option<usize>,
    pub(crate) max_events: Option<usize>,
    /// The variant of `Keep`.
    pub(crate) keep: Option<&'static str>,
    pub(crate) schedule_latency: Option<bool>,
    pub(crate) long_poll_ns: Option<u64>,
    pub(crate) start_after_ns: Option<u64>,
    pub(crate) duration_ns: Option<u64>,
    pub(crate) configure: Option<ExprPath>,
    pub(crate) hooks: Option<ExprPath>,
}

/// Where the report goes.
pub(crate) enum Report {
    Stderr,
    Path(Box<Expr>),
}

impl OwnKeys {
    pub(super) fn set(&mut self, key: &str, value: &Expr) -> syn::Result<()> {
        let value = ungrouped(value);
        let lit = || super::literal(value);
        match key {
            "tasks" => set_once(&mut self.tasks, key, value, || Ok(value.clone())),
            "workers" => set_once(&mut self.workers, key, value, || Ok(value.clone())),
            "html" => set_once(&mut self.html, key, value, || Ok(value.clone())),
            "svg" => set_once(&mut self.svg, key, value, || Ok(value.clone())),
            "report" => set_once(&mut self.report, key, value, || report(value)),
            "trace" => set_once(&mut self.trace, key, value, || trace(value)),
            "spawn_location" => {
                set_once(&mut self.spawn_location, key, value, || literal::bool(lit()?, key))
            }
            "buffer_capacity" => {
                set_once(&mut self.buffer_capacity, key, value, || buffer_capacity(lit()?))
            }
            "max_events" => {
                set_once(&mut self.max_events, key, value, || literal::positive(lit()?, key))
            }
            "keep" => set_once(&mut self.keep, key, value, || keep(value)),
            "schedule_latency" => {
                set_once(&mut self.schedule_latency, key, value, || literal::bool(lit()?, key))
            }
            "long_poll" => set_once(&mut self.long_poll_ns, key, value, || {
                duration::positive_nanos(value, key)
            }),
            "start_after" => {
                set_once(&mut self.start_after_ns, key, value, || duration::nanos(value, key))
            }
            "duration" => {
                set_once(&mut self.duration_ns, key, value, || duration::positive_nanos(value, key))
            }
            "configure" => set_once(&mut self.configure, key, value, || {
                path(value, key, "fn(&mut tokio::runtime::Builder)")
            }),
            "hooks" => set_once(&mut self.hooks, key, value, || {
                path(value, key, "fn() -> tokio_statemap::Hooks")
            }),
            _ => unreachable!("`{key}` is not in `KEYS`"),
        }
    }

    /// Whether the user's own program is among the keys: then it applies without `record`, too.
    pub(crate) fn changes_the_runtime(&self) -> bool {
        self.configure.is_some() || self.hooks.is_some()
    }
}

/// A `$x:expr` of a `macro_rules!` arrives in a group without delimiters.
fn ungrouped(value: &Expr) -> &Expr {
    match value {
        Expr::Group(group) => ungrouped(&group.expr),
        _ => value,
    }
}

fn report(value: &Expr) -> syn::Result<Report> {
    match value {
        Expr::Path(path) if path.path.is_ident("stderr") => Ok(Report::Stderr),
        Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) if path.value() == "stderr" => {
            Err(syn::Error::new_spanned(
                value,
                "Use `stderr` without quotes to print it, or another path such as \"./stderr\".",
            ))
        }
        _ => Ok(Report::Path(Box::new(value.clone()))),
    }
}

fn buffer_capacity(lit: &Lit) -> syn::Result<usize> {
    let key = "buffer_capacity";
    match literal::positive(lit, key)? {
        capacity if capacity > MOST_BUFFER_CAPACITY => Err(literal::error(
            lit,
            format!("`{key}` may be at most {MOST_BUFFER_CAPACITY} (2^24) events."),
        )),
        capacity => Ok(capacity),
    }
}

/// The literal that one of `values` is to be chosen with.
fn choice<'a>(value: &'a Expr, key: &str, values: &str) -> syn::Result<&'a Lit> {
    super::literal(value)
        .map_err(|_| syn::Error::new_spanned(value, format!("`{key}` takes {values}.")))
}

fn trace(value: &Expr) -> syn::Result<&'static str> {
    let lit = choice(value, "trace", r#""tasks", "workers", "both" or "none""#)?;
    match literal::string(lit, "trace")?.as_str() {
        "tasks" => Ok("Tasks"),
        "workers" => Ok("Workers"),
        "both" => Ok("Both"),
        "none" => Ok("None"),
        other => Err(literal::error(
            lit,
            format!(
                "No such trace target `{other}`. The trace targets are `tasks`, `workers`, `both` \
                 and `none`."
            ),
        )),
    }
}

fn keep(value: &Expr) -> syn::Result<&'static str> {
    let lit = choice(value, "keep", r#""first" or "last""#)?;
    match literal::string(lit, "keep")?.as_str() {
        "first" => Ok("First"),
        "last" => Ok("Last"),
        other => Err(literal::error(
            lit,
            format!("Can't keep the `{other}` events. What can be kept is `first` and `last`."),
        )),
    }
}

fn path(value: &Expr, key: &str, ty: &str) -> syn::Result<ExprPath> {
    match value {
        Expr::Path(path) => Ok(path.clone()),
        other => Err(syn::Error::new_spanned(
            other,
            format!("Failed to parse value of `{key}` as path: expected the path of a `{ty}`."),
        )),
    }
}
