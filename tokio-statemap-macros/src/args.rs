//! The arguments of the attributes: the [`table`] of keys and its parser. Those of `instrument` are
//! in [`instrument`].

pub(crate) mod fields;
pub(crate) mod instrument;
pub(crate) mod keys;
pub(crate) mod own;
pub(crate) mod runtime;
#[macro_use]
mod table;

#[allow(dead_code, reason = "the attribute only checks the values")]
mod dumps;
mod duration;
mod literal;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Meta, MetaNameValue, Path, Token};

use self::runtime::{Flavor, RuntimeKeys};
use self::table::{ONLY_OF_TESTS, OwnKeys, TokioKeys};
use crate::Features;

/// The arguments as written.
pub(crate) type Metas = Punctuated<Meta, Token![,]>;

/// The attribute being expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `#[tokio_statemap::main]`
    Main,
    /// `#[tokio_statemap::test]`
    Test,
}

impl Kind {
    /// The attribute's path, as help texts print it.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Kind::Main => "tokio_statemap::main",
            Kind::Test => "tokio_statemap::test",
        }
    }

    /// Returns the default flavor.
    fn flavor(self) -> Flavor {
        match self {
            Kind::Main => Flavor::MultiThread,
            Kind::Test => Flavor::CurrentThread,
        }
    }
}

/// The checked arguments.
pub(crate) struct Args {
    /// Tokio's keys.
    pub(crate) runtime: RuntimeKeys,
    /// Tokio's keys, as the user wrote them.
    pub(crate) runtime_tokens: Metas,
    /// The keys of this crate.
    pub(crate) own: OwnKeys,
}

impl Args {
    /// Returns the arguments to expand with next to an error message, so that editors still see a
    /// function.
    pub(crate) fn after_error() -> Self {
        Self {
            runtime: RuntimeKeys::after_error(),
            runtime_tokens: Metas::new(),
            own: OwnKeys::default(),
        }
    }

    /// Splits the arguments without checking them.
    pub(crate) fn split(args: TokenStream) -> syn::Result<Metas> {
        Metas::parse_terminated.parse2(args)
    }

    /// Reads and checks each key.
    pub(crate) fn read(metas: Metas, kind: Kind, features: Features) -> syn::Result<Self> {
        let mut tokio = TokioKeys::default();
        let mut runtime_tokens = Metas::new();
        let mut own = OwnKeys::default();
        let mut limits = Vec::new();
        for meta in metas {
            let Meta::NameValue(pair) = &meta else {
                return Err(not_a_pair(&meta, kind));
            };
            let key = key(&pair.path, pair)?;
            if key == "core_threads" {
                literal::expect(&pair.value)?;
                let msg = "Attribute `core_threads` is renamed to `worker_threads`";
                return Err(syn::Error::new_spanned(pair, msg));
            }
            if let Some(set) = tokio.set(&key, &pair.value) {
                set?;
                runtime_tokens.push(meta);
                continue;
            }
            // Without `record` nothing is written, so no feature is missing.
            let missing = OwnKeys::feature(&key).filter(|feature| !features.have(feature));
            if let Some(feature) = missing.filter(|_| features.record) {
                let msg =
                    format!("The key `{key}` needs the feature `{feature}` of tokio-statemap.");
                return Err(syn::Error::new_spanned(&pair.path, msg));
            }
            match own.set(&key, &pair.value) {
                Some(set) => set?,
                None => return Err(syn::Error::new_spanned(pair, unknown(&key, names(kind)))),
            }
            if ONLY_OF_TESTS.contains(&key.as_str()) {
                limits.push((key, pair.clone()));
            }
        }
        own.check_limits(&limits, kind)?;

        Ok(Self { runtime: RuntimeKeys::check(tokio, kind)?, runtime_tokens, own })
    }
}

impl OwnKeys {
    /// Returns `true` if the keys contain code of the user, which applies without the feature `record`, too.
    pub(crate) fn changes_the_runtime(&self) -> bool {
        self.configure.is_some() || self.hooks.is_some()
    }

    /// Checks that the data for a test's limits is recorded. `limits` are the keys as given.
    fn check_limits(&self, limits: &[(String, MetaNameValue)], kind: Kind) -> syn::Result<()> {
        for (key, pair) in limits {
            let problem = if kind == Kind::Main {
                let option = key.replace('_', "-");
                format!(
                    "`{key}` is only valid in `#[tokio_statemap::test]`. To check a program's data, use the \
                     command `tokio-statemap check --{option}`."
                )
            } else if matches!(self.trace, Some("Workers" | "None")) {
                format!("`{key}` requires recorded tasks: set `trace` to \"both\" or \"tasks\".")
            } else if key == "max_ready" && self.schedule_latency == Some(false) {
                format!(
                    "`{key}` requires `schedule_latency`, which records when a task becomes ready."
                )
            } else {
                continue;
            };
            return Err(syn::Error::new_spanned(pair, problem));
        }
        Ok(())
    }
}

/// Returns the names of all keys of an attribute, in the table's order.
fn names(kind: Kind) -> impl Iterator<Item = &'static str> {
    let all = TokioKeys::NAMES.iter().chain(OwnKeys::NAMES).copied();
    all.filter(move |name| kind == Kind::Test || !ONLY_OF_TESTS.contains(name))
}

/// Returns the error for an argument that isn't `key = value`.
fn not_a_pair(meta: &Meta, kind: Kind) -> syn::Error {
    let Meta::Path(path) = meta else {
        return syn::Error::new_spanned(meta, "Unknown attribute inside the macro");
    };
    let name = match key(path, path) {
        Ok(name) => name,
        Err(err) => return err,
    };
    let attribute = kind.path();
    let msg = match name.as_str() {
        "threaded_scheduler" | "multi_thread" => {
            format!("Set the runtime flavor with #[{attribute}(flavor = \"multi_thread\")].")
        }
        "basic_scheduler" | "current_thread" | "single_threaded" => {
            format!("Set the runtime flavor with #[{attribute}(flavor = \"current_thread\")].")
        }
        key if names(Kind::Test).any(|name| name == key) => {
            format!("The `{key}` attribute requires an argument.")
        }
        key => unknown(key, names(kind)),
    };
    syn::Error::new_spanned(path, msg)
}

/// Returns the name of a key, as [`names`] lists it. For a path of several segments, the error points at `whole`.
fn key(path: &Path, whole: &impl ToTokens) -> syn::Result<String> {
    match path.get_ident() {
        Some(ident) => Ok(ident.to_string().to_lowercase()),
        None => Err(syn::Error::new_spanned(whole, "Must have specified ident")),
    }
}

fn unknown<'a>(key: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let keys: Vec<String> = names.into_iter().map(|key| format!("`{key}`")).collect();
    format!("Unknown attribute {key} is specified; expected one of: {}.", keys.join(", "))
}

#[cfg(test)]
mod tests;
