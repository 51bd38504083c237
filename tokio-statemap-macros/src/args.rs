//! The arguments of the attribute: which keys there are, and who reads which.

pub(crate) mod own;
pub(crate) mod runtime;

mod duration;
mod literal;

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, Meta, Token};

use self::own::OwnKeys;
use self::runtime::{RuntimeKeys, RuntimeKeysGiven};
use crate::Features;

/// The arguments as they are written.
pub(crate) type Metas = Punctuated<Meta, Token![,]>;

/// Which of the two attributes is expanded.
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
    /// What is expanded beside an error message, so that editors still see a function.
    pub(crate) fn after_error() -> Self {
        Self {
            runtime: RuntimeKeys::after_error(),
            runtime_tokens: Metas::new(),
            own: OwnKeys::default(),
        }
    }

    /// Splits the arguments, without a look at what they mean.
    pub(crate) fn split(args: TokenStream) -> syn::Result<Metas> {
        Metas::parse_terminated.parse2(args)
    }

    /// Reads and checks each key.
    pub(crate) fn read(metas: Metas, kind: Kind, features: Features) -> syn::Result<Self> {
        let mut given = RuntimeKeysGiven::default();
        let mut runtime_tokens = Metas::new();
        let mut own = OwnKeys::default();
        for meta in metas {
            let Meta::NameValue(pair) = &meta else {
                return Err(not_a_pair(&meta, kind));
            };
            let key = pair
                .path
                .get_ident()
                .ok_or_else(|| syn::Error::new_spanned(pair, "Must have specified ident"))?
                .to_string()
                .to_lowercase();
            match key.as_str() {
                "core_threads" => {
                    literal(&pair.value)?;
                    let msg = "Attribute `core_threads` is renamed to `worker_threads`";
                    return Err(syn::Error::new_spanned(pair, msg));
                }
                key if runtime::KEYS.contains(&key) => {
                    given.set(key, literal(&pair.value)?)?;
                    runtime_tokens.push(meta);
                }
                // Without `record` nothing is written, so there is nothing to miss.
                "html" if features.record && !features.html => {
                    let msg = "The key `html` needs the feature `html` of tokio-statemap.";
                    return Err(syn::Error::new_spanned(&pair.path, msg));
                }
                key if own::KEYS.contains(&key) => own.set(key, &pair.value)?,
                key => return Err(syn::Error::new_spanned(pair, unknown(key))),
            }
        }

        Ok(Self { runtime: given.check(kind)?, runtime_tokens, own })
    }
}

/// The error for an argument that isn't `key = value`.
fn not_a_pair(meta: &Meta, kind: Kind) -> syn::Error {
    let Meta::Path(path) = meta else {
        return syn::Error::new_spanned(meta, "Unknown attribute inside the macro");
    };
    let Some(ident) = path.get_ident() else {
        return syn::Error::new_spanned(path, "Must have specified ident");
    };
    let attribute = kind.path();
    let name = ident.to_string().to_lowercase();
    let msg = match name.as_str() {
        "threaded_scheduler" | "multi_thread" => {
            format!("Set the runtime flavor with #[{attribute}(flavor = \"multi_thread\")].")
        }
        "basic_scheduler" | "current_thread" | "single_threaded" => {
            format!("Set the runtime flavor with #[{attribute}(flavor = \"current_thread\")].")
        }
        key if runtime::KEYS.contains(&key) || own::KEYS.contains(&key) => {
            format!("The `{key}` attribute requires an argument.")
        }
        key => unknown(key),
    };
    syn::Error::new_spanned(path, msg)
}

fn unknown(key: &str) -> String {
    let keys: Vec<String> =
        runtime::KEYS.iter().chain(own::KEYS).map(|key| format!("`{key}`")).collect();
    format!("Unknown attribute {key} is specified; expected one of: {}.", keys.join(", "))
}

/// The literal that `value` is.
fn literal(value: &Expr) -> syn::Result<&Lit> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => Ok(lit),
        other => Err(syn::Error::new_spanned(other, "Must be a literal")),
    }
}

/// Fills the slot of a key, which may be given once.
fn set_once<T>(
    slot: &mut Option<T>,
    key: &str,
    value: &impl quote::ToTokens,
    read: impl FnOnce() -> syn::Result<T>,
) -> syn::Result<()> {
    if slot.is_some() {
        let msg = format!("`{key}` set multiple times.");
        return Err(syn::Error::new_spanned(value, msg));
    }
    *slot = Some(read()?);
    Ok(())
}

#[cfg(test)]
mod tests;
