//! Tokio's own keys, with the checks and messages of `#[tokio::main]`.

use proc_macro2::Span;
use syn::{Lit, Path};

use super::{Kind, literal, set_once};

/// In the order in which `#[tokio::main]` lists them.
pub(super) const KEYS: &[&str] =
    &["flavor", "worker_threads", "start_paused", "crate", "unhandled_panic", "name"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    CurrentThread,
    MultiThread,
    Local,
}

impl Flavor {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "current_thread" => Ok(Self::CurrentThread),
            "multi_thread" => Ok(Self::MultiThread),
            "local" => Ok(Self::Local),
            "single_thread" => {
                Err("The single threaded runtime flavor is called `current_thread`.".to_owned())
            }
            "basic_scheduler" => Err(renamed(text, "current_thread")),
            "threaded_scheduler" => Err(renamed(text, "multi_thread")),
            _ => Err(format!(
                "No such runtime flavor `{text}`. The runtime flavors are `current_thread`, \
                 `local`, and `multi_thread`."
            )),
        }
    }
}

fn renamed(old: &str, new: &str) -> String {
    format!("The `{old}` runtime flavor has been renamed to `{new}`.")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnhandledPanic {
    Ignore,
    ShutdownRuntime,
}

impl UnhandledPanic {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "ignore" => Ok(Self::Ignore),
            "shutdown_runtime" => Ok(Self::ShutdownRuntime),
            _ => Err(format!(
                "No such unhandled panic behavior `{text}`. The unhandled panic behaviors are \
                 `ignore` and `shutdown_runtime`."
            )),
        }
    }

    /// The name of the variant of `tokio::runtime::UnhandledPanic`.
    pub(crate) fn variant(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::ShutdownRuntime => "ShutdownRuntime",
        }
    }
}

/// The keys as far as they have been read; each with its place where a later check may point at it.
#[derive(Default)]
pub(super) struct RuntimeKeysGiven {
    flavor: Option<Flavor>,
    worker_threads: Option<(usize, Span)>,
    start_paused: Option<(bool, Span)>,
    crate_path: Option<Path>,
    unhandled_panic: Option<(UnhandledPanic, Span)>,
    name: Option<String>,
}

impl RuntimeKeysGiven {
    pub(super) fn set(&mut self, key: &str, lit: &Lit) -> syn::Result<()> {
        let span = literal::span(lit);
        match key {
            "flavor" => set_once(&mut self.flavor, key, lit, || {
                Flavor::parse(&literal::string(lit, key)?).map_err(|msg| literal::error(lit, msg))
            }),
            "worker_threads" => set_once(&mut self.worker_threads, key, lit, || {
                Ok((literal::positive(lit, key)?, span))
            }),
            "start_paused" => {
                set_once(&mut self.start_paused, key, lit, || Ok((literal::bool(lit, key)?, span)))
            }
            "crate" => set_once(&mut self.crate_path, key, lit, || literal::path(lit, key)),
            "unhandled_panic" => set_once(&mut self.unhandled_panic, key, lit, || {
                UnhandledPanic::parse(&literal::string(lit, key)?)
                    .map(|unhandled_panic| (unhandled_panic, span))
                    .map_err(|msg| literal::error(lit, msg))
            }),
            "name" => set_once(&mut self.name, key, lit, || literal::string(lit, key)),
            _ => unreachable!("`{key}` is not in `KEYS`"),
        }
    }

    /// Checks the keys against each other.
    pub(super) fn check(self, kind: Kind) -> syn::Result<RuntimeKeys> {
        let flavor = self.flavor.unwrap_or(match kind {
            Kind::Main => Flavor::MultiThread,
            Kind::Test => Flavor::CurrentThread,
        });
        let requires = |key: &str, flavor: &str, span: Span| {
            let msg = format!(
                "The `{key}` option requires the `{flavor}` runtime flavor. Use \
                 `#[{}(flavor = \"{flavor}\")]`",
                kind.path()
            );
            Err(syn::Error::new(span, msg))
        };

        if flavor == Flavor::MultiThread {
            if let Some((_, span)) = self.start_paused {
                return requires("start_paused", "current_thread", span);
            }
            if let Some((_, span)) = self.unhandled_panic {
                return requires("unhandled_panic", "current_thread", span);
            }
        } else if let Some((_, span)) = self.worker_threads {
            return requires("worker_threads", "multi_thread", span);
        }

        Ok(RuntimeKeys {
            flavor,
            worker_threads: self.worker_threads.map(|(value, _)| value),
            start_paused: self.start_paused.map(|(value, _)| value),
            crate_path: self.crate_path,
            unhandled_panic: self.unhandled_panic.map(|(value, _)| value),
            name: self.name,
        })
    }
}

/// The keys, checked: each is valid for the flavor.
pub(crate) struct RuntimeKeys {
    pub(crate) flavor: Flavor,
    pub(crate) worker_threads: Option<usize>,
    pub(crate) start_paused: Option<bool>,
    pub(crate) crate_path: Option<Path>,
    pub(crate) unhandled_panic: Option<UnhandledPanic>,
    pub(crate) name: Option<String>,
}

impl RuntimeKeys {
    /// The flavor that needs the fewest of Tokio's features, so that no second error follows.
    pub(super) fn after_error() -> Self {
        Self {
            flavor: Flavor::CurrentThread,
            worker_threads: None,
            start_paused: None,
            crate_path: None,
            unhandled_panic: None,
            name: None,
        }
    }
}
