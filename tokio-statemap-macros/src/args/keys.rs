//! What the rows of the [table](super::table) become.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Expr;

/// A type of value: how it is read.
pub(crate) trait Value {
    /// What it is read as.
    type Read;

    /// The value, checked; the messages name the `key`.
    fn read(value: &Expr, key: &str) -> syn::Result<Self::Read>;
}

/// A type of value that a field of `Settings` is given.
pub(crate) trait Setting: Value {
    /// The field's value.
    fn tokens(read: &Self::Read) -> TokenStream;
}

/// Declares the keys, one row each: see [`super::table`].
macro_rules! keys {
    (
        tokio $Tokio:ident:
        $($tokio_key:literal $tokio_field:ident: $TokioValue:ty,
            $tokio_value:literal, $tokio_meaning:literal, $tokio_default:literal;)+

        own $Own:ident:
        $($key:literal $field:ident: $Value:ty $(=> $setting:ident $(. $output:ident)?)?
            $([needs $feature:literal])?,
            $value:literal, $meaning:literal, $default:literal;)+
    ) => {
        /// Tokio's keys that were given, each with its place, where a later check may point.
        #[derive(Default)]
        pub(crate) struct $Tokio {
            $(pub(super) $tokio_field: Option<(
                <$TokioValue as super::keys::Value>::Read,
                proc_macro2::Span,
            )>,)+
        }

        impl $Tokio {
            /// Their names.
            pub(crate) const NAMES: &'static [&'static str] = &[$($tokio_key),+];

            /// Reads the value of `key`; `None` if there is no such key.
            pub(super) fn set(&mut self, key: &str, value: &syn::Expr) -> Option<syn::Result<()>> {
                Some(match key {
                    $($tokio_key => super::keys::set_once_at::<$TokioValue>(
                        &mut self.$tokio_field, key, value,
                    ),)+
                    _ => return None,
                })
            }
        }

        /// The keys of this crate that were given; what is `None` keeps its default.
        #[derive(Default)]
        pub(crate) struct $Own {
            $(pub(crate) $field: Option<<$Value as super::keys::Value>::Read>,)+
        }

        impl $Own {
            /// Their names.
            pub(crate) const NAMES: &'static [&'static str] = &[$($key),+];

            /// Reads the value of `key`; `None` if there is no such key.
            pub(super) fn set(&mut self, key: &str, value: &syn::Expr) -> Option<syn::Result<()>> {
                let value = super::keys::ungrouped(value);
                Some(match key {
                    $($key => super::keys::set_once(&mut self.$field, key, value, || {
                        <$Value as super::keys::Value>::read(value, key)
                    }),)+
                    _ => return None,
                })
            }

            /// The feature of the library that `key` needs.
            pub(super) fn feature(key: &str) -> Option<&'static str> {
                match key {
                    $($($key => Some($feature),)?)+
                    _ => None,
                }
            }

            /// The fields of `Settings` that are given.
            pub(crate) fn settings(&self) -> proc_macro2::TokenStream {
                let mut settings = super::keys::Settings::default();
                $($(if let Some(read) = &self.$field {
                    let value = <$Value as super::keys::Setting>::tokens(read);
                    settings.add(&[stringify!($setting), $(stringify!($output))?], &value);
                })?)+
                settings.fields()
            }
        }

        /// The table of the docs.
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

/// Fills the slot of a key, which may be given once.
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

/// The same for one of Tokio's keys, which all are literals.
pub(super) fn set_once_at<V: Value>(
    slot: &mut Option<(V::Read, Span)>,
    key: &str,
    value: &Expr,
) -> syn::Result<()> {
    let lit = super::literal::of(value)?;
    set_once(slot, key, lit, || Ok((V::read(value, key)?, super::literal::span(lit))))
}

/// A `$x:expr` of a `macro_rules!` arrives in a group without delimiters.
pub(super) fn ungrouped(value: &Expr) -> &Expr {
    match value {
        Expr::Group(group) => ungrouped(&group.expr),
        _ => value,
    }
}

/// Collects the fields of `Settings` that are given.
#[derive(Default)]
pub(super) struct Settings {
    fields: TokenStream,
    /// Those of `Settings::outputs`.
    outputs: TokenStream,
}

impl Settings {
    /// Adds a field by its path: `["trace"]`, `["outputs", "html"]`.
    pub(super) fn add(&mut self, path: &[&str], value: &TokenStream) {
        match path {
            ["outputs", output] => self.outputs.extend(field(output, value)),
            [setting] => self.fields.extend(field(setting, value)),
            _ => unreachable!("a row of the table has a field of `Settings` or of its `outputs`"),
        }
    }

    pub(super) fn fields(self) -> TokenStream {
        let Self { fields, outputs } = self;
        if outputs.is_empty() {
            return fields;
        }
        let paths = quote! { ::tokio_statemap::__private::OutputPaths };
        let outputs = quote! { #paths { #outputs ..#paths::default() } };
        let outputs = field("outputs", &outputs);
        quote! { #outputs #fields }
    }
}

/// A field of a struct.
pub(crate) fn field(name: &str, value: &TokenStream) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote! { #name: #value, }
}
