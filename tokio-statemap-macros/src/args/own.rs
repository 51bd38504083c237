//! The types of value that only keys of this crate have.

use std::marker::PhantomData;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprPath, Lit};

use super::keys::{Setting, Value};
use super::{duration, literal};

/// A value whose field of `Settings` is an `Option`.
pub(crate) struct Optional<V>(PhantomData<V>);

impl<V: Value> Value for Optional<V> {
    type Read = V::Read;

    fn read(value: &Expr, key: &str) -> syn::Result<V::Read> {
        V::read(value, key)
    }
}

impl<V: Setting> Setting for Optional<V> {
    fn tokens(read: &V::Read) -> TokenStream {
        let value = V::tokens(read);
        quote! { ::core::option::Option::Some(#value) }
    }
}

/// Any expression that is `Into<PathBuf>`.
pub(crate) struct PathExpr;

impl Value for PathExpr {
    type Read = Expr;

    fn read(value: &Expr, _: &str) -> syn::Result<Expr> {
        Ok(value.clone())
    }
}

impl Setting for PathExpr {
    /// The error for a type that is no path points at the expression.
    fn tokens(expr: &Expr) -> TokenStream {
        let span = Span::mixed_site().located_at(expr.span());
        let into = quote_spanned! {span=>
            ::core::convert::Into::<::std::path::PathBuf>::into
        };
        quote! { #into(#expr) }
    }
}

/// Where the report is written.
pub(crate) enum ReportPath {
    Stderr,
    Path(Box<Expr>),
}

impl Value for ReportPath {
    type Read = Self;

    fn read(value: &Expr, _: &str) -> syn::Result<Self> {
        match value {
            Expr::Path(path) if path.path.is_ident("stderr") => Ok(Self::Stderr),
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) if path.value() == "stderr" => {
                Err(syn::Error::new_spanned(
                    value,
                    "Use `stderr` without quotes to print it, or another path such as \"./stderr\".",
                ))
            }
            _ => Ok(Self::Path(Box::new(value.clone()))),
        }
    }
}

impl Setting for ReportPath {
    fn tokens(report: &Self) -> TokenStream {
        match report {
            Self::Stderr => quote! { ::core::option::Option::None },
            Self::Path(expr) => Optional::<PathExpr>::tokens(expr),
        }
    }
}

/// A number of events. A buffer is allocated at once, so the number has a limit, which only a mistake
/// exceeds.
pub(crate) struct BufferCapacity;

impl BufferCapacity {
    const MOST: usize = 1 << 24;
}

impl Value for BufferCapacity {
    type Read = usize;

    fn read(value: &Expr, key: &str) -> syn::Result<usize> {
        let capacity = literal::PositiveInteger::read(value, key)?;
        if capacity > Self::MOST {
            let msg = format!("`{key}` may be at most {} (2^24) events.", Self::MOST);
            return Err(literal::error(literal::of(value)?, msg));
        }
        Ok(capacity)
    }
}

impl Setting for BufferCapacity {
    fn tokens(capacity: &usize) -> TokenStream {
        quote! { #capacity }
    }
}

/// A duration in ns.
pub(crate) struct Nanos;

impl Value for Nanos {
    type Read = u64;

    fn read(value: &Expr, key: &str) -> syn::Result<u64> {
        let parsed = match value {
            Expr::Lit(ExprLit { lit: Lit::Str(str), .. }) => duration::nanoseconds(&str.value()),
            _ => None,
        };
        parsed.ok_or_else(|| {
            let msg = format!(
                "Failed to parse value of `{key}` as duration: expected a string of a number and a \
                 unit (`ns`, `us`, `ms`, `s`, `m`, `h`), such as \"250us\", \"1.5s\" or \"2m\"."
            );
            syn::Error::new_spanned(value, msg)
        })
    }
}

impl Setting for Nanos {
    fn tokens(ns: &u64) -> TokenStream {
        quote! { ::core::time::Duration::from_nanos(#ns) }
    }
}

/// A duration in ns that is not zero.
pub(crate) struct PositiveNanos;

impl Value for PositiveNanos {
    type Read = u64;

    fn read(value: &Expr, key: &str) -> syn::Result<u64> {
        match Nanos::read(value, key)? {
            0 => Err(syn::Error::new_spanned(value, format!("`{key}` may not be 0."))),
            nanos => Ok(nanos),
        }
    }
}

impl Setting for PositiveNanos {
    fn tokens(ns: &u64) -> TokenStream {
        Nanos::tokens(ns)
    }
}

/// A variant of `TraceTarget`.
pub(crate) struct Trace;

impl Value for Trace {
    type Read = &'static str;

    fn read(value: &Expr, key: &str) -> syn::Result<&'static str> {
        let lit = choice(value, key, r#""tasks", "workers", "both" or "none""#)?;
        match literal::string(lit, key)?.as_str() {
            "tasks" => Ok("Tasks"),
            "workers" => Ok("Workers"),
            "both" => Ok("Both"),
            "none" => Ok("None"),
            other => Err(literal::error(
                lit,
                format!(
                    "No such trace target `{other}`. The trace targets are `tasks`, `workers`, \
                     `both` and `none`."
                ),
            )),
        }
    }
}

impl Setting for Trace {
    fn tokens(name: &&'static str) -> TokenStream {
        variant("TraceTarget", name)
    }
}

/// A variant of `Keep`.
pub(crate) struct Keep;

impl Value for Keep {
    type Read = &'static str;

    fn read(value: &Expr, key: &str) -> syn::Result<&'static str> {
        let lit = choice(value, key, r#""first" or "last""#)?;
        match literal::string(lit, key)?.as_str() {
            "first" => Ok("First"),
            "last" => Ok("Last"),
            other => Err(literal::error(
                lit,
                format!("Can't keep the `{other}` events. What can be kept is `first` and `last`."),
            )),
        }
    }
}

impl Setting for Keep {
    fn tokens(name: &&'static str) -> TokenStream {
        variant("Keep", name)
    }
}

/// The name of a signal.
pub(crate) struct Signal;

impl Signal {
    /// Those that a program can do without; whether the platform has one, the library knows.
    const NAMES: [&str; 4] = ["SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGIO"];
}

impl Value for Signal {
    type Read = &'static str;

    fn read(value: &Expr, key: &str) -> syn::Result<&'static str> {
        let names = r#""SIGUSR1", "SIGUSR2", "SIGQUIT" or "SIGIO""#;
        let lit = choice(value, key, names)?;
        let name = literal::string(lit, key)?;
        let found = Self::NAMES.into_iter().find(|of| *of == name);
        found.ok_or_else(|| {
            literal::error(lit, format!("`{key}` can't be the signal `{name}`, but {names}."))
        })
    }
}

impl Setting for Signal {
    fn tokens(name: &&'static str) -> TokenStream {
        quote! { #name }
    }
}

/// The path of a function that is called with the runtime's builder.
pub(crate) struct Configure;

impl Value for Configure {
    type Read = ExprPath;

    fn read(value: &Expr, key: &str) -> syn::Result<ExprPath> {
        path_of(value, key, "fn(&mut tokio::runtime::Builder)")
    }
}

/// The path of a function that makes the program's own hooks.
pub(crate) struct UserHooks;

impl Value for UserHooks {
    type Read = ExprPath;

    fn read(value: &Expr, key: &str) -> syn::Result<ExprPath> {
        path_of(value, key, "fn() -> tokio_statemap::Hooks")
    }
}

impl Setting for UserHooks {
    /// A call of the function.
    fn tokens(path: &ExprPath) -> TokenStream {
        let hooks = Ident::new("__hooks", Span::mixed_site());
        // With its type given, a function of another type is an error at the user's path.
        quote! {
            {
                let #hooks: fn() -> ::tokio_statemap::Hooks = #path;
                #hooks()
            }
        }
    }
}

/// The literal that one of `values` is to be chosen with.
fn choice<'a>(value: &'a Expr, key: &str, values: &str) -> syn::Result<&'a Lit> {
    literal::of(value)
        .map_err(|_| syn::Error::new_spanned(value, format!("`{key}` takes {values}.")))
}

fn path_of(value: &Expr, key: &str, ty: &str) -> syn::Result<ExprPath> {
    match value {
        Expr::Path(path) => Ok(path.clone()),
        other => Err(syn::Error::new_spanned(
            other,
            format!("Failed to parse value of `{key}` as path: expected the path of a `{ty}`."),
        )),
    }
}

/// A variant of an enum of the library's.
fn variant(ty: &str, variant: &str) -> TokenStream {
    let [ty, variant] = [ty, variant].map(|name| Ident::new(name, Span::call_site()));
    quote! { ::tokio_statemap::__private::#ty::#variant }
}
