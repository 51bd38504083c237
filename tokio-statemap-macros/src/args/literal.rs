//! Values that are literals. The messages are those of `#[tokio::main]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, Path};

use super::keys::{Setting, Value};

/// The literal that `value` is.
pub(super) fn of(value: &Expr) -> syn::Result<&Lit> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => Ok(lit),
        other => Err(syn::Error::new_spanned(other, "Must be a literal")),
    }
}

/// An error at the whole literal.
pub(super) fn error(lit: &Lit, msg: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(span(lit), msg)
}

pub(super) fn span(lit: &Lit) -> Span {
    Spanned::span(lit)
}

pub(super) fn string(lit: &Lit, key: &str) -> syn::Result<String> {
    match lit {
        Lit::Str(str) => Ok(str.value()),
        // A literal that `syn` doesn't know: the message about the value shows it as it is written.
        Lit::Verbatim(tokens) => Ok(tokens.to_string()),
        _ => Err(not_a_string(lit, key)),
    }
}

pub(super) fn not_a_string(lit: &Lit, key: &str) -> syn::Error {
    error(lit, format!("Failed to parse value of `{key}` as string."))
}

/// An integer that is at least 1.
pub(crate) struct PositiveInteger;

impl Value for PositiveInteger {
    type Read = usize;

    fn read(value: &Expr, key: &str) -> syn::Result<usize> {
        let lit = of(value)?;
        let msg = format!("Failed to parse value of `{key}` as integer");
        let Lit::Int(int) = lit else { return Err(error(lit, format!("{msg}."))) };
        match int.base10_parse() {
            Ok(0) => Err(error(lit, format!("`{key}` may not be 0."))),
            Ok(int) => Ok(int),
            Err(err) => Err(error(lit, format!("{msg}: {err}"))),
        }
    }
}

impl Setting for PositiveInteger {
    fn tokens(value: &usize) -> TokenStream {
        quote! { #value }
    }
}

/// `true` or `false`.
pub(crate) struct Bool;

impl Value for Bool {
    type Read = bool;

    fn read(value: &Expr, key: &str) -> syn::Result<bool> {
        match of(value)? {
            Lit::Bool(bool) => Ok(bool.value),
            lit => Err(error(lit, format!("Failed to parse value of `{key}` as bool."))),
        }
    }
}

impl Setting for Bool {
    fn tokens(value: &bool) -> TokenStream {
        quote! { #value }
    }
}

/// Any string.
pub(crate) struct Text;

impl Value for Text {
    type Read = String;

    fn read(value: &Expr, key: &str) -> syn::Result<String> {
        string(of(value)?, key)
    }
}

/// A path in a string.
pub(crate) struct CratePath;

impl Value for CratePath {
    type Read = Path;

    fn read(value: &Expr, key: &str) -> syn::Result<Path> {
        let msg = format!("Failed to parse value of `{key}` as path");
        match of(value)? {
            lit @ Lit::Str(str) => {
                str.parse().map_err(|_| error(lit, format!("{msg}: \"{}\"", str.value())))
            }
            lit => Err(error(lit, format!("{msg}."))),
        }
    }
}
