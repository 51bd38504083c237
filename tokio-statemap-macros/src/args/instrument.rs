//! The arguments of `#[tokio_statemap::instrument]`.

use proc_macro2::TokenStream;
use syn::{Expr, Lit, LitStr, Meta};

use super::fields::Fields;
use super::keys::{Value, set_once, ungrouped};
use super::{Args, literal};

/// The checked arguments.
#[derive(Default)]
pub(crate) struct InstrumentArgs {
    /// The name to show in place of the function's path.
    pub(crate) name: Option<LitStr>,
    /// The arguments to show for a call.
    pub(crate) fields: Option<Fields>,
}

/// The names of the keys.
const NAMES: [&str; 2] = ["name", "fields"];

impl InstrumentArgs {
    /// Reads and checks each key.
    pub(crate) fn read(args: TokenStream) -> syn::Result<Self> {
        let mut read = Self::default();
        for meta in Args::split(args)? {
            let key = super::key(meta.path(), meta.path())?;
            if !NAMES.contains(&&*key) {
                return Err(syn::Error::new_spanned(&meta, super::unknown(&key, NAMES)));
            }
            let Meta::NameValue(pair) = &meta else {
                return Err(syn::Error::new_spanned(&meta, no_value(&key)));
            };
            let value = ungrouped(&pair.value);
            if key == "name" {
                set_once(&mut read.name, &key, value, || GivenName::read(value, &key))?;
            } else {
                set_once(&mut read.fields, &key, value, || Fields::read(value, &key))?;
            }
        }
        Ok(read)
    }
}

fn no_value(key: &str) -> String {
    let example = if key == "name" { "load an order" } else { "id={id}" };
    format!("`{key}` takes a string: `{key} = \"{example}\"`.")
}

/// A name that isn't empty.
struct GivenName;

impl Value for GivenName {
    type Read = LitStr;

    fn read(value: &Expr, key: &str) -> syn::Result<LitStr> {
        match literal::expect(value)? {
            Lit::Str(name) if name.value().trim().is_empty() => {
                Err(syn::Error::new(name.span(), format!("`{key}` may not be empty.")))
            }
            Lit::Str(name) => Ok(name.clone()),
            lit => Err(literal::not_a_string(lit, key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn error(args: TokenStream) -> String {
        InstrumentArgs::read(args).err().expect("the arguments are wrong").to_string()
    }

    #[test]
    fn both_are_optional() {
        let none = InstrumentArgs::read(quote!()).unwrap();
        assert!(none.name.is_none() && none.fields.is_none());
        let both = InstrumentArgs::read(quote!(fields = "{a}", name = "n",)).unwrap();
        assert_eq!(both.name.unwrap().value(), "n");
        assert_eq!(both.fields.unwrap().text.value(), "{a}");
    }

    #[test]
    fn a_value_of_a_macro_is_taken() {
        let mut value = proc_macro2::Group::new(proc_macro2::Delimiter::None, quote!("n"));
        value.set_span(proc_macro2::Span::call_site());
        assert!(InstrumentArgs::read(quote!(name = #value)).unwrap().name.is_some());
    }

    #[test]
    fn misuse_is_named() {
        for (args, message) in [
            (
                quote!(level = "info"),
                "Unknown attribute level is specified; expected one of: `name`, `fields`.",
            ),
            (quote!(skip_all), "Unknown attribute skip_all"),
            (quote!(skip(a)), "Unknown attribute skip"),
            (quote!(a::b = 1), "Must have specified ident"),
            (quote!(name), "`name` takes a string"),
            (quote!(fields(id)), "`fields` takes a string: `fields = \"id={id}\"`."),
            (quote!(name = "a", name = "b"), "`name` set multiple times."),
            (quote!(fields = "", fields = ""), "`fields` set multiple times."),
            (quote!(name = 1), "Failed to parse value of `name` as string."),
            (quote!(fields = 1), "Failed to parse value of `fields` as string."),
            (quote!(name = f()), "Must be a literal"),
            (quote!(name = ""), "`name` may not be empty."),
            (quote!(fields = "{}"), "doesn't name an argument"),
        ] {
            let found = error(args);
            assert!(found.contains(message), "{found}");
        }
    }
}
