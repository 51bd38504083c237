//! Tokio's own keys, with the checks and messages of `#[tokio::main]`.

use proc_macro2::Span;
use syn::{Expr, Path};

use super::keys::Value;
use super::table::TokioKeys;
use super::{Kind, literal};

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

    /// Returns the name of the variant of `tokio::runtime::UnhandledPanic`.
    pub(crate) fn variant(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::ShutdownRuntime => "ShutdownRuntime",
        }
    }
}

impl Value for Flavor {
    type Read = Self;

    fn read(value: &Expr, key: &str) -> syn::Result<Self> {
        let lit = literal::expect(value)?;
        Self::parse(&literal::string(lit, key)?).map_err(|msg| literal::error(lit, msg))
    }
}

impl Value for UnhandledPanic {
    type Read = Self;

    fn read(value: &Expr, key: &str) -> syn::Result<Self> {
        let lit = literal::expect(value)?;
        Self::parse(&literal::string(lit, key)?).map_err(|msg| literal::error(lit, msg))
    }
}

/// The checked keys, each valid for the flavor.
pub(crate) struct RuntimeKeys {
    pub(crate) flavor: Flavor,
    pub(crate) worker_threads: Option<usize>,
    pub(crate) start_paused: Option<bool>,
    pub(crate) crate_path: Option<Path>,
    pub(crate) unhandled_panic: Option<UnhandledPanic>,
    pub(crate) name: Option<String>,
}

impl RuntimeKeys {
    /// Checks that the given keys are compatible.
    pub(super) fn check(given: TokioKeys, kind: Kind) -> syn::Result<Self> {
        let flavor = given.flavor.map_or_else(|| kind.flavor(), |(flavor, _)| flavor);
        let requires = |key: &str, flavor: &str, span: Span| {
            let msg = format!(
                "The `{key}` option requires the `{flavor}` runtime flavor. Use \
                 `#[{}(flavor = \"{flavor}\")]`",
                kind.path()
            );
            Err(syn::Error::new(span, msg))
        };

        if flavor == Flavor::MultiThread {
            if let Some((_, span)) = given.start_paused {
                return requires("start_paused", "current_thread", span);
            }
            if let Some((_, span)) = given.unhandled_panic {
                return requires("unhandled_panic", "current_thread", span);
            }
        } else if let Some((_, span)) = given.worker_threads {
            return requires("worker_threads", "multi_thread", span);
        }

        Ok(Self {
            flavor,
            worker_threads: value(given.worker_threads),
            start_paused: value(given.start_paused),
            crate_path: value(given.crate_path),
            unhandled_panic: value(given.unhandled_panic),
            name: value(given.name),
        })
    }

    /// Returns keys to expand with next to an error. Their flavor needs the fewest of Tokio's features, so that no
    /// second error follows.
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

/// Drops the span.
fn value<T>(given: Option<(T, Span)>) -> Option<T> {
    given.map(|(value, _)| value)
}
