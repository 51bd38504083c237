//! The types of values that only this crate's keys have.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprPath, Lit};

use super::keys::{Setting, Value, literal_settings};
use super::{dumps, duration, literal};

literal_settings!(BufferCapacity, Signal, DumpOn, DumpLimit);

/// Any expression that is `Into<PathBuf>`.
pub(crate) struct PathExpr;

impl Value for PathExpr {
    type Read = Expr;

    fn read(value: &Expr, _: &str) -> syn::Result<Expr> {
        Ok(value.clone())
    }
}

impl Setting for PathExpr {
    /// An error about a type that is no path points at the expression.
    fn tokens(expr: &Expr) -> Option<TokenStream> {
        let span = Span::mixed_site().located_at(expr.span());
        let into = quote_spanned! {span=>
            ::core::convert::Into::<::std::path::PathBuf>::into
        };
        Some(quote! { #into(#expr) })
    }
}

/// The place of the black box: any expression that is `Into<BlackBox>`.
pub(crate) struct BoxPlace;

impl Value for BoxPlace {
    type Read = Expr;

    fn read(value: &Expr, _: &str) -> syn::Result<Expr> {
        Ok(value.clone())
    }
}

impl Setting for BoxPlace {
    fn tokens(expr: &Expr) -> Option<TokenStream> {
        Some(quote! { #expr })
    }
}

/// The destination of the report.
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
                    "Use `stderr` without quotes to print the report, or a path such as \"./stderr\" to write \
                     a file.",
                ))
            }
            _ => Ok(Self::Path(Box::new(value.clone()))),
        }
    }
}

impl Setting for ReportPath {
    /// Returns `None` if the report is printed: that is the method's default.
    fn tokens(report: &Self) -> Option<TokenStream> {
        match report {
            Self::Stderr => None,
            Self::Path(expr) => PathExpr::tokens(expr),
        }
    }
}

/// A number of events. It has a limit, as a buffer of this size is allocated at once: only a mistake exceeds it.
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
            return Err(literal::error(literal::expect(value)?, msg));
        }
        Ok(capacity)
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
    fn tokens(ns: &u64) -> Option<TokenStream> {
        Some(quote! { ::core::time::Duration::from_nanos(#ns) })
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
    fn tokens(ns: &u64) -> Option<TokenStream> {
        Nanos::tokens(ns)
    }
}

/// A variant of `TraceTarget`.
pub(crate) struct Trace;

impl Value for Trace {
    type Read = &'static str;

    fn read(value: &Expr, key: &str) -> syn::Result<&'static str> {
        let variants =
            [("tasks", "Tasks"), ("workers", "Workers"), ("both", "Both"), ("none", "None")];
        choice(value, key, &variants)
    }
}

impl Setting for Trace {
    fn tokens(name: &&'static str) -> Option<TokenStream> {
        Some(variant("TraceTarget", name))
    }
}

/// A variant of `Keep`.
pub(crate) struct Keep;

impl Value for Keep {
    type Read = &'static str;

    fn read(value: &Expr, key: &str) -> syn::Result<&'static str> {
        choice(value, key, &[("first", "First"), ("last", "Last")])
    }
}

impl Setting for Keep {
    fn tokens(name: &&'static str) -> Option<TokenStream> {
        Some(variant("Keep", name))
    }
}

/// The name of a signal that a program can spare. The library checks if the platform has it.
pub(crate) struct Signal;

impl Value for Signal {
    type Read = &'static str;

    fn read(value: &Expr, key: &str) -> syn::Result<&'static str> {
        let names = ["SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGIO"];
        choice(value, key, &names.map(|name| (name, name)))
    }
}

/// Events with commas between them, on which a page is written. The library reads the string, too.
pub(crate) struct DumpOn;

impl Value for DumpOn {
    type Read = String;

    fn read(value: &Expr, key: &str) -> syn::Result<String> {
        checked(value, key, &|text| dumps::triggers(text).map(drop))
    }
}

/// The limits of such pages, with commas between them.
pub(crate) struct DumpLimit;

impl Value for DumpLimit {
    type Read = String;

    fn read(value: &Expr, key: &str) -> syn::Result<String> {
        checked(value, key, &|text| dumps::limits(text).map(drop))
    }
}

/// Returns the string `value`, if `check` finds nothing wrong.
fn checked(
    value: &Expr,
    key: &str,
    check: &dyn Fn(&str) -> Result<(), String>,
) -> syn::Result<String> {
    let lit = literal::expect(value)?;
    let Lit::Str(text) = lit else { return Err(literal::not_a_string(lit, key)) };
    let text = text.value();
    match check(&text) {
        Ok(()) => Ok(text),
        Err(reason) => Err(literal::error(lit, format!("`{key}` is invalid: {reason}."))),
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

impl Setting for Configure {
    /// Returns `None`, as no method of `Recording` takes the function: the expansion calls it.
    fn tokens(_: &ExprPath) -> Option<TokenStream> {
        None
    }
}

/// The path of a function that creates the program's own hooks.
pub(crate) struct UserHooks;

impl Value for UserHooks {
    type Read = ExprPath;

    fn read(value: &Expr, key: &str) -> syn::Result<ExprPath> {
        path_of(value, key, "fn() -> tokio_statemap::Hooks")
    }
}

impl Setting for UserHooks {
    fn tokens(path: &ExprPath) -> Option<TokenStream> {
        Some(Self::call(path))
    }
}

impl UserHooks {
    /// Returns a call of the function.
    pub(crate) fn call(path: &ExprPath) -> TokenStream {
        let hooks = Ident::new("__hooks", Span::mixed_site());
        // The explicit type makes an error about another type point at the user's path.
        quote! {
            {
                let #hooks: fn() -> ::tokio_statemap::Hooks = #path;
                #hooks()
            }
        }
    }
}

/// Returns the value of the choice that the string `value` names.
fn choice(value: &Expr, key: &str, choices: &[(&str, &'static str)]) -> syn::Result<&'static str> {
    let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let (last, others) = names.split_last().expect("there are choices");
    let expected = format!("{} or {last}", others.join(", "));
    let lit = literal::expect(value)
        .map_err(|_| syn::Error::new_spanned(value, format!("`{key}` takes {expected}.")))?;
    let given = literal::string(lit, key)?;
    let found = choices.iter().find(|(name, _)| *name == given);
    found.map(|&(_, value)| value).ok_or_else(|| {
        literal::error(lit, format!("Unknown value `{given}` of `{key}`; expected {expected}."))
    })
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

/// Returns a variant of an enum of the library.
fn variant(ty: &str, variant: &str) -> TokenStream {
    let [ty, variant] = [ty, variant].map(|name| Ident::new(name, Span::call_site()));
    quote! { ::tokio_statemap::#ty::#variant }
}
