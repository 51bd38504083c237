//! Values that are literals. The messages are those of `#[tokio::main]`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Lit, Path};

/// An error at the whole literal.
pub(super) fn error(lit: &Lit, msg: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(span(lit), msg)
}

pub(super) fn span(lit: &Lit) -> Span {
    Spanned::span(lit)
}

pub(super) fn int(lit: &Lit, key: &str) -> syn::Result<usize> {
    let msg = format!("Failed to parse value of `{key}` as integer");
    match lit {
        Lit::Int(int) => int.base10_parse().map_err(|err| error(lit, format!("{msg}: {err}"))),
        _ => Err(error(lit, format!("{msg}."))),
    }
}

/// An integer that is at least 1.
pub(super) fn positive(lit: &Lit, key: &str) -> syn::Result<usize> {
    match int(lit, key)? {
        0 => Err(error(lit, format!("`{key}` may not be 0."))),
        int => Ok(int),
    }
}

pub(super) fn string(lit: &Lit, key: &str) -> syn::Result<String> {
    match lit {
        Lit::Str(str) => Ok(str.value()),
        // Literals that `syn` doesn't know: what will be said of the value then says which it was.
        Lit::Verbatim(tokens) => Ok(tokens.to_string()),
        _ => Err(error(lit, format!("Failed to parse value of `{key}` as string."))),
    }
}

pub(super) fn bool(lit: &Lit, key: &str) -> syn::Result<bool> {
    match lit {
        Lit::Bool(bool) => Ok(bool.value),
        _ => Err(error(lit, format!("Failed to parse value of `{key}` as bool."))),
    }
}

/// A path in a string literal.
pub(super) fn path(lit: &Lit, key: &str) -> syn::Result<Path> {
    let msg = format!("Failed to parse value of `{key}` as path");
    match lit {
        Lit::Str(str) => str.parse().map_err(|_| error(lit, format!("{msg}: \"{}\"", str.value()))),
        _ => Err(error(lit, format!("{msg}."))),
    }
}
