//! Turns the rows of the [table](super::table) into code.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Expr;

/// A type of value, which knows how to parse it.
pub(crate) trait Value {
    /// The parsed value.
    type Read;

    /// Parses and checks the value of `key`.
    fn read(value: &Expr, key: &str) -> syn::Result<Self::Read>;
}

/// A type of value that a method of `Recording` takes.
pub(crate) trait Setting: Value {
    /// Returns the argument; `None` if the value changes nothing that is recorded.
    fn tokens(read: &Self::Read) -> Option<TokenStream>;
}

/// Declares the keys, one row each; see [`super::table`].
macro_rules! keys {
    (
        tokio $Tokio:ident:
        $($tokio_key:literal $tokio_field:ident: $TokioValue:ty,
            $tokio_value:literal, $tokio_meaning:literal, $tokio_default:literal;)+

        own $Own:ident:
        $($key:literal $field:ident: $Value:ty $([needs $feature:literal])?,
            $value:literal, $meaning:literal, $default:literal;)+
    ) => {
        /// The Tokio keys that were given, each with its span, so that later checks can point at
        /// it.
        #[derive(Default)]
        pub(crate) struct $Tokio {
            $(pub(super) $tokio_field: Option<(
                <$TokioValue as super::keys::Value>::Read,
                proc_macro2::Span,
            )>,)+
        }

        impl $Tokio {
            /// The names of the keys.
            pub(crate) const NAMES: &'static [&'static str] = &[$($tokio_key),+];

            /// Parses the value of `key`; `None` if there is no such key.
            pub(super) fn set(&mut self, key: &str, value: &syn::Expr) -> Option<syn::Result<()>> {
                Some(match key {
                    $($tokio_key => super::keys::set_once_at::<$TokioValue>(
                        &mut self.$tokio_field, key, value,
                    ),)+
                    _ => return None,
                })
            }
        }

        /// The keys of this crate that were given. `None` keeps the default.
        #[derive(Default)]
        pub(crate) struct $Own {
            $(pub(crate) $field: Option<<$Value as super::keys::Value>::Read>,)+
        }

        impl $Own {
            /// The names of the keys.
            pub(crate) const NAMES: &'static [&'static str] = &[$($key),+];

            /// Parses the value of `key`; `None` if there is no such key.
            pub(super) fn set(&mut self, key: &str, value: &syn::Expr) -> Option<syn::Result<()>> {
                let value = super::keys::ungrouped(value);
                Some(match key {
                    $($key => super::keys::set_once(&mut self.$field, key, value, || {
                        <$Value as super::keys::Value>::read(value, key)
                    }),)+
                    _ => return None,
                })
            }

            /// Returns the feature of the library that `key` requires.
            pub(super) fn feature(key: &str) -> Option<&'static str> {
                match key {
                    $($($key => Some($feature),)?)+
                    _ => None,
                }
            }

            /// Returns a call of a method of `Recording` for each given key, to append to an expression.
            pub(crate) fn calls(&self) -> proc_macro2::TokenStream {
                let mut calls = proc_macro2::TokenStream::new();
                $(if let Some(read) = &self.$field {
                    if let Some(argument) = <$Value as super::keys::Setting>::tokens(read) {
                        calls.extend(super::keys::call($key, &argument));
                    }
                })+
                calls
            }
        }

        /// The table for the documentation.
        macro_rules! docs_table {
            () => {
                concat!(
                    "| key | value | meaning | default |\n",
                    "| --- | --- | --- | --- |\n",
                    $("| `", $tokio_key, "` | ", $tokio_value, " | ", $tokio_meaning, " | ",
                        $tokio_default, " |\n",)+
                    $("| `", $key, "` | ", $value, " | ", $meaning, " | ", $default, " |\n",)+
                )
            };
        }
    };
}

pub(super) use keys;

/// Implements `Setting` for types of values that stand for themselves.
macro_rules! literal_settings {
    ($($Value:ty),+) => {$(
        impl super::keys::Setting for $Value {
            fn tokens(read: &Self::Read) -> Option<proc_macro2::TokenStream> {
                Some(quote::quote! { #read })
            }
        }
    )+};
}

pub(super) use literal_settings;

/// Fills the slot of a key, which may be given only once.
pub(super) fn set_once<T>(
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

/// Like [`set_once`], for a key of Tokio, which must be a literal.
pub(super) fn set_once_at<V: Value>(
    slot: &mut Option<(V::Read, Span)>,
    key: &str,
    value: &Expr,
) -> syn::Result<()> {
    let lit = super::literal::expect(value)?;
    set_once(slot, key, lit, || Ok((V::read(value, key)?, super::literal::span(lit))))
}

/// A `$x:expr` of a `macro_rules!` arrives in a group without delimiters.
pub(super) fn ungrouped(value: &Expr) -> &Expr {
    match value {
        Expr::Group(group) => ungrouped(&group.expr),
        _ => value,
    }
}

/// Returns the call of a method, to append to an expression.
pub(crate) fn call(name: &str, argument: &TokenStream) -> TokenStream {
    let name = Ident::new(name, Span::mixed_site());
    quote! { .#name(#argument) }
}
