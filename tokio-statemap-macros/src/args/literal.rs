//! Values that are literals. The messages are those of `#[tokio::main]`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, Path};

use super::keys::{Value, literal_settings};

/// Returns `value` if it is a literal.
pub(super) fn expect(value: &Expr) -> syn::Result<&Lit> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => Ok(lit),
        other => Err(syn::Error::new_spanned(other, "Must be a literal")),
    }
}

/// Creates an error that points at the whole literal.
pub(super) fn error(lit: &Lit, msg: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(span(lit), msg)
}

pub(super) fn span(lit: &Lit) -> Span {
    Spanned::span(lit)
}

pub(super) fn string(lit: &Lit, key: &str) -> syn::Result<String> {
    match lit {
        Lit::Str(str) => Ok(str.value()),
        // For a literal unknown to `syn`, the message about the value shows it as written.
        Lit::Verbatim(tokens) => Ok(tokens.to_string()),
        _ => Err(not_a_string(lit, key)),
    }
}

pub(super) fn not_a_string(lit: &Lit, key: &str) -> syn::Error {
    error(lit, format!("Failed to parse value of `{key}` as string."))
}

literal_settings!(PositiveInteger, Bool);

/// An integer that is at least 1.
pub(crate) struct PositiveInteger;

impl Value for PositiveInteger {
    type Read = usize;

    fn read(value: &Expr, key: &str) -> syn::Result<usize> {
        let lit = expect(value)?;
        let msg = format!("Failed to parse value of `{key}` as integer");
        let Lit::Int(int) = lit else { return Err(error(lit, format!("{msg}."))) };
        match int.base10_parse() {
            Ok(0) => Err(error(lit, format!("`{key}` may not be 0."))),
            Ok(int) => Ok(int),
            Err(err) => Err(error(lit, format!("{msg}: {err}"))),
        }
    }
}

/// `true` or `false`.
pub(crate) struct Bool;

impl Value for Bool {
    type Read = bool;

    fn read(value: &Expr, key: &str) -> syn::Result<bool> {
        match expect(value)? {
            Lit::Bool(bool) => Ok(bool.value),
            lit => Err(error(lit, format!("Failed to parse value of `{key}` as bool."))),
        }
    }
}

/// Any string.
pub(crate) struct Text;

impl Value for Text {
    type Read = String;

    fn read(value: &Expr, key: &str) -> syn::Result<String> {
        string(expect(value)?, key)
    }
}

/// A path in a string.
pub(crate) struct CratePath;

impl Value for CratePath {
    type Read = Path;

    fn read(value: &Expr, key: &str) -> syn::Result<Path> {
        let msg = format!("Failed to parse value of `{key}` as path");
        match expect(value)? {
            lit @ Lit::Str(str) => {
                str.parse().map_err(|_| error(lit, format!("{msg}: \"{}\"", str.value())))
            }
            lit => Err(error(lit, format!("{msg}."))),
        }
    }
}
